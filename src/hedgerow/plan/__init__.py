"""Binding: names resolved, ownership proved, everything outside the subset refused."""
