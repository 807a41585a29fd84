"""p-values of several comparisons in one answer, adjusted by Holm (1979).

Where none of m comparisons has a difference, the smallest of their p-values falls below 0.05 far more often than one
time in twenty. Holm's adjusted p-values do so in at most one answer of twenty, however the comparisons depend on
each other.
"""

from collections.abc import Hashable, Mapping, MutableMapping, Sequence
from dataclasses import replace

from hedgerow.error_bars.intervals.interval import Interval


def adjust_p_values(
    bars: Sequence[MutableMapping[str, Interval]], compared: Mapping[str, Hashable], groups: int
) -> None:
    """Add adjusted p-values to the intervals of an answer that makes several comparisons.

    Statistics of the same sums in the same row, such as a lift and a difference, are one comparison. Groups that are
    not among the rows count, too: LIMIT or HAVING may have kept the rows with the smallest p-values. Their p-values
    are not known, and taking them to be the larger ones makes no adjusted p-value smaller than it should be.

    Args:
        bars: The intervals, by row and column. They are changed.
        compared: The columns that compare people, each with the sums that it compares.
        groups: The number of groups that there are.
    """
    p_values: dict[tuple[int, Hashable], float] = {}
    for row, intervals in enumerate(bars):
        for name, sums in compared.items():
            if name in intervals and (p_value := intervals[name].p_value) is not None:
                p_values[row, sums] = p_value
    family = max(len(p_values), groups * len(set(compared.values())))
    if family < 2:
        return
    adjusted = dict(zip(p_values, holm(list(p_values.values()), family), strict=True))
    for row, intervals in enumerate(bars):
        for name, sums in compared.items():
            if (row, sums) in adjusted and intervals[name].p_value is not None:
                intervals[name] = replace(intervals[name], p_adjusted=adjusted[row, sums])


def holm(p_values: Sequence[float], family: int | None = None) -> list[float]:
    """Return p-values adjusted for `family` comparisons; by default for as many as there are.

    Example:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    number, largest = family or len(p_values), 0.0
    adjusted = [0.0] * len(p_values)
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest = max(largest, min((number - rank) * p_values[index], 1.0))
        adjusted[index] = largest
    return adjusted
