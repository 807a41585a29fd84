"""Provenance of the numbers of an answer: the released numbers that each depends on, and how."""

from hedgerow.error_bars.provenance.columns import SingleRow, deciding, is_noisy, noisy_columns, picks_rows, single_row
from hedgerow.error_bars.provenance.origins import Origin
from hedgerow.error_bars.provenance.rewriting import with_provenance

__all__ = [
    "Origin",
    "SingleRow",
    "deciding",
    "is_noisy",
    "noisy_columns",
    "picks_rows",
    "single_row",
    "with_provenance",
]
