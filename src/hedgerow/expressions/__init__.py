"""Row expressions: what may be computed from the columns of one row."""
