"""Regular expressions: RE2's language is read once, into a tree, and each dialect writes the tree for its engine.

`read` parses a pattern that the binder has tried on RE2 itself. What is not certain to mean the same everywhere is not
read: the pattern is then refused, before anything is charged.

    tree.py           nodes; sets of code points
    reader.py         text of RE2 to a tree
    backtracking.py   tree to text for Java and PCRE (Spark, MariaDB), in bounded time
    deterministic.py  patterns with one way to match a text (PostgreSQL)
"""

from hedgerow.dialects.regex.reader import read
from hedgerow.dialects.regex.tree import UnsupportedPatternError

__all__ = ["UnsupportedPatternError", "read"]
