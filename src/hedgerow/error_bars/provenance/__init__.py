"""Provenance of the numbers of an answer: the released numbers that each depends on, and how."""
