"""Ours against the best of the others: which, and by how much, with a 95 % interval.

The best is chosen by the *expected* error of documented mechanisms (`peers/expected.py`), or by what was measured here
where a system has none written down; never by the luckiest of several measurements. The ratio is then to its measured
error where it was asked as often as ours, and else to its expected error.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from peers.expected import OURS, SYSTEMS, Question
from tpch_errors import Trials
from tpch_queries import EASY

NORMAL = 1.959964
"""The quantile of a 95 % interval."""

WANTED = 1 / 1.5
"""Where a query leaves room to do better: the largest ratio that meets the target."""

Measured = Mapping[tuple[str, str, float], Trials]
"""What was measured of a system, for a query, at an epsilon."""


@dataclass(frozen=True)
class Comparison:
    """One query at one epsilon. `basis` says what the best rival's error is: "measured" or "expected"."""

    query: str
    epsilon: float
    ours: float
    ours_expected: float
    rival: str
    rival_error: float
    basis: str
    ratio: float
    low: float
    high: float
    lost: int

    @property
    def met(self) -> bool:
        """Whether the target is met."""
        return self.low <= 1.0 if self.query in EASY else self.ratio <= WANTED

    @property
    def met_in_expectation(self) -> bool:
        """Whether it would be without luck, good or bad."""
        ratio = self.ours_expected / self.rival_error
        return ratio <= 1.0 + 1e-9 if self.query in EASY else ratio <= WANTED


def expected_errors(question: Question, epsilon: float) -> dict[str, float]:
    """By system, where it can answer the question."""
    found = {name: mechanism(question, epsilon) for name, mechanism in SYSTEMS.items()}
    return {name: error for name, error in found.items() if not math.isnan(error)}


def compare(question: Question, epsilon: float, ours: Trials, measured: Measured) -> Comparison:
    """Ours against the best of the others."""
    expected = expected_errors(question, epsilon)
    rivals = {name: error for name, error in expected.items() if name != OURS}
    known = {name for name, _, _ in measured} - set(SYSTEMS)
    for name in known:
        trials = measured.get((name, question.name, epsilon))
        if trials is not None and trials.errors:
            rivals[name] = trials.mean
    best = min(rivals, key=lambda name: rivals[name])
    trials = measured.get((best, question.name, epsilon))
    enough = trials is not None and len(trials.errors) >= len(ours.errors)
    error = trials.mean if enough and trials is not None else rivals[best]
    spread = trials.deviation / trials.mean if enough and trials is not None and trials.mean else 0.0
    ratio, low, high = _interval(ours, error, spread, question)
    return Comparison(
        question.name,
        epsilon,
        ours.mean,
        expected[OURS],
        best,
        error,
        "measured" if enough or best in known else "expected",
        ratio,
        low,
        high,
        ours.lost,
    )


def _interval(ours: Trials, error: float, spread: float, question: Question) -> tuple[float, float, float]:
    """The ratio and its interval, by the logarithm of both means.

    Where every trial of ours was exact there is no logarithm. The rate of others is then below 3.69 in as many trials
    (the exact bound), and each such trial would be off by one.
    """
    if ours.mean == 0.0:
        most = -math.log(0.025) / len(ours.errors) * 100 / abs(question.cells[0].truth)
        return 0.0, 0.0, most / error if error else math.inf
    ratio = ours.mean / error if error else math.inf
    width = math.exp(NORMAL * math.hypot(ours.deviation / ours.mean, spread))
    return ratio, ratio / width, ratio * width
