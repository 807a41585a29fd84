"""From runs on two neighbours to what they show about the statement's claim."""

import math
from collections.abc import Callable

from scipy.special import ndtri

from hedgerow.accounting.budget import Charge
from hedgerow.audit.bounds import Tally, epsilon_bound, mu_bound
from hedgerow.audit.events import AuditEvent, choose, worth_of_epsilon, worth_of_mu
from hedgerow.audit.pairs import Pair
from hedgerow.audit.record import Record, Sample, side_by_side
from hedgerow.audit.report import Claim, Judged, PairReport


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
        _judged(epsilon, kept, lambda tally: epsilon_bound(tally, claim.delta, level)),
        _judged(mu, kept, lambda tally: mu_bound(tally, level, pure=claim.pure, mass=claim.mass)),
        sum(record.off_lattice for record in records),
        sum(record.decided for record in records),
        claim,
    )


def _judged(event: AuditEvent | None, kept: tuple[Sample, Sample], bound: Callable[[Tally], float]) -> Judged | None:
    if event is None:
        return None
    tally = event.tally(*kept)
    return Judged(event.words, event.with_newcomer, tally.likely, tally.rare, tally.runs, bound(tally))


def claim_of(charge: Charge) -> Claim:
    """What a statement says about itself: its own guarantee, and mu where all of its noise is charged as such."""
    cost = charge.cost
    deliberate = any(event.cost.pure and not getattr(event, "surcharge_only", False) for event in charge.events)
    mu = None if deliberate or not cost.gaussian else math.sqrt(cost.gaussian)
    return Claim(charge.epsilon, charge.delta, mu, float(cost.mass), float(cost.pure))
