"""Summary of an answer: noise, price and remaining budget. It follows from the priced plan."""

from collections.abc import Sequence
from dataclasses import replace

from hedgerow.accounting.budget import Receipt, Spending
from hedgerow.answer import Mechanism, Payment, Summary
from hedgerow.expressions.nodes import describe
from hedgerow.privacy.distinct import Distinct
from hedgerow.privacy.plan import PrivatePlan, PrivateStatement
from hedgerow.privacy.ranks import Draw


def mechanisms(plan: PrivatePlan) -> tuple[Mechanism, ...]:
    """List every noisy measure of the plan, in the analyst's units."""
    listed = []
    if plan.selection is not None:
        norm = plan.bounding.groups if plan.mechanism == "laplace" else plan.bounding.groups**0.5
        listed.append(
            Mechanism(
                "people per group",
                plan.mechanism,
                plan.selection.noise.size,
                float(norm),
                float(plan.selection.threshold),
            )
        )
    listed += [
        Mechanism(c.label, plan.mechanism, c.noise.size * c.unit, c.sensitivity * c.unit)
        for c in (*plan.noisy_sums, *(total for level in plan.levels for total in level.noisy_sums))
        if c.scale
    ]
    return (
        *listed,
        *(_drawn(plan, draw) for draw in plan.draws),
        *(_values(plan, counted) for counted in plan.distinct),
    )


def _values(plan: PrivatePlan, counted: Distinct) -> Mechanism:
    level = counted.level
    norm = level.groups if plan.mechanism == "laplace" else level.groups**0.5
    named = f"different values of {describe(counted.value)}"
    if not counted.whole:
        named += f", {level.per_owner:,} of a person"
    return Mechanism(named, plan.mechanism, counted.noise.size, float(level.per_owner * norm))


def _drawn(plan: PrivatePlan, draw: Draw) -> Mechanism:
    """Describe a draw; its scale is that of the rank error, in rows."""
    named = describe(plan.bucketings[draw.bucketing].value)
    share = draw.rank.quantile
    what = ("largest" if share else "smallest") if draw.rank.extreme else f"quantile {float(share):g}"
    scale = 2 * max(share, 1 - share) * draw.reach.rows / draw.epsilon
    return Mechanism(f"{what} of {named}", "exponential", float(scale), float(draw.reach.rows))


def reused_summary(query: str, parts: Sequence[PrivatePlan], identity: str, remaining: Spending) -> Summary:
    """Return the summary of an answer that was paid for before."""
    return Summary(identity, query, _all(parts), parts[0].minimum, remaining=remaining, reused=True)


def paid_summary(query: str, statement: PrivateStatement, receipt: Receipt, estimate: Receipt | None = None) -> Summary:
    """Return the summary of a bought answer; with a size estimate that was bought first, of both charges."""
    if estimate is not None:
        return _both(
            paid_summary(query, statement, receipt), _payment("size estimate", estimate), _payment("answer", receipt)
        )
    return Summary(
        receipt.id,
        query,
        _all(statement.parts),
        statement.parts[0].minimum,
        Spending(statement.charge.epsilon, statement.charge.delta),
        receipt.share,
        receipt.remaining,
    )


def _payment(purpose: str, receipt: Receipt) -> Payment:
    return Payment(purpose, receipt.id, Spending(receipt.charge.epsilon, receipt.charge.delta), receipt.share)


def _both(summary: Summary, first: Payment, second: Payment) -> Summary:
    epsilon, delta = first.charge.epsilon + second.charge.epsilon, first.charge.delta + second.charge.delta
    return replace(summary, charge=Spending(epsilon, delta), share=first.share + second.share, payments=(first, second))


def _all(parts: Sequence[PrivatePlan]) -> tuple[Mechanism, ...]:
    return tuple(mechanism for part in parts for mechanism in mechanisms(part))
