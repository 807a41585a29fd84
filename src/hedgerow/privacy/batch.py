"""Several statements as one: equal releases are merged, and the budget is split where it lowers their errors most.

Statements about the same rows and keys, under the same limits, share one release: it has the aggregates of all of them,
each measured once. What is left are releases with shares of one budget. The noise of a release with a share s of mu
squared has 1/s of the variance that it would have with all of it.

Every answer is compared with itself, asked alone for the whole budget: that needs no knowledge of the data, and puts
counts of people and sums of money on one scale. If a release has the variance v_i for answer i with the whole budget,
against u_i alone, then r_i = v_i / u_i, and a share s makes it r_i / s. Two objectives:

* the weighted sum of all relative variances, sum w_i r_i / s: least at s proportional to sqrt(sum w_i r_i) over the
  answers of a release (Cauchy and Schwarz);
* the worst, max w_i r_i / s: least where all releases are equally bad, s proportional to max w_i r_i.

Privacy: shares follow from plans and weights, never from data; the releases compose as in `price`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hedgerow.errors import ParameterError
from hedgerow.plan.nodes import AggregateCall, LogicalPlan
from hedgerow.privacy.fingerprint import fingerprint
from hedgerow.privacy.plan import PrivatePlan, PrivateStatement
from hedgerow.privacy.predicted_error import number_widths
from hedgerow.privacy.price import ReleaseUse, uses_of

OBJECTIVES = ("mean", "worst")
"""Errors that a split makes least: the weighted mean of their squares, or the largest."""


@dataclass(frozen=True, slots=True)
class Member:
    """One release of one statement, as a part of a shared one.

    Attributes:
        statement: The number of the statement.
        part: The number of the release in its statement.
        own: The release as the statement alone would have it.
        calls: The positions of its aggregates in the shared release.
    """

    statement: int
    part: int
    own: PrivatePlan
    calls: tuple[int, ...]

    def inside(self, shared: PrivatePlan) -> PrivatePlan:
        """Return the shared release as one of the aggregates of this statement alone."""
        return replace(
            shared, release=self.own.release, sum_forms=tuple(shared.sum_forms[position] for position in self.calls)
        )


@dataclass(frozen=True, slots=True)
class SharedRelease:
    """A release of several statements."""

    use: ReleaseUse
    members: tuple[Member, ...]


def share_releases(statements: Sequence[tuple[LogicalPlan, PrivateStatement]]) -> list[SharedRelease]:
    """Return the releases of all statements, each once, with the aggregates of all statements that read it."""
    by_question: dict[str, list[_Use]] = {}
    for number, (logical, private) in enumerate(statements):
        for place, (use, part) in enumerate(zip(uses_of(logical), private.parts, strict=True)):
            by_question.setdefault(fingerprint(part), []).append((number, place, use, part))
    return [_merged(uses) for uses in by_question.values()]


_Use = tuple[int, int, ReleaseUse, PrivatePlan]
"""A release of a statement: the numbers of both, what is done with it, and its plan."""


def _merged(uses: Sequence[_Use]) -> SharedRelease:
    calls: dict[AggregateCall, bool] = {}
    members = []
    for number, place, use, part in uses:
        asked = [replace(call, name="") for call in use.release.calls]
        for call, alone in zip(asked, use.alone, strict=True):
            calls[call] = calls.get(call, True) and alone
        members.append(Member(number, place, part, tuple(list(calls).index(call) for call in asked)))
    named = tuple(replace(call, name=f"a{position}") for position, call in enumerate(calls))
    release = replace(uses[0][2].release, calls=named)
    levels = tuple(dict.fromkeys(level for _, _, use, _ in uses for level in _levels(use)))
    totalled = any(use.levels for _, _, use, _ in uses)
    return SharedRelease(ReleaseUse(release, tuple(calls.values()), levels if totalled else ()), tuple(members))


def _levels(use: ReleaseUse) -> tuple[tuple[int, ...], ...]:
    return use.levels or (tuple(range(len(use.release.keys))),)


def noise_cost(plan: PrivatePlan) -> float:
    """Return what the variance of a release is inversely proportional to: mu squared, or epsilon squared."""
    cost = plan.charge.cost
    return float(cost.pure) ** 2 if plan.mechanism == "laplace" else float(cost.gaussian)


def cost_ratios(shared: PrivatePlan, member: Member) -> list[float]:
    """Return, for each number of a statement, how much more the shared release must spend for the same variance."""
    dearer = noise_cost(shared) / noise_cost(member.own)
    pairs = zip(number_widths(member.inside(shared)), number_widths(member.own), strict=True)
    return [dearer * (together / alone) ** 2 for together, alone in pairs] or [1.0]


def best_shares(
    priced: PrivateStatement, shared: Sequence[SharedRelease], weights: Sequence[float], objective: str = "mean"
) -> list[float]:
    """Return the share of the budget of each release that makes the objective least.

    With Laplace noise the variance falls with the square of a share, and the roots are cube roots.

    Args:
        priced: The shared releases at some price.
        shared: The releases, with their statements.
        weights: The weight of each statement.
        objective: One of `OBJECTIVES`.
    """
    if objective not in OBJECTIVES:
        raise ParameterError(
            f"minimise must be one of {', '.join(OBJECTIVES)}.", code="bad-choice", hint="Leave it out."
        )
    is_pure, needs = priced.parts[0].mechanism == "laplace", list[float]()
    for release, part in zip(shared, priced.parts, strict=True):
        losses = [
            weights[member.statement] * math.fsum(ratios) / len(ratios)
            for member in release.members
            for ratios in [cost_ratios(part, member)]
        ]
        if objective == "mean":
            needs.append(math.fsum(losses) ** (1 / 3 if is_pure else 1 / 2))
        else:
            needs.append(max(losses) ** (1 / 2 if is_pure else 1))
    whole = math.fsum(needs)
    return [need / whole for need in needs]


def least_costs(
    priced: PrivateStatement, shared: Sequence[SharedRelease], needed: Mapping[int, PrivateStatement]
) -> list[float | None]:
    """Return the mu squared that each release must spend so that statements have the errors that they have alone.

    Args:
        priced: The shared releases at some price.
        shared: The releases, with their statements.
        needed: By statement, the price at which it has the wanted error alone.

    Returns:
        mu squared by release; None where no statement of a release wants an error.
    """
    wanted = list[float | None]()
    for release, part in zip(shared, priced.parts, strict=True):
        amounts = []
        for member in release.members:
            if member.statement in needed:
                alone = needed[member.statement].parts[member.part]
                amounts.append(noise_cost(alone) * max(cost_ratios(part, member)))
        wanted.append(max(amounts, default=None))
    return wanted


def accuracy_ratio(together: Sequence[PrivatePlan], alone: PrivateStatement) -> float:
    """Return by which factor a statement alone must be more accurate, to be as accurate as in a batch.

    It is the largest ratio, over its numbers, of the half-width alone to that in the batch.
    """
    ratios = [
        own / shared
        for part, own_part in zip(together, alone.parts, strict=True)
        for shared, own in zip(number_widths(part), number_widths(own_part), strict=True)
    ]
    return max(ratios, default=1.0)
