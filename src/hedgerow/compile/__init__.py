"""Private plan to SQL text that can only return keys and integers; the post-processing to SQL over released numbers."""

from hedgerow.compile.postprocessing import (
    Postprocess,
    at_most,
    columns_used,
    draws_text,
    postprocess,
    public_tables,
    quantiles_text,
)
from hedgerow.compile.programs import program
from hedgerow.compile.queries import query_text

__all__ = [
    "Postprocess",
    "at_most",
    "columns_used",
    "draws_text",
    "postprocess",
    "program",
    "public_tables",
    "quantiles_text",
    "query_text",
]
