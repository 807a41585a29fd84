"""Ours against the best of the others: which, and by how much, with a 95 % interval.

The best is chosen by the *expected* error of documented mechanisms (`peers/expected.py`), or by what was measured here
where a system has none written down; never by the luckiest of several measurements. The ratio is then to its measured
error where it was asked as often as ours, and else to its expected error. On a ledger for a few statements the others
may use either kind of noise; on one for many, Gaussian noise.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from peers.expected import GAUSSIAN, LAPLACE, Question, gaussian_errors, laplace_errors
from tpch_errors import Trials
from tpch_queries import FEW, MANY

from hedgerow.ledger import caps_for

NORMAL = 1.959964
"""The quantile of a 95 % interval."""

WANTED = {FEW: (1 / 1.5, 7), MANY: (0.8, 5)}
"""The ratio that is wanted, on how many of the ten queries; the others may not be above 1."""

ENOUGH = 30
"""Answers of a system without an expected error, below which it takes no part: a lucky draw is no rival."""

STATEMENTS = 100
SHARED = ((1.0, 1e-6), (3.0, 1e-6), (10.0, 1e-6))
"""Budgets that so many statements share evenly."""

Measured = Mapping[tuple[str, str, float], Trials]
"""Measurement of a system, for a query, at an epsilon."""


@dataclass(frozen=True)
class Comparison:
    """One query at one epsilon. `basis` says what the best rival's error is: "measured" or "expected"."""

    ledger: str
    query: str
    epsilon: float
    ours: float
    rival: str
    rival_error: float
    basis: str
    ratio: float
    low: float
    high: float
    lost: int

    @property
    def not_above(self) -> bool:
        """Return True if the interval reaches down to 1."""
        return self.low <= 1.0

    @property
    def wanted(self) -> bool:
        """Return True if the ratio is the wanted one."""
        return self.ratio <= WANTED[self.ledger][0]


@dataclass(frozen=True)
class SharedBudget:
    """One query as one of `STATEMENTS` that share a budget: our error and the best rival's."""

    query: str
    epsilon: float
    delta: float
    ours: float
    rival: str
    rival_error: float

    @property
    def ratio(self) -> float:
        """Ours over the best rival's."""
        return self.ours / self.rival_error


def expected_errors(question: Question, epsilon: float) -> dict[str, float]:
    """By system, where it can answer the question, for both kinds of noise."""
    return laplace_errors(question, epsilon) | gaussian_errors(question, epsilon)


def compare(ledger: str, question: Question, epsilon: float, ours: Trials, measured: Measured) -> Comparison:
    """Ours against the best of the others at the same epsilon and delta."""
    rivals = gaussian_errors(question, epsilon) if ledger == MANY else expected_errors(question, epsilon)
    known = {name for name, _, _ in measured} - {*LAPLACE, *GAUSSIAN} if ledger == FEW else set()
    for name in known:
        trials = measured.get((name, question.name, epsilon))
        if trials is not None and len(trials.errors) >= ENOUGH:
            rivals[name] = trials.mean
    best = min(rivals, key=lambda name: rivals[name])
    trials = measured.get((best, question.name, epsilon))
    enough = trials is not None and (best in known or len(trials.errors) >= len(ours.errors))
    error = trials.mean if enough and trials is not None else rivals[best]
    relative = trials.deviation / trials.mean if enough and trials is not None and trials.mean else 0.0
    ratio, low, high = _interval(ours, error, relative, question)
    basis = "measured" if enough else "expected"
    return Comparison(ledger, question.name, epsilon, ours.mean, best, error, basis, ratio, low, high, ours.lost)


def shared_budgets(questions: Sequence[Question], ours: Mapping[tuple[str, float], Trials]) -> list[SharedBudget]:
    """Every query as one of many statements in one budget, by each system's own accountant.

    Our noise is in proportion to 1 / mu, and the ledger divides the sum of mu squared, so the error measured at an
    epsilon of 1 is scaled to the share.
    """
    rows = []
    for epsilon, delta in SHARED:
        share = float(caps_for(epsilon, delta).cost.gaussian) / STATEMENTS
        for question in questions:
            trials = ours[question.name, 1.0]
            rivals = gaussian_errors(question, epsilon, statements=STATEMENTS, delta=delta)
            best = min(rivals, key=lambda name: rivals[name])
            error = trials.mean * math.sqrt(trials.mu_squared / share)
            rows.append(SharedBudget(question.name, epsilon, delta, error, best, rivals[best]))
    return rows


def _interval(ours: Trials, error: float, relative: float, question: Question) -> tuple[float, float, float]:
    """The ratio and its interval, by the logarithm of both means.

    Where every trial of ours was exact there is no logarithm. The rate of others is then below 3.69 in as many trials
    (the exact bound), and each such trial would be off by one.
    """
    if ours.mean == 0.0:
        most = -math.log(0.025) / len(ours.errors) * 100 / abs(question.cells[0].truth)
        return 0.0, 0.0, most / error if error else math.inf
    ratio = ours.mean / error if error else math.inf
    width = math.exp(NORMAL * math.hypot(ours.deviation / ours.mean, relative))
    return ratio, ratio / width, ratio * width
