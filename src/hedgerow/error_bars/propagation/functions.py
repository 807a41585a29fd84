"""Interval arithmetic for the functions of SQL: if each argument lies between its ends, so does the result.

The product of two linear forms in released numbers has a shorter interval. Let x = m + e and y = v + f be the noisy
factors and m, v the exact ones. Then v e + m f, which is noise alone, is
x y - m v - e f. So the exact product lies within h + k of x y, where h is the quantile of |v e + m f|, and |e f| <= k.

h is a norm of (v, m), hence largest in a corner of the box in which m and v are confined at a small share of beta. And
with scales s and t, |e f| = s t |(e / s) (f / t)| <= s t max(|e / s + f / t|, |e / s - f / t|)^2 / 4, whose two terms
are linear forms, too. While everything is confined the product also lies in the product of both intervals; the interval
is what both allow.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.distributions import Gaussian
from hedgerow.error_bars.intervals import Bounds, arithmetic, half_width
from hedgerow.error_bars.intervals.interval import CONSERVATIVE, Floats, IntervalKind, Reason, Status
from hedgerow.error_bars.intervals.quotients import pivot_reach
from hedgerow.error_bars.propagation.forms import LinearForm, Releases, inverse, rows_alike
from hedgerow.error_bars.provenance.origins import Applied, Frame, Known, Origin

NO_RULE = Status(IntervalKind.NONE, Reason.NO_RULE, "unbounded: no rule gives an interval for this expression")

Rule = Callable[..., Bounds]


def _monotone(function: Callable[..., Any], lowest: float = -np.inf) -> Rule:
    return lambda operand: arithmetic.monotone(function, operand, domain=(lowest, np.inf))


def _round(operand: Bounds, digits: Bounds | None = None) -> Bounds:
    """Round outwards: however an engine breaks ties, the rounded value lies inside."""
    places = np.zeros(len(operand.lower)) if digits is None else digits.lower
    if digits is not None and not np.array_equal(digits.lower, digits.upper):
        return Bounds.of(np.full_like(operand.lower, -np.inf), np.full_like(operand.upper, np.inf))
    scale = 10.0 ** np.clip(places, -300, 300)
    return Bounds(np.floor(operand.lower * scale) / scale, np.ceil(operand.upper * scale) / scale, operand.statuses)


RULES: Mapping[str, Rule] = {
    "add": arithmetic.add,
    "add_whole": arithmetic.add,
    "subtract": arithmetic.subtract,
    "subtract_whole": arithmetic.subtract,
    "multiply": arithmetic.multiply,
    "multiply_whole": arithmetic.multiply,
    "divide": arithmetic.divide,
    "negate": arithmetic.negate,
    "negate_whole": arithmetic.negate,
    "abs": arithmetic.absolute,
    "abs_whole": arithmetic.absolute,
    "least": lambda *operands: reduce(arithmetic.minimum, operands),
    "greatest": lambda *operands: reduce(arithmetic.maximum, operands),
    "cast_float": lambda operand: operand,
    "cast_integer": _round,
    "nullif": lambda operand, _: operand,
    "floor": _monotone(np.floor),
    "ceil": _monotone(np.ceil),
    "trunc": _monotone(np.trunc),
    "round": _round,
    "sqrt": _monotone(np.sqrt, 0.0),
    "ln": _monotone(np.log, 0.0),
    "log10": _monotone(np.log10, 0.0),
    "log2": _monotone(np.log2, 0.0),
    "exp": _monotone(np.exp),
    "coalesce": lambda *operands: first_not_null(operands),
}


@dataclass(frozen=True)
class Evaluation:
    """Evaluates an origin on intervals.

    `leaf` gives the bounds of a number that has an interval of its own, and None where the arguments are to be looked
    at. All that it gives must hold at once.
    """

    frame: Frame
    leaf: Callable[[Origin], Bounds | None]

    def bounds(self, origin: Origin) -> Bounds:
        """The range of an origin in each row; unbounded where there is no rule."""
        if isinstance(origin, Known):
            values = self.frame.numbers(origin.value)
            return Bounds.of(values, values) if self.frame.has(origin.value) else unbounded(self.frame.rows)
        own = self.leaf(origin)
        if own is not None:
            return own
        if isinstance(origin, Applied) and origin.function == "case":
            verdicts = [self.verdict(condition) for condition in origin.arguments[:-1:2]]
            branches = [self.bounds(value) for value in (*origin.arguments[1:-1:2], origin.arguments[-1])]
            return Bounds.of(*arithmetic.chosen(verdicts, branches))
        if isinstance(origin, Applied) and origin.function in RULES:
            return RULES[origin.function](*(self.bounds(argument) for argument in origin.arguments))
        return unbounded(self.frame.rows)

    def verdict(self, origin: Origin) -> arithmetic.Verdict:
        """Decide a condition where the intervals of its numbers allow it."""
        if isinstance(origin, Known) and self.frame.has(origin.value):
            values = self.frame.numbers(origin.value)
            return arithmetic.Verdict(values == 1, values == 0, np.isnan(values))
        if not isinstance(origin, Applied):
            return arithmetic.undecided(self.frame.rows)
        if origin.function == "not":
            return self.verdict(origin.arguments[0]).inverted()
        if origin.function in {"and", "or"}:
            join = arithmetic.both if origin.function == "and" else arithmetic.either
            return join(*(self.verdict(argument) for argument in origin.arguments))
        if origin.function not in arithmetic.COMPARISONS:
            return arithmetic.undecided(self.frame.rows)
        left, right = (self.bounds(argument) for argument in origin.arguments)
        missing = ~not_null(left) | ~not_null(right) | np.isnan(left.lower) | np.isnan(right.lower)
        return arithmetic.compared(origin.function, left, right, missing)


def not_null(bounds: Bounds) -> NDArray[np.bool_]:
    """Flags of the rows that have a number."""
    return np.array([status.has_number for status in bounds.statuses], dtype=bool)


def first_not_null(parts: Sequence[Bounds]) -> Bounds:
    """COALESCE: the first argument that has a value."""
    result = parts[-1]
    for part in reversed(parts[:-1]):
        has = not_null(part)
        statuses = [a if first else b for a, b, first in zip(part.statuses, result.statuses, has, strict=True)]
        result = Bounds(np.where(has, part.lower, result.lower), np.where(has, part.upper, result.upper), statuses)
    return result


def unbounded(rows: int) -> Bounds:
    """Bounds that say nothing."""
    return Bounds.of(np.full(rows, -np.inf), np.full(rows, np.inf), NO_RULE)


CONFINED = 1 / 20
"""Share of beta for each factor to be confined, and for the product of their noises."""


def product_bounds(left: LinearForm, right: LinearForm, releases: Releases, beta: float) -> Bounds:
    """Return the interval of the product of two exact forms, row by row."""
    one, other = (form.half_widths(releases, CONFINED * beta) for form in (left, right))
    confined = arithmetic.multiply(left.bounds(releases, CONFINED * beta), right.bounds(releases, CONFINED * beta))
    corners = [
        (x, y) for x in (left.values - one, left.values + one) for y in (right.values - other, right.values + other)
    ]
    level = beta * (1 - 3 * CONFINED)
    linear = np.maximum.reduce([_norms(left, right, (y, x), releases, level) for x, y in corners])
    scales = [(inverse(one), sign * inverse(other)) for sign in (1.0, -1.0)]
    farthest = np.maximum.reduce([_norms(left, right, scale, releases, CONFINED * beta / 2) for scale in scales])
    error = linear + one * other * farthest**2 / 4
    middle = left.values * right.values
    lower, upper = np.fmax(confined.lower, middle - error), np.fmin(confined.upper, middle + error)
    return Bounds.of(lower, upper, CONSERVATIVE)


def _norms(
    left: LinearForm, right: LinearForm, factors: tuple[Floats, Floats], releases: Releases, beta: float
) -> Floats:
    """The quantile of |a left + b right|, row by row, as a norm of the factors (a, b)."""
    a, b = (np.nan_to_num(factor) for factor in factors)
    variance = a**2 * left.covariance(left, releases) + b**2 * right.covariance(right, releases)
    variance = variance + 2 * a * b * left.covariance(right, releases)
    widths = half_width([(1.0, Gaussian(1.0))], beta) * np.sqrt(np.maximum(variance, 0.0))
    laplaces = (abs(left.matrix) + abs(right.matrix)) @ (~releases.is_normal).astype(float)
    for rows, terms in rows_alike(left.matrix, right.matrix, np.flatnonzero(laplaces), releases):
        widths[rows] = pivot_reach(a[rows], -b[rows], terms, beta)
    return np.asarray(widths)
