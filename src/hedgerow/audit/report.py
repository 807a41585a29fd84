"""Findings of an audit, and how runs on two neighbours become one."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scipy.special import ndtri

from hedgerow.accounting import gaussian_epsilon
from hedgerow.accounting.budget import Charge
from hedgerow.audit.events import AuditEvent, Tally, choose, epsilon_bound, mu_bound, worth_of_epsilon, worth_of_mu
from hedgerow.audit.pairs import Pair
from hedgerow.audit.record import Record, Sample, side_by_side


@dataclass(frozen=True, slots=True)
class Claim:
    """Claim of a statement about itself.

    Attributes:
        epsilon: Of its own guarantee, the one on the receipt.
        delta: Likewise.
        mu: Of Gaussian differential privacy, where all noise is charged as such; None with Laplace noise.
        mass: The probability beside mu with which anything may happen.
        pure: The pure epsilon beside mu, for what integer noise owes.
    """

    epsilon: float
    delta: float
    mu: float | None = None
    mass: float = 0.0
    pure: float = 0.0


@dataclass(frozen=True, slots=True)
class Judged:
    """An event, how often it happened in the runs that it was not chosen by, and the bound that follows.

    Attributes:
        event: In words.
        likely_with: Whether it is more likely with the newcomer.
        likely: How often it happened on the database where it is more likely.
        rare: How often on the other.
        runs: On each.
        bound: Of epsilon, or of mu.
    """

    event: str
    likely_with: bool
    likely: int
    rare: int
    runs: int
    bound: float

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        counts = (self.likely, self.rare) if self.likely_with else (self.rare, self.likely)
        return {
            "event": self.event,
            "bound": self.bound,
            "runs": self.runs,
            "with_newcomer": counts[0],
            "without_newcomer": counts[1],
        }


@dataclass(frozen=True, slots=True)
class PairReport:
    """One pair of neighbours.

    Attributes:
        kind: A short name of the newcomer.
        words: Who comes, and where.
        people: How many there are without the newcomer.
        epsilon: The event that shows the largest epsilon; None where both databases look alike.
        mu: The event that shows the largest mu, where mu is claimed.
        off_lattice: How many released numbers were not where integer noise puts them.
        decided: Of how many this could be said.
        claim: What the statement says.
    """

    kind: str
    words: str
    people: int
    epsilon: Judged | None
    mu: Judged | None
    off_lattice: int
    decided: int
    claim: Claim

    @property
    def epsilon_bound(self) -> float:
        """The statement is not private with any smaller epsilon at its delta."""
        return 0.0 if self.epsilon is None else self.epsilon.bound

    @property
    def mu_bound(self) -> float:
        """The statement is not mu-GDP with any smaller mu."""
        return 0.0 if self.mu is None else self.mu.bound

    @property
    def epsilon_of_mu(self) -> float | None:
        """The epsilon that the bound of mu means at the statement's delta; None where no mu is claimed."""
        if self.claim.mu is None or not 0.0 < self.claim.delta < 1.0:
            return None
        return gaussian_epsilon(self.mu_bound, self.claim.delta) if self.mu_bound > 0.0 else 0.0

    @property
    def findings(self) -> tuple[str, ...]:
        """Contradictions of the claim, in words."""
        contradictions = []
        if self.epsilon_bound > self.claim.epsilon:
            contradictions.append(
                f"epsilon is at least {self.epsilon_bound:.3g}, and {self.claim.epsilon:.3g} was claimed"
            )
        if self.claim.mu is not None and self.mu_bound > self.claim.mu:
            contradictions.append(f"mu is at least {self.mu_bound:.3g}, and {self.claim.mu:.3g} was claimed")
        if self.off_lattice:
            contradictions.append(
                f"{self.off_lattice:,} of {self.decided:,} released numbers are off the lattice of their noise"
            )
        return tuple(contradictions)

    @property
    def passed(self) -> bool:
        """True if nothing contradicts the claim."""
        return not self.findings

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "kind": self.kind,
            "words": self.words,
            "people": self.people,
            "passed": self.passed,
            "findings": list(self.findings),
            "epsilon": {"bound": self.epsilon_bound, "shown_by": _judged(self.epsilon)},
            "mu": None
            if self.claim.mu is None
            else {"bound": self.mu_bound, "epsilon": self.epsilon_of_mu, "shown_by": _judged(self.mu)},
            "off_lattice": {"numbers": self.off_lattice, "of": self.decided},
        }


def _judged(judged: Judged | None) -> dict[str, Any] | None:
    return None if judged is None else judged.to_dict()


@dataclass(frozen=True, slots=True)
class AuditReport:
    """Findings of an audit.

    Attributes:
        query: The statement.
        claim: What it says about itself: the guarantee on its receipt.
        confidence: How surely no bound of a statement that keeps its claim exceeds it, all pairs together.
        runs: On each database of each pair; half of them choose an event, half judge it.
        depth: "engine", or "release" where only the release was repeated.
        pairs: One report for each pair of neighbours.
        left_out: Pairs whose newcomer changes nothing that is measured, by kind.
        reach: The largest epsilon that so many runs can show.
        blur: How far so many runs leave mu open.
        seconds: How long it took.
    """

    query: str
    claim: Claim
    confidence: float
    runs: int
    depth: str
    pairs: tuple[PairReport, ...]
    left_out: tuple[str, ...]
    reach: float
    blur: float
    seconds: float

    @property
    def passed(self) -> bool:
        """True if nothing that was found contradicts the claim."""
        return all(pair.passed for pair in self.pairs)

    @property
    def epsilon(self) -> float:
        """The largest lower bound on epsilon at the paid delta."""
        return max((pair.epsilon_bound for pair in self.pairs), default=0.0)

    @property
    def mu(self) -> float | None:
        """The largest lower bound on mu; None where no mu is claimed."""
        return None if self.claim.mu is None else max((pair.mu_bound for pair in self.pairs), default=0.0)

    @property
    def can_tell(self) -> bool:
        """True if so many runs could show that there is half the noise, or twice the person, that was claimed."""
        return self.reach > self.claim.epsilon if self.claim.mu is None else self.blur < self.claim.mu

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line."""
        claim = self.claim
        return {
            "query": self.query,
            "passed": self.passed,
            "claim": {"epsilon": claim.epsilon, "delta": claim.delta, "mu": claim.mu},
            "bound": {"epsilon": self.epsilon, "mu": self.mu},
            "confidence": self.confidence,
            "runs": self.runs,
            "depth": self.depth,
            "reach": self.reach,
            "blur": self.blur,
            "pairs": [pair.to_dict() for pair in self.pairs],
            "left_out": list(self.left_out),
            "seconds": self.seconds,
        }


def judge(pair: Pair, records: tuple[Record, Record], claim: Claim, level: float) -> PairReport:
    """Choose events on the first half of the runs, and judge them on the second.

    What is chosen does not depend on the runs that judge it, so each bound fails with probability at most twice
    `level`.
    """
    without, joined = side_by_side(*records)
    half = len(without) // 2
    learnt = without.part(0, half), joined.part(0, half)
    kept = without.part(half, len(without)), joined.part(half, len(joined))
    careful = -float(ndtri(level))
    epsilon = choose(*learnt, worth_of_epsilon(claim.delta), careful)
    mu = None if claim.mu is None else choose(*learnt, worth_of_mu, careful)
    return PairReport(
        pair.kind,
        pair.words,
        pair.crowd.size,
        _judge_event(epsilon, kept, lambda tally: epsilon_bound(tally, claim.delta, level)),
        _judge_event(mu, kept, lambda tally: mu_bound(tally, level, pure=claim.pure, mass=claim.mass)),
        sum(record.off_lattice for record in records),
        sum(record.decided for record in records),
        claim,
    )


def _judge_event(
    event: AuditEvent | None, kept: tuple[Sample, Sample], bound: Callable[[Tally], float]
) -> Judged | None:
    if event is None:
        return None
    tally = event.tally(*kept)
    return Judged(event.words, event.with_newcomer, tally.likely, tally.rare, tally.runs, bound(tally))


def claim_of(charge: Charge) -> Claim:
    """Return a statement's claim about itself: its own guarantee, and mu where all of its noise is charged as such."""
    cost = charge.cost
    deliberate = any(event.cost.pure and not getattr(event, "surcharge_only", False) for event in charge.events)
    mu = None if deliberate or not cost.gaussian else math.sqrt(cost.gaussian)
    return Claim(charge.epsilon, charge.delta, mu, float(cost.mass), float(cost.pure))
