"""Hypothetical releases: the result of a plan for groups whose sizes are public, stated or released before.

Nothing here reads data. A number's error bar follows from its noisy coordinates alone, so the error bars
of a release can be computed before it is bought, for groups of any size.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.aggregates import NeededSums
from hedgerow.error_bars.intervals import half_width
from hedgerow.expressions.facts import range_of
from hedgerow.privacy.plan import PrivatePlan, SumForms, Terms
from hedgerow.privacy.statement_sums import needed_sums
from hedgerow.release.estimate import Estimator
from hedgerow.release.noisy_table import NoisyTable

Floats = NDArray[np.float64]
Solved = list[tuple[Terms, Floats]]
"""Linear forms in coordinates, each with its wanted values."""

Corner = Mapping[Terms, int]
"""For every sum, the end of its interval to use."""

NEAR_ENDS = (-0.98, -0.95, -0.9, -0.8, -0.6, 0.6, 0.8, 0.9, 0.95, 0.98)
"""Means, as parts of half their range. At the very ends the longer side of an interval is cut off by the range, so the
largest error is somewhat before them."""

FEW_FORMS = 2
MOST_FORMS = 4
"""Up to this many sums take their extremes independently of each other; more take them together."""


def typical(plan: PrivatePlan, sizes: Floats) -> Estimator:
    """Return one group of each size, with values around the middle of their range; evenly spread, for a variance."""
    return _estimator(plan, _with_counts(plan, sizes, middle=True), sizes)


def extreme(plan: PrivatePlan, sizes: Floats) -> Estimator:
    """Return groups of each size with values at and near the ends of their ranges, at the middle and at zero."""
    free = _free(plan)
    options = [shares for _, shares in free]
    if len(options) <= MOST_FORMS:
        corners = list(product(*options))
    else:
        corners = [tuple(shares[min(index, len(shares) - 1)] for shares in options) for index in range(4)]
    every = np.tile(sizes, len(corners))
    forms = [
        (terms, np.repeat([corner[index] for corner in corners], len(sizes)) * every)
        for index, (terms, _) in enumerate(free)
    ]
    return _estimator(plan, [*_with_counts(plan, every, middle=False), *forms], every)


def carried(
    known: Estimator, plan: PrivatePlan, end: tuple[int, float] = (0, 0.5), corner: Corner | None = None
) -> Estimator:
    """Return the sizes that `known` released, as if `plan` had released them.

    Args:
        known: An earlier release of the same measures, with other noise.
        plan: The plan whose noise the error bars are to have.
        end: The end of its interval at which every count is taken (-1 lower, 1 upper, 0 neither), and the failure
            probability of that interval.
        corner: The end of its interval at which every sum is taken (-1 nearer to zero, 1 further from it).
    """
    forms: Solved = []
    counts = np.zeros(len(known.noisy.shown))
    for index, sum_form in enumerate(plan.sum_forms):
        measured = known.measured(index)
        count = _count_of(known, index, *end)
        if sum_form.from_selection:
            counts = count
            continue
        forms.append((sum_form.count, count))
        total, way = measured.centred if sum_form.centred else measured.total, (corner or {}).get(_sum_of(sum_form), 0)
        if total is not None and _sum_of(sum_form):
            values = total.values
            if way:  # towards zero, a sum stops there
                reach = way * half_width(total.noise, end[1])
                values = np.copysign(np.maximum(np.abs(values) + reach, 0.0), values)
            forms.append((_sum_of(sum_form), np.clip(values, -count, count) if sum_form.centred else values))
    solved = _estimator(plan, forms, counts)
    return Estimator(
        NoisyTable(known.noisy.keys, known.noisy.shown, solved.noisy.counts, solved.noisy.noisy_sums), plan
    )


def corners(plan: PrivatePlan) -> list[Corner]:
    """Return every combination of the ends of all sums; for many sums, those where one differs from all others."""
    sums = _sums(plan)
    if len(sums) <= MOST_FORMS:
        return [dict(zip(sums, ways, strict=True)) for ways in product((-1, 1), repeat=len(sums))]
    return [{other: way if other == one else -way for other in sums} for one in sums for way in (-1, 1)]


def forms_of(plan: PrivatePlan) -> int:
    """Return the number of counts and sums."""
    counts = {sum_form.count for sum_form in plan.sum_forms if sum_form.count or sum_form.from_selection}
    return len(counts) + len(_sums(plan))


def most_rows(known: Estimator, beta: float) -> Floats:
    """Return the maximum size of each group: the smallest of the upper ends of its counts."""
    ends = [
        _count_of(known, index, 1, beta) for index in range(len(known.plan.sum_forms)) if known.measured(index).count
    ]
    return np.minimum.reduce(ends) if ends else np.full(len(known.noisy.shown), np.inf)


def _sums(plan: PrivatePlan) -> list[Terms]:
    return list(dict.fromkeys(_sum_of(sum_form) for sum_form in plan.sum_forms if _sum_of(sum_form)))


def _sum_of(sum_form: SumForms) -> Terms:
    return sum_form.centred or sum_form.total


def _count_of(known: Estimator, index: int, side: int, beta: float) -> Floats:
    form = known.measured(index).count
    if form is None:
        return np.zeros(len(known.noisy.shown))
    return np.maximum(form.values + side * half_width(form.noise, beta), 0.0) if side else form.values


def _with_counts(plan: PrivatePlan, sizes: Floats, *, middle: bool) -> Solved:
    """Return every count at its size; with `middle`, also every sum at the middle of its range."""
    forms: Solved = [(sum_form.count, sizes) for sum_form in plan.sum_forms if sum_form.count]
    if middle:
        forms += [(sum_form.centred, np.zeros_like(sizes)) for sum_form in plan.sum_forms if sum_form.centred]
        forms += [
            (terms, _even(monomial) * sizes) for sum_form in plan.sum_forms for monomial, terms in sum_form.moments[1:]
        ]
        sums = zip(plan.sum_forms, needed_sums(plan.release), strict=True)
        forms += [(sum_form.total, sum(_ends(need)) / 2 * sizes) for sum_form, need in sums if _is_plain(sum_form)]
        forms += [(terms, sizes / len(sum_form.cells)) for sum_form in plan.sum_forms for terms in sum_form.cells]
        arms = [(arm, sizes / len(sum_form.arms)) for sum_form in plan.sum_forms for arm in sum_form.arms]
        forms += [(terms, _even(monomial) * people) for arm, people in arms for monomial, terms in arm]
    return forms


def _even(monomial: tuple[int, int]) -> float:
    """Return the mean contribution of a row to a moment if values are independent and uniform on [-1, 1]."""
    return 1.0 if monomial == (0, 0) else 1 / 3 if max(monomial) == 2 else 0.0


def _free(plan: PrivatePlan) -> list[tuple[Terms, tuple[float, ...]]]:
    """Return the forms that a size does not determine, each with its possible values per row."""
    options: dict[Terms, tuple[float, ...]] = {}
    near = NEAR_ENDS if len(_sums(plan)) <= FEW_FORMS else ()
    for sum_form, need in zip(plan.sum_forms, needed_sums(plan.release), strict=True):
        if sum_form.centred:
            zero = -sum_form.middle / sum_form.half
            options[sum_form.centred] = (-1.0, 0.0, 1.0, *near) + ((zero,) if -1 < zero < 1 else ())
        elif _is_plain(sum_form):
            low, high = _ends(need)
            options[sum_form.total] = (low, (low + high) / 2, high) + ((0.0,) if low < 0 < high else ())
    return list(options.items())


def _is_plain(sum_form: SumForms) -> bool:
    return bool(sum_form.total) and not sum_form.centred


def _ends(need: NeededSums) -> tuple[float, float]:
    if need.value is None:
        return 0.0, 0.0
    values = range_of(need.value)
    return float(values.lower), float(values.upper)


def _estimator(plan: PrivatePlan, forms: Solved, counts: Floats) -> Estimator:
    """Return coordinates that give the forms their values."""
    rows = len(counts)
    matrix = np.zeros((len(forms), len(plan.noisy_sums)))
    for row, (terms, _) in enumerate(forms):
        for index, coefficient in terms:
            matrix[row, index] = coefficient
    wanted = np.array([values for _, values in forms]).reshape(len(forms), rows)
    solvable = len(forms) and len(plan.noisy_sums)
    solved = np.linalg.lstsq(matrix, wanted)[0] if solvable else np.zeros((len(plan.noisy_sums), rows))
    keys = pa.table({key.name: pa.nulls(rows) for key in plan.release.keys} or {"one": pa.nulls(rows)})
    noisy = NoisyTable(
        keys.select([key.name for key in plan.release.keys]),
        np.ones(rows, bool),
        counts if plan.selection is not None else None,
        tuple(solved),
    )
    return Estimator(noisy, replace(plan, marginal=None))
