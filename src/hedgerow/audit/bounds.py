"""From how often an event happened to what no guarantee could be below: exact, at a stated confidence.

An event is a set of outcomes that was fixed before these runs were made. If it happens with probability p on one
database and q on its neighbour, a statement that is (epsilon, delta)-DP has p <= e^epsilon q + delta, and one that is
mu-GDP (with a little pure epsilon and mass beside it) has Phi^-1((p - mass) e^-pure) <= Phi^-1(q) + mu. Both are
solved for epsilon and for mu, with p at its lower and q at its upper limit (Clopper and Pearson), so that each result
is too large with probability at most twice the level of one limit.
"""

import math
from dataclasses import dataclass

from scipy.special import betainccinv, betaincinv, ndtri


@dataclass(frozen=True, slots=True)
class Tally:
    """How often an event happened: `likely` times where it is the more likely, `rare` times on the neighbour.

    Attributes:
        likely: Of `runs` on the one database.
        rare: Of `runs` on the other.
        runs: On either.
    """

    likely: int
    rare: int
    runs: int


def least_chance(count: int, runs: int, level: float) -> float:
    """A limit that the chance of an event exceeds, but for `level`.

    Example:
        >>> least_chance(0, 100, 0.01), round(least_chance(100, 100, 0.01), 4)
        (0.0, 0.955)
    """
    return float(betaincinv(count, runs - count + 1, level)) if count > 0 else 0.0


def greatest_chance(count: int, runs: int, level: float) -> float:
    """A limit that the chance of an event stays below, but for `level`.

    Example:
        >>> round(greatest_chance(0, 100, 0.01), 4)
        0.045
    """
    return float(betainccinv(count + 1, runs - count, level)) if count < runs else 1.0


def epsilon_bound(tally: Tally, delta: float, level: float) -> float:
    """An epsilon that the statement cannot be below at this delta, but for twice `level`; 0 where nothing is shown.

    Example:
        >>> round(epsilon_bound(Tally(500, 10, 1000), delta=0.0, level=1e-3), 2)
        2.93
    """
    least = least_chance(tally.likely, tally.runs, level) - delta
    return max(0.0, math.log(least / greatest_chance(tally.rare, tally.runs, level))) if least > 0.0 else 0.0


def mu_bound(tally: Tally, level: float, *, pure: float = 0.0, mass: float = 0.0) -> float:
    """A mu that the statement cannot be below, beside `pure` epsilon and `mass`, but for twice `level`.

    Example:
        >>> round(mu_bound(Tally(900, 100, 1000), level=1e-3), 2)
        2.23
    """
    least = (least_chance(tally.likely, tally.runs, level) - mass) * math.exp(-pure)
    most = greatest_chance(tally.rare, tally.runs, level)
    return max(0.0, float(ndtri(least) - ndtri(most))) if least > 0.0 and most < 1.0 else 0.0


def furthest(runs: int, delta: float, level: float) -> float:
    """The largest epsilon that so many runs can ever show: of an event that always happens, and never there."""
    return epsilon_bound(Tally(runs, 0, runs), delta, level)


def blur(runs: int, level: float) -> float:
    """How far so many runs leave mu open: a bound lies about so much below what it bounds, where that is small.

    Example:
        >>> round(blur(1000, level=1e-3), 2)
        0.25
    """
    half = runs // 2
    return float(ndtri(greatest_chance(half, runs, level)) - ndtri(least_chance(half, runs, level)))
