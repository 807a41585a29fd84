"""Where the numbers of an answer come from: which released numbers are in each, and how."""

from hedgerow.error_bars.provenance.noisy_columns import Traced, is_noisy, noisy_columns, picks_rows, trace
from hedgerow.error_bars.provenance.origins import Origin
from hedgerow.error_bars.provenance.rewriting import explained

__all__ = ["Origin", "Traced", "explained", "is_noisy", "noisy_columns", "picks_rows", "trace"]
