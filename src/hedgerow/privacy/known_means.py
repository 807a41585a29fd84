"""Averages whose mean is known from an earlier release: summed around it, with most of the budget for the sum.

AVG is m + h S / N: N counts the rows, S is the sum of (x - m) / h, and h is the largest distance of a value from the
centre m. With noise of variance v / s on S and v / c on N (s and c are shares of the budget), its mean square error is
(h / N)^2 v (1 / s + a^2 / c), where a = (mean - m) / h. Around the middle of the range nothing is known about a, and s
and c are equal. Around a mean that is known, a is near zero and the count hardly matters: it gets `COUNT_WEIGHT` of
what a sum gets. The price is a larger h: half of the range times 1 + |d|, where d is the distance of m from the middle,
in halves of the range. So a mean is used where (1 + |d|)^2 (1 + a^2 / w) (k + w) < (1 + d^2) (k + 1), for k averages
over one count of weight w, with a = `ASSUMED_DISTANCE`: within about a third of the middle.

Privacy: the centre is a released number, or a function of one, so it is public, like every choice that rests on it. One
row moves S and N by at most one each, wherever the centre lies, and each is charged for the noise that it gets.
"""

from collections.abc import Mapping, Sequence

from hedgerow.aggregates import Kind, NeededSums
from hedgerow.expressions.facts import range_of
from hedgerow.expressions.nodes import Expr
from hedgerow.privacy.statement_sums import StatementSums, support_of

COUNT_WEIGHT = 0.25
"""Share of a count beside sums around known means, where each of these has one."""

ASSUMED_DISTANCE = 0.1
"""Distance of a mean from its centre that is planned for, as a part of the largest that there can be."""


def use_known_means(sums: StatementSums, needs: Sequence[NeededSums], means: Mapping[NeededSums, float]) -> None:
    """Centre the sums of a statement of averages at known means, count by count where all its averages gain."""
    if not means or any(need.kind is not Kind.MEAN for need in needs):
        return
    for support in sums.counts:
        centres = {
            (need.value, support): means[need]
            for need in needs
            if need.value is not None and support_of(need) == support and need in means
        }
        averaged = [key for key in sums.centred if key[1] == support]
        if all(key in centres and _gains(key[0], centres[key], len(averaged)) for key in averaged):
            sums.centres |= {key: centres[key] for key in averaged}
            sums.light_counts.append(support)


def needs_means(needs: Sequence[NeededSums]) -> bool:
    """Return True if a statement could use known means: it asks for averages alone."""
    return bool(needs) and all(need.kind is Kind.MEAN for need in needs)


def _gains(value: Expr, mean: float, averaged: int) -> bool:
    """Return True if the predicted mean square error around a known mean is the smaller one."""
    lower, upper = float(range_of(value).lower), float(range_of(value).upper)
    if not lower < upper:
        return False
    distance = abs(mean - (lower + upper) / 2) / ((upper - lower) / 2)
    around_mean = (1 + distance) ** 2 * (1 + ASSUMED_DISTANCE**2 / COUNT_WEIGHT) * (averaged + COUNT_WEIGHT)
    return around_mean < (1 + distance**2) * (averaged + 1)
