"""Text to syntax: the parser, placeholders, the differential-privacy clause, positions and hints for errors."""
