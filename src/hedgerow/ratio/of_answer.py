"""The forest plot of an answer: groups of people compared in SQL."""

import math
import re

from hedgerow.answer import Answer
from hedgerow.answer.plot import AnyChart
from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.errors import ParameterError
from hedgerow.ratio.plots import forest_plot
from hedgerow.statistics.two_by_two.estimate import RatioEstimate

NULLS = {"relative_risk": 1.0, "odds_ratio": 1.0, "lift": 0.0, "risk_difference": 0.0}
"""Where there is no difference, by the statistic."""

CALLED = re.compile(rf"\b({'|'.join(NULLS)})\s*\(", re.IGNORECASE)


def forest_of(answer: Answer, column: str | None = None, *, null: float | None = None) -> AnyChart:
    """A line for each row of an answer: a thin bar for sampling and noise, a thick one for the noise alone.

    Rows that were held back are left out.

    Args:
        answer: An answer with RELATIVE_RISK, ODDS_RATIO, LIFT or RISK_DIFFERENCE, usually grouped.
        column: The column with it; by default the first.
        null: Where there is no difference: 1 for ratios, 0 for lifts and differences. By default the query says it.

    Example:
        >>> import pyarrow as pa
        >>> from hedgerow.answer import Summary
        >>> told = Summary("receipt-1", "SELECT region, RELATIVE_RISK(ill, smokes) AS risk FROM people GROUP BY region")
        >>> bars = [{"risk": Interval(1.4, 1.8, population=(1.2, 2.1), p_value=0.001)}]
        >>> answer = Answer(pa.table({"region": ["north"], "risk": [1.6]}), bars, 0.95, told)
        >>> len(forest_of(answer).to_dict()["layer"])
        4
    """
    name = _column(answer, column)
    groups: dict[str, RatioEstimate] = {}
    noise: dict[str, Interval] = {}
    for place, (value, row) in enumerate(zip(answer[name], answer.intervals, strict=True)):
        bar = row[name]
        if bar.population is None:
            continue
        key = _key(answer, place, groups)
        p_value = math.nan if bar.p_value is None else bar.p_value
        groups[key] = RatioEstimate(math.nan if value is None else value, Interval(*bar.population), p_value, "auto")
        noise[key] = bar
    return forest_plot(groups, noise=noise, null=_null(answer, name) if null is None else null, name=name)


def _column(answer: Answer, asked: str | None) -> str:
    names = [n for n in answer.noisy if any(n in row and row[n].population is not None for row in answer.intervals)]
    if asked is None and names:
        return names[0]
    if asked in names:
        return asked
    raise ParameterError(
        f"Column {asked!r} does not compare people." if names else "No column of this answer compares people.",
        code="bad-plot",
        hint="Ask for RELATIVE_RISK, ODDS_RATIO, LIFT or RISK_DIFFERENCE of rows that are people; others have .plot().",
    )


def _key(answer: Answer, place: int, taken: dict[str, RatioEstimate]) -> str:
    """The keys of a row; its number where these do not tell rows apart."""
    keys = [str(answer[name][place]) for name in answer.columns if name not in answer.noisy]
    found = ", ".join(keys) or "all"
    return found if found not in taken else f"{found} ({place + 1})"


def _null(answer: Answer, column: str) -> float:
    """Where there is no difference: by the column's own name, or if all statistics of the query agree on it."""
    own = CALLED.match(column)
    nulls = {NULLS[name.lower()] for name in ([own[1]] if own else CALLED.findall(answer.receipt.query))}
    if len(nulls) == 1:
        return nulls.pop()
    raise ParameterError(
        "The query has several statistics, and not all of them are 1 (or 0) where there is no difference.",
        code="bad-plot",
        hint="Say null=1 for a ratio, null=0 for a lift or a difference.",
    )
