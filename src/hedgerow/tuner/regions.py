"""Which budgets allow an error to be predicted, as regions of (epsilon of the count, epsilon of the sum)."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from hedgerow.accuracy.noise_error import reach, unit_epsilon
from hedgerow.arguments import MECHANISMS, Floats, Mechanism, budgets, chosen, positives, probabilities
from hedgerow.tuner.parameters import Ask, ask
from hedgerow.tuner.sizes import epsilon_sums

POINTS = 101


def applicability(
    sizes: Sequence[float],
    ranges: Sequence[tuple[float, float]],
    *,
    beta: float,
    gamma: float = 0.1,
    delta: float = 0.0,
    mechanism: Mechanism = "laplace",
    most: tuple[float, float] = (1.0, 10.0),
) -> pa.Table:
    """For each number of rows and each range of values, the lower edge of the region in which the conditions hold.

    A region begins where the count is precise enough with probability 1 - beta (Proposition 3.2), and has above its
    edge every epsilon of the sum that Proposition 3.5 allows (Figures 3 and 4 of Russo et al. 2025).

    Args:
        sizes: Numbers of rows.
        ranges: Least and greatest value of a row.
        beta: That of one noise.
        gamma: How large the noise may be, relative to what it is added to.
        delta: That of one release.
        mechanism: `laplace`, `gaussian` or `analytic`.
        most: The largest epsilon of the count and of the sum that is looked at.

    Returns:
        A table with `size`, `range`, `epsilon_count` and `epsilon_sum`; nothing for a region that is empty.

    Example:
        >>> edge = applicability([100], [(1, 10), (1, 30)], beta=0.025)
        >>> edge["range"].unique().to_pylist(), round(edge["epsilon_count"][0].as_py(), 4)
        (['1 to 10'], 0.4058)
    """
    betas, largest = probabilities("beta", beta), positives("most", most)
    if mechanism == "gaussian":
        largest = np.minimum(largest, np.nextafter(1.0, 0.0))
    _, deltas = budgets("epsilon", 0.5, delta, chosen("mechanism", mechanism, MECHANISMS))
    edges = [
        _edge(float(size), ends, ask(*ends, gamma, mechanism), betas, deltas, largest)
        for size in np.atleast_1d(positives("sizes", sizes))
        for ends in ranges
    ]
    return pa.concat_tables(edges) if edges else _table(0.0, "", np.zeros(0), np.zeros(0))


def _edge(size: float, ends: tuple[float, float], asked: Ask, beta: Floats, delta: Floats, most: Floats) -> pa.Table:
    noise = size * asked.gamma / (1 + asked.gamma) / reach(asked.mechanism, beta)
    first = float(unit_epsilon(asked.mechanism, noise, delta))
    counts = np.linspace(first, _last(asked, first, delta, most), POINTS)
    sums = epsilon_sums(asked, counts, delta)[0]
    if first >= most[0] or sums[0] >= most[1]:
        counts = sums = np.zeros(0)
    return _table(size, f"{ends[0]:g} to {ends[1]:g}", counts, sums)


def _last(asked: Ask, first: float, delta: Floats, most: Floats) -> float:
    """The largest epsilon of the count for which that of the sum is not too large; `first` if there is none."""
    low, high = first, max(first, float(most[0]))
    if epsilon_sums(asked, np.asarray(high), delta)[0] <= most[1]:
        return high
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if epsilon_sums(asked, np.asarray(middle), delta)[0] <= most[1] else (low, middle)
    return low


def _table(size: float, values: str, counts: Floats, sums: Floats) -> pa.Table:
    return pa.table(
        {
            "size": pa.array([size] * len(counts), pa.float64()),
            "range": pa.array([values] * len(counts), pa.string()),
            "epsilon_count": pa.array(counts, pa.float64()),
            "epsilon_sum": pa.array(sums, pa.float64()),
        }
    )
