"""Findings of an audit, computed from the runs on both neighbours."""

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
    """Guarantee that a statement claims.

    Attributes:
        epsilon: Epsilon of its own guarantee, the one on the receipt.
        delta: Likewise.
        mu: Mu of Gaussian differential privacy, if all noise is charged as such; None with Laplace noise.
        mass: The probability, besides mu, of arbitrary output.
        pure: The pure epsilon, besides mu, of discrete noise.
    """

    epsilon: float
    delta: float
    mu: float | None = None
    mass: float = 0.0
    pure: float = 0.0


@dataclass(frozen=True, slots=True)
class Judged:
    """An event, its counts in the runs by which it was not chosen, and the bound that follows.

    Attributes:
        event: Description of the event.
        likely_with: Whether it is more likely with the newcomer.
        likely: Its count on the database where it is more likely.
        rare: Its count on the other.
        runs: Number of runs on each.
        bound: Bound on epsilon, or on mu.
    """

    event: str
    likely_with: bool
    likely: int
    rare: int
    runs: int
    bound: float

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON."""
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
        words: Description of the newcomer and the group.
        people: Number of people without the newcomer.
        epsilon: The event that shows the largest epsilon; None if both databases look alike.
        mu: The event that shows the largest mu, if mu is claimed.
        off_lattice: Number of released numbers off the lattice of integer noise.
        decided: Number of released numbers for which that could be decided.
        claim: The claimed guarantee.
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
        """Lower bound on epsilon at the statement's delta."""
        return 0.0 if self.epsilon is None else self.epsilon.bound

    @property
    def mu_bound(self) -> float:
        """Lower bound on mu."""
        return 0.0 if self.mu is None else self.mu.bound

    @property
    def epsilon_of_mu(self) -> float | None:
        """The epsilon of the bound on mu at the statement's delta; None if no mu is claimed."""
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
        """Return it as plain JSON."""
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
        claim: The guarantee on its receipt.
        confidence: Probability that no bound of a correct statement exceeds its claim, all pairs together.
        runs: Number of runs on each database of each pair; half of them choose an event, half judge it.
        depth: "engine", or "release" if only the release was repeated.
        pairs: One report for each pair of neighbours.
        left_out: Kinds of pairs whose newcomer changes no measured number.
        reach: The largest epsilon that this many runs can show.
        blur: Typical distance of a bound on mu below its true value.
        seconds: Duration.
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
        """True if no finding contradicts the claim."""
        return all(pair.passed for pair in self.pairs)

    @property
    def epsilon(self) -> float:
        """The largest lower bound on epsilon at the paid delta."""
        return max((pair.epsilon_bound for pair in self.pairs), default=0.0)

    @property
    def mu(self) -> float | None:
        """The largest lower bound on mu; None if no mu is claimed."""
        return None if self.claim.mu is None else max((pair.mu_bound for pair in self.pairs), default=0.0)

    @property
    def can_tell(self) -> bool:
        """True if this many runs could show half the claimed noise, or twice the claimed sensitivity."""
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

    The choice does not depend on the runs that judge it, so each bound fails with probability at most twice `level`.
    """
    without, joined = side_by_side(*records)
    half = len(without) // 2
    learnt = without.part(0, half), joined.part(0, half)
    kept = without.part(half, len(without)), joined.part(half, len(joined))
    margin = -float(ndtri(level))
    epsilon = choose(*learnt, worth_of_epsilon(claim.delta), margin)
    mu = None if claim.mu is None else choose(*learnt, worth_of_mu, margin)
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
    """Return the guarantee that a statement claims: its own, and mu if all of its noise is charged as such."""
    cost = charge.cost
    deliberate = any(event.cost.pure and not getattr(event, "surcharge_only", False) for event in charge.events)
    mu = None if deliberate or not cost.gaussian else math.sqrt(cost.gaussian)
    return Claim(charge.epsilon, charge.delta, mu, float(cost.mass), float(cost.pure))
