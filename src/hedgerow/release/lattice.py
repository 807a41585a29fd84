"""Sums of values as they are shown: on a binary lattice, so that tables add up to the last bit.

A sum of values is a linear form of noisy sums, with factors in the analyst's units. Its doubles have all kinds of last
bits, so that a total depends on the order in which they are added. Here every cell is rounded to a multiple of one
power of two. It is at most 2^-30 of the noise, or larger, so that the sizes of all cells add up to less than 2^50
multiples: then every sum of cells, in any order, is exact in double precision. Coarser tables are such sums.

A cell moves by half a multiple at most. Error bars stay around the number before it was rounded, so they hold as often
as before. What is shown is stored with the release, so that each later question repeats its digits.

Privacy: post-processing. It reads noisy sums and plans.
"""

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hedgerow.privacy.plan import PrivatePlan, Terms
from hedgerow.release.estimate import Estimator
from hedgerow.release.noisy_table import NoisyTable

Floats = NDArray[np.float64]

FINER = 30
"""Binary digits by which the lattice is finer than the noise, unless the totals are too large for that."""

BITS = 50
"""Binary digits of the largest total; three fewer than a double has, so that several tables can be added, too."""

FINEST = -1000
"""Smallest exponent of a lattice."""


def with_totals(noisy: NoisyTable, plan: PrivatePlan) -> NoisyTable:
    """Return a table with its sums of values as they are shown; unchanged if it has none."""
    estimator, totals = Estimator(noisy, plan), {}
    measured = [plan.noisy_sums, *(level.noisy_sums for level in plan.levels)]
    for terms in shown_sums(plan):
        noises = [abs(factor) * math.sqrt(sums[i].noise.variance) for sums in measured for i, factor in terms]
        values = estimator.form_values(terms)
        step = lattice_step(values[noisy.shown], noises)
        totals[terms] = np.where(noisy.shown, on_lattice(values, step), np.nan)
    return replace(noisy, totals=totals) if totals else noisy


def shown_sums(plan: PrivatePlan) -> list[Terms]:
    """Return the linear forms that are shown as sums of values, each once."""
    calls = zip(plan.release.calls, plan.sum_forms, strict=True)
    return list(dict.fromkeys(form.total for call, form in calls if call.function == "SUM"))


def lattice_step(cells: Floats, noises: Iterable[float]) -> float:
    """Return the power of two whose multiples the cells become.

    Args:
        cells: The cells that all tables are made of.
        noises: The standard deviations of the noises in them.

    Example:
        >>> lattice_step(np.array([3.0, -5.0]), [2.0]) == 2.0**-29
        True
        >>> lattice_step(np.array([3e15, -5e15]), [2.0])
        8.0
    """
    least = min((noise for noise in noises if noise), default=0.0)
    _, of_noise = math.frexp(least)
    _, of_total = math.frexp(float(np.abs(cells).sum()))
    return math.ldexp(1.0, max(of_noise - 1 - FINER, of_total - BITS, FINEST))


def on_lattice(cells: Floats, step: float) -> Floats:
    """Return the nearest multiples of a power of two.

    Example:
        >>> on_lattice(np.array([0.3, -0.1]), 0.25).tolist()
        [0.25, 0.0]
    """
    return np.asarray(np.round(cells / step) * step + 0.0)
