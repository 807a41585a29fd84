"""Private plan to SQL text that can only return keys and integers; the after part to SQL over released numbers."""

from hedgerow.compile.after import After, after, public_tables
from hedgerow.compile.program import program
from hedgerow.compile.queries import query_text

__all__ = ["After", "after", "program", "public_tables", "query_text"]
