"""The receipt of an answer, from a priced plan."""

from collections.abc import Sequence

from hedgerow.answer import Mechanism, Summary
from hedgerow.budget import Receipt, Spending
from hedgerow.distributions import Gaussian, Noise
from hedgerow.privacy.plan import PrivatePlan, PrivateStatement


def mechanisms(plan: PrivatePlan) -> tuple[Mechanism, ...]:
    """Every noisy measure of the plan, in the analyst's units."""
    found = []
    if plan.selection is not None:
        spread = plan.bounding.groups if plan.mechanism == "laplace" else plan.bounding.groups**0.5
        found.append(
            Mechanism(
                "people per group",
                plan.mechanism,
                scale_of(plan.selection.noise),
                float(spread),
                float(plan.selection.threshold),
            )
        )
    found += [
        Mechanism(c.label, plan.mechanism, scale_of(c.noise) * c.unit, c.sensitivity * c.unit) for c in plan.coordinates
    ]
    return tuple(found)


def scale_of(noise: Noise) -> float:
    """The one number of a noise: standard deviation, or scale."""
    return noise.sigma if isinstance(noise, Gaussian) else noise.scale


def reused(query: str, parts: Sequence[PrivatePlan], identity: str, remaining: Spending) -> Summary:
    """What the analyst is told about an answer that was paid for before."""
    return Summary(identity, query, _all(parts), parts[0].minimum, remaining=remaining, reused=True)


def summary(query: str, statement: PrivateStatement, receipt: Receipt) -> Summary:
    """What the analyst is told about cost and noise."""
    return Summary(
        receipt.id,
        query,
        _all(statement.parts),
        statement.parts[0].minimum,
        Spending(statement.charge.epsilon, statement.charge.delta),
        receipt.share,
        receipt.remaining,
    )


def _all(parts: Sequence[PrivatePlan]) -> tuple[Mechanism, ...]:
    return tuple(mechanism for part in parts for mechanism in mechanisms(part))
