"""The only room where exact values meet noise, and where numbers with error bars come out."""

from hedgerow.noise import nonce
from hedgerow.release.distinct import count_values
from hedgerow.release.estimate import Estimator, Population
from hedgerow.release.imagine import carried, extreme, typical
from hedgerow.release.key_selection import SelectedKeys, covers_every_key, select_keys
from hedgerow.release.memory import (
    asks_for_all,
    known_sizes,
    needs_name,
    noisiness,
    recall,
    recall_any,
    remember,
)
from hedgerow.release.noisy_table import NoisyTable, measure
from hedgerow.release.postprocess_engine import PostprocessEngine
from hedgerow.release.ranks import draw_ranks, in_order

__all__ = [
    "Estimator",
    "NoisyTable",
    "Population",
    "PostprocessEngine",
    "SelectedKeys",
    "asks_for_all",
    "carried",
    "count_values",
    "covers_every_key",
    "draw_ranks",
    "extreme",
    "in_order",
    "known_sizes",
    "measure",
    "needs_name",
    "noisiness",
    "nonce",
    "recall",
    "recall_any",
    "remember",
    "select_keys",
    "typical",
]
