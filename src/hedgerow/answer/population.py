"""What statistics that compare people say about a population: two more columns beside theirs, and only there."""

import math
from collections.abc import Mapping

from hedgerow.answer.plain import ends
from hedgerow.answer.released import ReleasedTable
from hedgerow.error_bars.intervals.interval import Interval

LEAST = 1e-4
"""P-values below it are all shown alike."""

MEANING = (
    "(population) is where a statistic lies among all those whom these people were drawn from, sampling and noise "
    "together; p is how likely groups as different as these are where there is no difference"
)


def about_people(answer: ReleasedTable) -> tuple[str, ...]:
    """The columns that say something about a population, in any row."""
    found = {name for row in answer.intervals for name, bar in row.items() if bar.population is not None}
    return tuple(name for name in answer.columns if name in found)


def headings(name: str) -> tuple[str, str]:
    """What stands above the two columns."""
    return f"{name} (population)", f"{name} p"


def cells(row: Mapping[str, Interval], name: str) -> tuple[str, str]:
    """The two cells of a row, empty where nothing can be said.

    Example:
        >>> cells({"rr": Interval(0.7, 0.8, population=(0.61, 0.93), p_value=0.0123)}, "rr")
        ('[0.61, 0.93]', '0.012')
    """
    bar = row.get(name)
    if bar is None or bar.population is None:
        return "", ""
    whole = Interval(*bar.population)
    finite = [end for end in bar.population if math.isfinite(end)]
    error = (finite[1] - finite[0]) / 2 if len(finite) == 2 else abs(finite[0]) / 10 if finite else 0.0
    return ends(whole, error), chance(bar.p_value)


def chance(p_value: float | None) -> str:
    """A p-value as text.

    Example:
        >>> chance(0.0123), chance(1e-9), chance(None)
        ('0.012', '<0.0001', '')
    """
    if p_value is None or not math.isfinite(p_value):
        return ""
    return f"<{LEAST:.4f}" if p_value < LEAST else f"{p_value:.2g}"
