"""Comparisons and plans of experiments, for people."""

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from hedgerow.answer import Answer, caption, notes
from hedgerow.answer.captions import NO_POPULATION, about_people, are_several, cells, chance
from hedgerow.answer.plain import on_one_line, shown
from hedgerow.answer.plot import altair
from hedgerow.cli.output import say, show_table
from hedgerow.distributions import Noise
from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.errors import ParameterError
from hedgerow.ratio import Lift, RatioEstimate, forest_of, forest_plot, relative_risk, width_parts
from hedgerow.tuner.regions import FORMATS, save_chart

Group = tuple[float, float]
NAMES = {"lift": "lift", "relative_risk": "relative risk", "risk_difference": "difference"}


def check_picture(file: str) -> None:
    """Refuse a picture that cannot be drawn, before anything is spent."""
    if Path(file).suffix.lower() not in FORMATS:
        raise ParameterError(
            "A picture is written as .png, .svg, .pdf, .html or .json; the file's name must end in one of them.",
            code="plot-format",
        )
    altair()


def counts_page(groups: tuple[Group, Group], estimate: Lift, noise: Noise | None, confidence: float) -> None:
    """Print the findings of two counts: both rates, three statistics, and the p-value."""
    for name, (successes, people), rate in zip(("treatment", "control"), groups, estimate.rates, strict=True):
        say(f"{name:<10} {successes:,.10g} of {people:,.10g}: {rate:.4g}")
    table = Table("statistic")
    for heading in ("value", "from", "to"):
        table.add_column(heading, justify="right")
    for name, value, interval in _statistics(estimate):
        table.add_row(NAMES[name], _figure(value), _figure(interval.lower), _figure(interval.upper))
    show_table(table)
    say(
        f"p-value {chance(estimate.p_value) or 'none'}: how likely groups so different are where there is no difference"
    )
    say(f"intervals at {confidence:.10g} confidence, for sampling{_and_noise(groups, noise)}")
    for note in dict.fromkeys(interval.note for _, _, interval in _statistics(estimate) if interval.note):
        say(f"note: {note}")


def counts_json(groups: tuple[Group, Group], estimate: Lift, noise: Noise | None, confidence: float) -> dict[str, Any]:
    """The same for programs."""
    sides = zip(("treatment", "control"), groups, estimate.rates, strict=True)
    return {
        **{name: {"successes": group[0], "people": group[1], "rate": rate} for name, group, rate in sides},
        **{
            name: {"value": value, "lower": interval.lower, "upper": interval.upper, "note": interval.note}
            for name, value, interval in _statistics(estimate)
        },
        "p_value": estimate.p_value,
        "confidence": confidence,
        "method": estimate.ratio.method,
        "noise": None if noise is None else {"kind": type(noise).__name__.lower(), **asdict(noise)},
    }


def draw_counts(file: str, groups: tuple[Group, Group], estimate: Lift, noise: Noise | None, confidence: float) -> None:
    """The forest plot of one comparison."""
    (x, n_x), (y, n_y) = groups
    alone = relative_risk(x, y, n_x, n_y, noise=noise, confidence=confidence, population=False).interval
    inner = {"treatment": alone} if noise is not None and isinstance(alone, Interval) else {}
    save_chart(forest_plot({"treatment": estimate.ratio}, noise=inner), file)


def table_page(answer: Answer) -> None:
    """Print the findings of a private table: by group the lift, or the three statistics of all people."""
    keys, statistics = answer.columns[: -len(NAMES)], answer.columns[-len(NAMES) :]
    table = Table()
    for name in keys or ["statistic"]:
        table.add_column(Text(on_one_line(name)))
    several = are_several(answer)
    for heading in (NAMES["lift"] if keys else "value", "population", "p", *(["p adjusted"] if several else [])):
        table.add_column(heading, justify="right")
    for index, bars in enumerate(answer.intervals):
        for name, said in list(zip(statistics, NAMES.values(), strict=True))[: 1 if keys else None]:
            first = [shown(answer[key][index], None) for key in keys] or [said]
            row = [*first, shown(answer[name][index], bars.get(name)), *cells(bars, name, several=several)]
            table.add_row(*map(Text, row))
    show_table(table)
    if keys:
        say("the relative risk is 1 + lift; the difference of the rates is in --json")
    say(caption(answer))
    for note in (*notes(answer, only=statistics[: 1 if keys else None]), *empty_columns(answer)):
        say(f"note: {note}")


def empty_columns(answer: Answer) -> tuple[str, ...]:
    """Return the reason if an answer has no statistics about a population, whose columns are shown all the same."""
    return () if about_people(answer) else (NO_POPULATION,)


def draw_table(file: str, answer: Answer) -> None:
    """The forest plot of all groups."""
    save_chart(forest_of(answer, answer.columns[-2], null=1.0), file)


def plan_page(design: dict[str, Any]) -> None:
    """Print the number of people, the effect and the epsilon."""
    chances = f"found in {design['target']:.4g} of experiments, at {design['confidence']:.10g} confidence"
    if "needed" in design:
        effect = f"a relative risk of {design['ratio']:g} over a rate of {design['rate']:g}"
        say(f"People needed for {effect} to be {chances}:")
        table = number_columns("epsilon", "treatment", "control", "times as many")
        for row in design["needed"]:
            table.add_row(epsilon_text(row), f"{row['treatment']:,}", f"{row['control']:,}", f"{row['price']:.3f}")
        show_table(table)
    if "detectable" in design:
        people = " and ".join(f"{size:,.10g}" for size in design["people"])
        say(f"The least effect over a rate of {design['rate']:g} that is {chances}, with {people} people:")
        table = number_columns("epsilon", "relative risk", "lift")
        for row in design["detectable"]:
            table.add_row(epsilon_text(row), *(_figure(row[name]) for name in ("ratio", "lift")))
        show_table(table)
    if "epsilon_needed" in design:
        if design["epsilon_needed"] is None:
            say(f"A relative risk of {design['ratio']:g} cannot be detected with these people, even without privacy.")
        else:
            say(f"A relative risk of {design['ratio']:g} is detected from epsilon {design['epsilon_needed']:g} on.")


def number_columns(*names: str) -> Table:
    """A table of numbers."""
    table = Table()
    for name in names:
        table.add_column(name, justify="right")
    return table


def epsilon_text(row: dict[str, Any]) -> str:
    """The epsilon of a row of a plan."""
    return "no privacy" if row["epsilon"] is None else f"{row['epsilon']:g}"


def _statistics(estimate: Lift) -> list[tuple[str, float, Interval]]:
    rest = {"relative_risk": estimate.ratio, "risk_difference": estimate.difference}
    return [
        ("lift", estimate.value, estimate.interval),
        *((name, *_single(statistic)) for name, statistic in rest.items()),
    ]


def _single(estimate: RatioEstimate) -> tuple[float, Interval]:
    interval = estimate.interval if isinstance(estimate.interval, Interval) else Interval()
    return float(estimate.value), interval


def _and_noise(groups: tuple[Group, Group], noise: Noise | None) -> str:
    """Return the part of a sentence about noise in the intervals."""
    if noise is None:
        return "; the counts are taken as exact"
    (x, n_x), (y, n_y) = groups
    kind = f" and {type(noise).__name__} noise of size {noise.size:.4g}"
    if not (0 < x < n_x and 0 < y < n_y):
        return kind
    wider = float(width_parts(x, y, n_x, n_y, noise=noise).widening)
    return f"{kind}, which makes them {wider:.2f} times as wide"


def _figure(number: float | None) -> str:
    if number is None or math.isnan(number):
        return "none"
    return f"{number:.4g}" if math.isfinite(number) else ("∞" if number > 0 else "-∞")
