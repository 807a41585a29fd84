"""Regular expressions: RE2's syntax is parsed once, into a tree, and each dialect writes the tree for its engine.

`read` parses a pattern that the binder has already compiled with RE2. A pattern that is not certain to mean the same on
every engine is refused before anything is charged.

    tree.py           nodes, sets of code points, and the reader of RE2's syntax
    backtracking.py   writer for Java and PCRE (Spark, MariaDB), in bounded time
    deterministic.py  test for patterns that can match in one way only (PostgreSQL)
"""

from hedgerow.dialects.regex.tree import UnsupportedPatternError, read

__all__ = ["UnsupportedPatternError", "read"]
