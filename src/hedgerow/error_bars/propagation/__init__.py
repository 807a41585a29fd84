"""Propagation of noise from released numbers to the error bars of the numbers shown."""

from hedgerow.error_bars.propagation.forms import Releases
from hedgerow.error_bars.propagation.missing import explain_missing, missing_behind
from hedgerow.error_bars.propagation.propagate import Propagation, row_bounds, row_values
from hedgerow.error_bars.propagation.simulation import Simulation
from hedgerow.error_bars.provenance.origins import Frame

__all__ = [
    "Frame",
    "Propagation",
    "Releases",
    "Simulation",
    "explain_missing",
    "missing_behind",
    "row_bounds",
    "row_values",
]
