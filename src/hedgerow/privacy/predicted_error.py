"""Predicted error of a plan, by which plans are compared before anything is asked.

Nobody knows how large the groups will be, so every order of magnitude that is likely counts alike. The error of a
number is the half-width of its interval divided by the size of its group, if each person of the group has one row. It
is 100 % for a group that is not shown, and for a number whose interval is wider than the group is large. Plans are
compared by the mean logarithm of the error: the better plan is more accurate by a factor in the typical group. Totals
of ROLLUP, CUBE and GROUPING SETS count like the numbers of the groups: each level with groups as many times as large as
there are groups in one of its cells.

Privacy: everything here follows from the plan, the catalog and the price, never from data.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hedgerow.distributions import Gaussian, Noise
from hedgerow.error_bars.intervals import half_width
from hedgerow.expressions.facts import declared_values, range_of
from hedgerow.privacy.assemble import combine
from hedgerow.privacy.bounding import ROWS_AT_LEAST
from hedgerow.privacy.keys import KeyRule, Keys
from hedgerow.privacy.levels import ASSUMED_VALUES, Level, declared_sizes
from hedgerow.privacy.marginals import MOST_KEYS, marginal_level, measured_level
from hedgerow.privacy.plan import PrivatePlan, SumForms, Terms

Floats = NDArray[np.float64]

ORDERS = 1000.0
"""The largest likely size of a group whose key is public, over the smallest."""

USUAL_SIZE = 1e6
"""Rows of a table whose size nobody declared."""

ROOM = 10.0
"""The largest likely size is at least so many times the smallest threshold and the smallest half-width: otherwise every
number would be as useless as any other."""

BETA = 0.05
SMALLEST_WIDTH = 1e-3
"""Rows below which an error no longer counts: whole counts may have none at all."""

EVEN_VARIANCE = 1 / 3
"""Of values that lie evenly in [-1, 1]."""

SHARES = np.arange(0.05, 0.8005, 0.001)
"""The parts of a budget that key selection may get."""


@dataclass(frozen=True, slots=True)
class GroupSizes:
    """The sizes of groups that are likely, in people."""

    smallest: float
    largest: float


def mean_log_error(threshold: Floats | float, width: Floats | float, sizes: GroupSizes) -> Floats:
    """The mean logarithm of a number's error over group sizes.

    Example:
        >>> round(float(mean_log_error(threshold=1.0, width=10.0, sizes=GroupSizes(1e3, 1e6))), 3)
        -8.059
    """
    bottom, top, log_width = math.log(sizes.smallest), math.log(sizes.largest), np.log(width)
    shown_from = np.clip(np.maximum(np.log(threshold), log_width), bottom, top)
    squares = (top - log_width) ** 2 - (shown_from - log_width) ** 2
    return np.asarray(-squares / (2.0 * (top - bottom)))


def likely_sizes(keys: Keys, size: int, threshold: float, width: float) -> GroupSizes:
    """Likely sizes of groups, given lower limits of the threshold and of the half-width.

    A public key has about its part of the declared rows. A key that is found in the data may have any size, up to all
    declared rows; if nobody declared them, up to a thousand times the threshold.
    """
    declared, room = size < ROWS_AT_LEAST, ROOM * max(threshold, width)
    if keys.rule is KeyRule.SELECTED:
        return GroupSizes(1.0, max(float(size) if declared else ORDERS * threshold, room))
    largest = max((size if declared else USUAL_SIZE) / max(1, len(keys.domain)), room)
    return GroupSizes(largest / ORDERS, largest)


def best_share(
    keys: Keys, size: int, *, minimum: int, distance: float, measured: float, counted: float, blocks: int, power: float
) -> float:
    """Return the part of a budget for key selection that minimises the predicted error.

    Args:
        keys: Rule for the groups.
        size: Rows of the table, as declared.
        minimum: The minimum frequency.
        distance: From there to the threshold, if key selection got everything.
        measured: Half-width of a measure, if the measures got everything.
        counted: Half-width of the count of key selection, likewise; 0 where nobody reads it.
        blocks: Number of measures.
        power: Noise falls with this power of the budget.
    """
    if not math.isfinite(distance * ORDERS + measured):
        return float(SHARES[0])
    sizes = likely_sizes(keys, size, minimum + distance, measured)
    thresholds = minimum + distance / SHARES**power
    errors = blocks * mean_log_error(thresholds, measured / (1.0 - SHARES) ** power, sizes)
    if counted:
        errors = errors + mean_log_error(thresholds, counted / SHARES**power, sizes)
    return float(SHARES[np.argmin(errors)])


def predicted_errors(plans: Sequence[PrivatePlan], levels: Sequence[Level] = ()) -> list[float]:
    """The mean log error of each plan of one release, over its numbers; all for groups of the same sizes.

    `levels` are the grouping sets that are shown, if not only the groups are.
    """
    thresholds = [1.0 if plan.selection is None else float(plan.selection.threshold) for plan in plans]
    widths = [np.array(half_widths(plan) or [1.0]) for plan in plans]
    smallest_width = min(float(plan_widths.min()) for plan_widths in widths)
    sizes = likely_sizes(plans[0].keys, plans[0].bounding.size, min(thresholds), smallest_width)
    errors = [
        [float(mean_log_error(threshold, plan_widths, sizes).mean())]
        for threshold, plan_widths in zip(thresholds, widths, strict=True)
    ]
    for level in levels:
        count = groups_in_cell(plans[0], level)
        totals = GroupSizes(sizes.smallest * count, sizes.largest * count)
        for plan, known in zip(plans, errors, strict=True):
            total_widths = np.array(half_widths(level_plan(plan, level)) or [1.0])
            known.append(float(mean_log_error(1.0, total_widths, totals).mean()))
    return [sum(known) / len(known) for known in errors]


def groups_in_cell(plan: PrivatePlan, level: Level) -> int:
    """Number of groups that one cell of a level adds up; a key that nobody declared is taken to have some values."""
    return math.prod(size for index, size in enumerate(key_sizes(plan)) if index not in level)


def key_sizes(plan: PrivatePlan) -> list[int]:
    """Number of values of each key; `ASSUMED_VALUES` where nobody declared them."""
    declared = [declared_values(key.expr) for key in plan.release.keys]
    return declared_sizes(plan.keys, len(declared)) or [
        ASSUMED_VALUES if values is None else len(values) for values in declared
    ]


def level_plan(plan: PrivatePlan, level: Level) -> PrivatePlan:
    """The plan with the noise of one cell of a level in place of that of a group.

    Where levels were measured, it is that of least squares over all combinations of the values of the keys; for more
    keys than that is computed for, the mean of a total's own measurement and the sum of its groups, weighted by their
    precisions. A sum of Laplace noises is taken to be normal. A cell of a table that is made of the groups of a finer
    release has the noise that it has there.
    """
    if plan.finer is not None and plan.made_of is not None:
        finer_plan = level_plan(plan.finer, tuple(sorted(plan.made_of[i] for i in level)))
        return replace(finer_plan, release=plan.release, sum_forms=plan.sum_forms)
    if plan.marginal is not None:
        return marginal_level(plan, plan.marginal, level)
    groups, sizes = groups_in_cell(plan, level), key_sizes(plan)
    if plan.levels and len(sizes) <= MOST_KEYS:
        return measured_level(_totalled(plan, groups), sizes, level)
    if groups == 1:
        return plan
    measured = next((sums.noisy_sums for sums in plan.levels if sums.keys == level), ())
    noisy_sums = tuple(
        replace(group, noise=_total_noise(group.noise, groups, measured[index].noise if measured else None))
        for index, group in enumerate(plan.noisy_sums)
    )
    return replace(_totalled(plan, groups), noisy_sums=noisy_sums, levels=())


def _totalled(plan: PrivatePlan, groups: int) -> PrivatePlan:
    """The plan with the noise of the count that selects keys, added up over groups."""
    if plan.selection is None:
        return plan
    return replace(plan, selection=replace(plan.selection, noise=_total_noise(plan.selection.noise, groups, None)))


def _total_noise(group: Noise, groups: int, measured: Noise | None) -> Noise:
    precision = 1.0 / (groups * group.variance_bound) + (0.0 if measured is None else 1.0 / measured.variance_bound)
    return Gaussian(1.0 / math.sqrt(precision))


def number_widths(plan: PrivatePlan) -> list[float]:
    """Half-width of each aggregate of a plan, in rows; for keys alone, that of the count that selects them."""
    widths = [_number_width(plan, sum_form) for sum_form in plan.sum_forms]
    if not widths and plan.selection is not None:
        widths = [half_width([(1.0, plan.selection.noise)], BETA)]
    return [max(width, SMALLEST_WIDTH) for width in widths]


def comparable_widths(plan: PrivatePlan) -> list[float]:
    """Half-width of each aggregate of a plan, on a scale that does not depend on the sums that it is made of.

    A SUM may be one noisy sum, or a count and a centred sum. It is divided by the largest absolute value.
    """
    widths = number_widths(plan)
    for index, (call, form) in enumerate(zip(plan.release.calls, plan.sum_forms, strict=True)):
        if call.function == "SUM" and form.total:
            values = range_of(call.arguments[0])
            largest = max(abs(float(values.lower)), abs(float(values.upper))) or 1.0
            width = half_width([(c / largest, plan.noisy_sums[i].noise) for i, c in form.total], BETA)
            widths[index] = max(width, SMALLEST_WIDTH)
    return widths


def _number_width(plan: PrivatePlan, sum_form: SumForms) -> float:
    if sum_form.draw is not None:
        return 2.0 * plan.bounding.rows_per_group * -math.log(BETA) / float(plan.draws[sum_form.draw].epsilon)
    if sum_form.distinct is not None:
        return half_width([(1.0, plan.distinct[sum_form.distinct].noise)], BETA)
    if sum_form.from_selection and plan.selection is not None:
        return half_width([(1.0, plan.selection.noise)], BETA)
    return half_width([(c, plan.noisy_sums[i].noise) for i, c in _error_terms(sum_form)], BETA)


def half_widths(plan: PrivatePlan) -> list[float]:
    """Half-widths of the numbers of a plan, including ranks, in rows."""
    widths = [2.0 * plan.bounding.rows_per_group * -math.log(BETA) / float(draw.epsilon) for draw in plan.draws]
    widths += [half_width([(1.0, distinct.noise)], BETA) for distinct in plan.distinct]
    for sum_form in plan.sum_forms:
        if sum_form.draw is None and sum_form.distinct is None:
            widths.append(_number_width(plan, sum_form))
    return [max(width, SMALLEST_WIDTH) for width in widths]


def _error_terms(sum_form: SumForms) -> Terms:
    """A number's error to first order, in rows, where values lie evenly around the middle of their range."""
    if sum_form.arms:
        first, second = (dict(arm)[1, 0] for arm in sum_form.arms)
        return combine((first, 2.0), (second, -2.0))
    moments = dict(sum_form.moments)
    if (1, 1) in moments:
        return moments[1, 1]
    if (2, 0) in moments:
        return combine((moments[2, 0], 1.0), (sum_form.count, -EVEN_VARIANCE))
    if sum_form.ends:
        return combine((sum_form.centred, 2 * sum_form.half / (sum_form.ends[1] - sum_form.ends[0])))
    if sum_form.centred or not sum_form.total:
        return sum_form.centred or sum_form.count or sum_form.cells[0]
    unit = max(abs(coefficient) for _, coefficient in sum_form.total)
    return combine((sum_form.total, 1.0 / unit))
