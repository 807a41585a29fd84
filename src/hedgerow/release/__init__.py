"""The only package in which exact values meet noise; it returns noisy numbers."""

from hedgerow.noise import nonce
from hedgerow.release.coarser import coarser_table, table_rows
from hedgerow.release.estimate import Estimator, Population
from hedgerow.release.hypothetical import carried, extreme, typical
from hedgerow.release.key_selection import SelectedKeys, covers_every_key, select_keys
from hedgerow.release.lattice import with_totals
from hedgerow.release.marginals import measure_together
from hedgerow.release.noisy_table import NoisyTable, count_values, measure
from hedgerow.release.postprocess_engine import PostprocessEngine
from hedgerow.release.ranks import draw_ranks, in_order
from hedgerow.release.stored_release import (
    asks_for_all,
    dump_release,
    known_sizes,
    load_any,
    load_if_sufficient,
    needs_name,
    noisiness,
    parts_of,
)

__all__ = [
    "Estimator",
    "NoisyTable",
    "Population",
    "PostprocessEngine",
    "SelectedKeys",
    "asks_for_all",
    "carried",
    "coarser_table",
    "count_values",
    "covers_every_key",
    "draw_ranks",
    "dump_release",
    "extreme",
    "in_order",
    "known_sizes",
    "load_any",
    "load_if_sufficient",
    "measure",
    "measure_together",
    "needs_name",
    "noisiness",
    "nonce",
    "parts_of",
    "select_keys",
    "table_rows",
    "typical",
    "with_totals",
]
