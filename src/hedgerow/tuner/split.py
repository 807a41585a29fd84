"""Mode III: how to split a budget between the count and the sums, for sizes that are guessed."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from hedgerow.accuracy.noise_error import reach, unit_epsilon
from hedgerow.arguments import Floats, Mechanism, positives, probabilities, reals
from hedgerow.errors import ParameterError
from hedgerow.tuner.parameters import Ask, ask
from hedgerow.tuner.sizes import ROUNDING, epsilon_sums


def split_budget(
    sizes: ArrayLike,
    epsilons: ArrayLike,
    *,
    beta: float,
    lower: ArrayLike,
    upper: ArrayLike,
    gamma: float = 0.1,
    delta: float = 0.0,
    mechanism: Mechanism = "laplace",
) -> pa.Table:
    """Return the least split that predicts the error, for each size and each budget (Russo et al. 2025, mode III).

    The count gets the least that makes it precise enough at that size, each sum what Proposition 3.5 then asks for. A
    row is feasible if all of it together is within the budget, and is provably private (the classic Gaussian mechanism
    needs every epsilon below 1).

    Args:
        sizes: Guesses of the number of rows.
        epsilons: The most that the whole may cost.
        beta: How often the predicted error may be exceeded; shared out evenly over the count and the sums.
        lower: The least value of a row; a pair for a quotient of two sums.
        upper: The greatest, likewise.
        gamma: How large the noise may be, relative to what it is added to.
        delta: That of the whole, shared out evenly; 0 for Laplace noise.
        mechanism: `laplace`, `gaussian` or `analytic`.

    Returns:
        A table with `epsilon_max`, `size`, `epsilon_count`, `epsilon_sum` (lists of two for a quotient),
        `epsilon_total` and `feasible`, one row for each pair of a budget and a size.

    Example:
        >>> table = split_budget([10_000, 100_000], [0.041], beta=0.05, lower=1, upper=10)
        >>> [f"{total:.2e}" for total in table["epsilon_total"].to_pylist()], table["feasible"].to_pylist()
        (['5.37e-02', '5.37e-03'], [False, True])
    """
    asked = ask(lower, upper, gamma, mechanism)
    if any(ends.ndim for ends in (*asked.lowers, *asked.uppers, asked.gamma)):
        raise ParameterError(
            "A split has one range and one gamma; its grid is sizes by budgets.", code="parameter-number"
        )
    most, rows = np.meshgrid(_listed("epsilons", epsilons), _listed("sizes", sizes), indexing="ij")
    share = _delta(delta, asked)
    for_count = _count(rows.ravel(), asked, probabilities("beta", beta) / asked.parts, share)
    for_sums = epsilon_sums(asked, for_count, share)
    total = for_count + sum(for_sums)
    provable = mechanism != "gaussian" or np.all([epsilon < 1 for epsilon in (for_count, *for_sums)], axis=0)
    return pa.table(
        {
            "epsilon_max": most.ravel(),
            "size": rows.ravel(),
            "epsilon_count": for_count,
            "epsilon_sum": _sums(for_sums),
            "epsilon_total": total,
            "feasible": (total <= most.ravel()) & provable,
        }
    )


def _count(rows: Floats, asked: Ask, beta: Floats, delta: Floats) -> Floats:
    """The least epsilon with which a count of so many rows is precise enough (Proposition 3.2)."""
    noise = rows * asked.gamma / (1 + asked.gamma) / reach(asked.mechanism, beta)
    return unit_epsilon(asked.mechanism, noise * (1 - ROUNDING), delta)


def _delta(delta: float, asked: Ask) -> Floats:
    """The delta of each release."""
    if asked.mechanism == "laplace":
        if np.any(whole := reals("delta", delta)):
            raise ParameterError("Laplace noise has no delta, so delta must be 0.", code="parameter-delta")
        return whole
    return probabilities("delta", delta) / asked.parts


def _sums(epsilons: Sequence[Floats]) -> Floats | pa.Array:
    if len(epsilons) == 1:
        return epsilons[0]
    return pa.FixedSizeListArray.from_arrays(np.stack(epsilons, axis=1).ravel(), 2)


def _listed(name: str, values: ArrayLike) -> Floats:
    listed = np.atleast_1d(positives(name, values))
    if listed.ndim > 1 or not listed.size:
        raise ParameterError(f"{name} must be a list of numbers.", code="parameter-number")
    return listed
