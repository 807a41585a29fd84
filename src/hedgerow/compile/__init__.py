"""Private plan to SQL text that can only return keys and integers; the after part to SQL over released numbers."""

from hedgerow.compile.program import program
from hedgerow.compile.relations import after, select

__all__ = ["after", "program", "select"]
