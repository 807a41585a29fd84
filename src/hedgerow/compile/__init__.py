"""Private plan to SQL text that can only return keys and integers; the after part to SQL over released numbers."""

from hedgerow.compile.after import After, after, at_most, public_tables
from hedgerow.compile.draws import columns_used, draws_text, quantiles_text
from hedgerow.compile.program import program
from hedgerow.compile.queries import query_text

__all__ = [
    "After",
    "after",
    "at_most",
    "columns_used",
    "draws_text",
    "program",
    "public_tables",
    "quantiles_text",
    "query_text",
]
