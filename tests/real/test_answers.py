"""Real questions about real data: answers hold the exact ones over bounded data, on every source alike."""

import math

import pytest

from ..conformance.tables import merged
from ..conformance.test_queries import measured, planned
from ..internals import session_of
from .dataset import SOURCES
from .datasets import DATASETS

FALSE_ALARM = 1e-12
"""Rate at which a single interval may miss. There are some three thousand of them."""

APPROXIMATE = 2
"""An approximate interval promises less: the exact number lies within so many half-widths."""

ROUNDING = 1e-9
"""Error that floating-point sums of the exact answer may have, relative to the number."""

OTHERS = SOURCES[1:]
CASES = [pytest.param(name, case, id=f"{name}-{case}") for name, data in DATASETS.items() for case in data.questions]
ANSWERED = [
    pytest.param(*case.values, kind, id=f"{case.id}-{kind}")
    for place, case in enumerate(CASES)
    for kind in ("duckdb", OTHERS[place % len(OTHERS)])
]
"""Each question is answered from DuckDB and from one other source, in turn."""

COMPARED = [
    pytest.param(
        *case.values, kind, id=f"{case.id}-{kind}", marks=[pytest.mark.slow] if place % len(OTHERS) != turn else []
    )
    for place, case in enumerate(CASES)
    for turn, kind in enumerate(OTHERS)
]
"""Each question is compared before the noise on DuckDB and on one other source, in turn; `make slow` takes all four."""


@pytest.mark.parametrize(("name", "question", "kind"), ANSWERED)
def test_an_answer_holds_the_exact_one_over_bounded_data(sources, name, question, kind):
    data = sources(name)
    answer = data[kind].sql(question.text, confidence=1 - FALSE_ALARM, **question.options)
    exact = {row[: question.keys]: row[question.keys :] for row in data.exact(question)}
    largest = [max(map(size, column), default=0) for column in zip(*exact.values(), strict=True)]
    shown = 0
    for row, intervals in zip(map(tuple, answer), answer.intervals, strict=True):
        bars = [intervals.get(column) for column in answer.columns[question.keys :]]
        if question.least is not None and any(is_held_back(bar) for bar in bars):
            continue
        cells = zip(row[question.keys :], bars, exact[row[: question.keys]], largest, strict=True)
        assert all(holds(*cell, within=question.within) for cell in cells), (row, bars, exact[row[: question.keys]])
        shown += 1
    assert shown >= (len(exact) if question.least is None else question.least)


@pytest.mark.parametrize(("name", "question", "kind"), COMPARED)
def test_every_source_has_the_same_integers_before_the_noise(sources, name, question, kind):
    data = sources(name)
    backends = {kind: session_of(data[kind]).backend for kind in ("duckdb", kind)}
    enforced = backends["duckdb"].schema()

    def integers(kind):
        schema = merged(backends[kind].schema(), enforced) if kind == "sqlite" else enforced
        parts = planned(schema, question.text, catalog=session_of(data[kind]).catalog)
        return [measured(backends[kind], part) for part in parts]

    assert integers(kind) == integers("duckdb")


def size(value):
    return abs(value) if isinstance(value, int | float) else 0


def is_held_back(bar):
    return bar is not None and bar.reason == "held-back"


def holds(value, bar, exact, largest, *, within):
    """True if a released number is as near to the exact one as its interval says, and the interval says enough."""
    if bar is None:
        return value == exact
    if bar.upper - bar.lower > within * largest + 1:
        return False
    slack = ROUNDING * abs(exact)
    if bar.kind == "approximate":
        return abs(value - exact) <= APPROXIMATE * (bar.upper - bar.lower) / 2 + slack
    return bar.lower - slack <= exact <= bar.upper + slack and not math.isnan(value)
