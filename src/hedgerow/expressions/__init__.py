"""Expressions over the columns of one row: nodes, types, ranges, and the table of allowed functions."""
