"""How wrong noisy numbers may be: formulas to use on their own, without data or database."""

from hedgerow.accuracy.query_budget import mean_bound, variance_bound

__all__ = ["mean_bound", "variance_bound"]
