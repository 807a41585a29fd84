"""From the noise of released numbers to the error bars of those that are shown."""

from hedgerow.error_bars.propagation.frame import Frame
from hedgerow.error_bars.propagation.missing_numbers import Reasons, explain_missing
from hedgerow.error_bars.propagation.propagate import Follower
from hedgerow.error_bars.propagation.simulation import Simulation
from hedgerow.error_bars.propagation.spread import bounds_of, values_of

__all__ = ["Follower", "Frame", "Reasons", "Simulation", "bounds_of", "explain_missing", "values_of"]
