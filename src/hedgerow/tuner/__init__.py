"""Privacy parameters that a prediction of accuracy needs: the modes of Russo et al. (2025), and advice. No data."""

from hedgerow.tuner.advice import Advice, advise
from hedgerow.tuner.regions import applicability
from hedgerow.tuner.sizes import known_size, unknown_size
from hedgerow.tuner.split import split_budget
from hedgerow.tuner.tuning import Tuning

__all__ = ["Advice", "Tuning", "advise", "applicability", "known_size", "split_budget", "unknown_size"]
