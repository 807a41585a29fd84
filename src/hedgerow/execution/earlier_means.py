"""Means that earlier releases of the ledger tell, for averages of the same rows, whole or by group."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import pyarrow as pa

from hedgerow.aggregates import NeededSums
from hedgerow.ledger import StoredRelease
from hedgerow.plan.nodes import LogicalPlan, Release
from hedgerow.privacy.known_means import ASSUMED_DISTANCE, needs_means
from hedgerow.privacy.plan import PrivateStatement
from hedgerow.privacy.statement_sums import needed_sums
from hedgerow.release import Estimator, load_any

LEVEL = 0.05


def earlier_means(
    logical: LogicalPlan,
    price: Callable[[LogicalPlan], PrivateStatement],
    earlier: Callable[[PrivateStatement], Sequence[StoredRelease]],
) -> dict[Release, Mapping[NeededSums, float]]:
    """Return the means that are known of the rows of each release that asks for averages alone.

    They come from the latest release of the same averages of the same rows without groups, with the same bounds,
    limits and data version. A mean that is known too roughly is left out.

    Privacy: it reads released numbers, never rows.

    Args:
        logical: The statement.
        price: Prices a plan, to find its releases by.
        earlier: Returns the stored releases about the same rows and keys, the latest first.
    """
    known: dict[Release, Mapping[NeededSums, float]] = {}
    for release in logical.releases:
        if not needs_means(needed_sums(release)):
            continue
        whole = price(LogicalPlan(logical.root, (replace(release, keys=(), domain=None),), logical.names))
        for stored in earlier(whole):
            estimators = None
            with suppress(pa.ArrowException, KeyError, TypeError, ValueError):  # written by another version
                estimators = load_any(stored.payload, whole)
            if estimators is not None:
                known[release] = _means(estimators[0])
                break
    return known


def _means(estimator: Estimator) -> dict[NeededSums, float]:
    """Return the released means whose interval is short beside the range of their values."""
    means = {}
    for index, need in enumerate(needed_sums(estimator.plan.release)):
        estimate, measured = estimator.estimate(index, LEVEL), estimator.measured(index)
        width = float(estimate.upper[0] - estimate.lower[0])
        lower, upper = measured.support
        if width <= ASSUMED_DISTANCE * (upper - lower):
            means[need] = float(estimate.values[0])
    return means
