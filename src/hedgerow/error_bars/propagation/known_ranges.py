"""Ranges of exact quotients that follow from the plan alone: a share lies in [0, 1], whatever the rows are.

The counts and sums of a release add up, over the rows of a group, 1 where a row counts and a value between public
bounds. All of them give a row the same weight (`privacy.bounding`). So numerator and denominator, if they are linear
forms of such counts and sums, are sums over rows, with the same weights w >= 0, of amounts A and B:

    N / D = sum w A / sum w B,

and where B >= 0 for every possible row the quotient lies between the least and the greatest A / B of a row (a row with
B = 0 must have A = 0, or one end is open). A and B are linear in values that vary between two ends, so the extremes
are at those ends. Which rows are possible is known from the plan: a row that counts in a filtered sum counts in the
unfiltered one, and is either among those a condition holds for or among the others. Rows that are possible here and
not in truth make the range longer, never shorter.

This is about exact values, before noise: the noisy quotient of a small group is often outside, and nothing is assumed
about it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from hedgerow.aggregates import Kind
from hedgerow.error_bars.intervals.interval import Floats
from hedgerow.expressions.facts import range_of
from hedgerow.expressions.nodes import Expr
from hedgerow.privacy.kinds import not_true
from hedgerow.privacy.plan import PrivatePlan, Terms
from hedgerow.privacy.statement_sums import Support, needed_sums, support_of

Range = tuple[float, float]
Pairs = Sequence[tuple[Floats, Floats]]
"""Coefficients of numerator and denominator over the noisy sums of one group."""

UNKNOWN: Range = (-np.inf, np.inf)
MAXIMUM_CHOICES = 10
"""Largest number of conditions and values of which all combinations are looked at."""

ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class _Quantity:
    """The number of rows in `support`, or of people (`support` None), or the sum of `value` over those rows."""

    support: Support | None
    value: Expr | None = None


def quotient_range(plan: PrivatePlan, pairs: Pairs) -> Range:
    """Return the range of a quotient that adds up groups of one release, with these coefficients in each group."""
    forms = _quantities(plan)
    amounts = _extreme_rows(list(forms))
    if amounts is None:
        return UNKNOWN
    known = np.zeros((len(forms), len(plan.noisy_sums)))
    for coefficients, terms in zip(known, forms.values(), strict=True):
        for index, coefficient in terms:
            coefficients[index] += coefficient
    lowest, highest = np.inf, -np.inf
    for pair in pairs:
        numerator, denominator = (_in_quantities(form, known) for form in pair)
        if numerator is None or denominator is None:
            return UNKNOWN
        tops, bottoms = _snapped(amounts * numerator), _snapped(amounts * denominator)
        if np.any(bottoms < 0):
            return UNKNOWN
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = tops / bottoms
        ratios = ratios[~np.isnan(ratios)]
        if len(ratios):
            lowest, highest = min(lowest, float(ratios.min())), max(highest, float(ratios.max()))
    return (_rounded(lowest), _rounded(highest)) if lowest <= highest else UNKNOWN


def _quantities(plan: PrivatePlan) -> dict[_Quantity, Terms]:
    """The counts and sums of a release, as linear forms of its noisy sums."""
    people = _Quantity(None if plan.bounding.weighted else (None, None))
    forms: dict[_Quantity, Terms] = {}
    for need, parts in zip(needed_sums(plan.release), plan.sum_forms, strict=True):
        if parts.from_selection or need.kind not in {Kind.UNITS, Kind.ROWS, Kind.SUM, Kind.MEAN}:
            continue
        support = support_of(need)
        if parts.count:
            forms.setdefault(people if need.kind is Kind.UNITS else _Quantity(support), parts.count)
        if parts.total:
            forms.setdefault(_Quantity(support, need.value), parts.total)
    return forms


def _in_quantities(form: Floats, known: Floats) -> Floats | None:
    """A linear form of noisy sums as one of counts and sums; None if it is none."""
    factors: Floats = np.asarray(np.linalg.lstsq(known.T, form, rcond=None)[0], dtype=float)
    missed = np.abs(known.T @ factors - form).max()
    return factors if missed <= ROUNDING * np.abs(form).max() else None


def _snapped(parts: Floats) -> Floats:
    """The sum of each row, zero where rounding alone keeps it from that."""
    totals, sizes = parts.sum(axis=1), np.abs(parts).sum(axis=1)
    return np.where(np.abs(totals) <= ROUNDING * sizes.max(initial=0.0), 0.0, totals)


def _rounded(end: float) -> float:
    return float(f"{end:.12g}")


def _extreme_rows(quantities: list[_Quantity]) -> Floats | None:
    """The amount that every extreme row adds to each quantity; None where these rows are too many, or none."""
    supports = list(dict.fromkeys(one.support for one in quantities if one.support is not None))
    values = list(dict.fromkeys(one.value for one in quantities if one.value is not None))
    if not quantities or len(supports) + len(values) > MAXIMUM_CHOICES:
        return None
    ranges = [(float(range_of(value).lower), float(range_of(value).upper)) for value in values]
    rows = []
    for flags in product((False, True), repeat=len(supports)):
        counts = dict(zip(supports, flags, strict=True))
        if not _is_possible(counts):
            continue
        for ends in product(*ranges):
            numbers = dict(zip(values, ends, strict=True))
            rows.append([_amount(one, counts, numbers) for one in quantities])
    people = [float(one.support is None) for one in quantities]
    return np.array([*rows, people] if any(people) else rows)


def _amount(one: _Quantity, counts: dict[Support, bool], numbers: dict[Expr, float]) -> float:
    if one.support is None or not counts[one.support]:
        return 0.0
    return 1.0 if one.value is None else numbers[one.value]


def _is_possible(counts: dict[Support, bool]) -> bool:
    """Return False if no row can count in these sums and not in the others."""
    for (value, condition), counted in counts.items():
        if (value, condition) == (None, None) and not counted:
            return False
        wider = [(None, condition), (value, None)]
        if counted and not all(counts.get(support, True) for support in wider):
            return False
        if value is None and condition is not None and counts.get((None, not_true(condition)), not counted) == counted:
            return False
    return True
