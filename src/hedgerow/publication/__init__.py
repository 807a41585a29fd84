"""Releases: answers as files with margins of error, a page about them, and a signed certificate."""
