"""Several statements as one: equal releases are merged, and the budget is split where it lowers their errors most.

Statements about the same rows and keys, under the same limits, share one release: it has the aggregates of all of them,
each measured once. The merged releases share one budget. The noise of a release with a share s of mu
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
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast

from hedgerow.accounting.events import AnyEvent, pure_epsilon_of
from hedgerow.errors import ParameterError
from hedgerow.plan.nodes import AggregateCall, LogicalPlan, Named, Release
from hedgerow.privacy.keys import KeyRule
from hedgerow.privacy.marginals import rows_of
from hedgerow.privacy.plan import PrivatePlan, PrivateStatement, fingerprint
from hedgerow.privacy.predicted_error import comparable_widths, level_plan
from hedgerow.privacy.price import ReleaseUse, uses_of
from hedgerow.privacy.tables import ShownNumber

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
        keys: The positions of its keys there, where it is one of several tables that are made of the same groups.
        levels: Its grouping sets, likewise; none if it has no totals of its own.
    """

    statement: int
    part: int
    own: PrivatePlan
    calls: tuple[int, ...]
    keys: tuple[int, ...] | None = None
    levels: tuple[tuple[int, ...], ...] = ()

    def inside(self, shared: PrivatePlan) -> PrivatePlan:
        """Return the shared release as one of the aggregates, and by the keys, of this statement alone."""
        sum_forms = tuple(shared.sum_forms[position] for position in self.calls)
        if self.keys is None:
            return replace(shared, release=self.own.release, sum_forms=sum_forms)
        table = level_plan(shared, tuple(sorted(self.keys)))
        return replace(
            table,
            release=self.own.release,
            sum_forms=sum_forms,
            keys=self.own.keys,
            selection=shared.selection,
            made_of=self.keys,
            finer=shared if self.levels else None,
        )


@dataclass(frozen=True, slots=True)
class SharedRelease:
    """A release of several statements."""

    use: ReleaseUse
    members: tuple[Member, ...]

    @property
    def is_joined(self) -> bool:
        """True if its tables are made of the same groups."""
        return self.members[0].keys is not None

    def of_each_statement(self) -> list["SharedRelease"]:
        """Return the release for every statement by itself, with its own aggregates alone."""
        releases = []
        for member in self.members:
            calls = tuple(self.use.release.calls[position] for position in member.calls)
            release = replace(self.use.release, calls=calls)
            use = replace(self.use, release=release, alone=tuple(self.use.alone[position] for position in member.calls))
            releases.append(SharedRelease(use, (replace(member, calls=tuple(range(len(calls)))),)))
        return releases

    def numbers(self, weights: Mapping[tuple[int, int], float]) -> list[ShownNumber]:
        """Return the numbers of the tables of a joined release, with their weights by statement and position."""
        return [
            ShownNumber(level, call, weights[member.statement, index])
            for member in self.members
            if member.keys is not None
            for level in member.levels or (tuple(sorted(member.keys)),)
            for index, call in enumerate(member.calls)
        ]


def share_releases(statements: Sequence[tuple[LogicalPlan, PrivateStatement]]) -> list[SharedRelease]:
    """Return the releases of all statements, each once, with the aggregates of all statements that read it."""
    by_question: dict[str, list[_Use]] = {}
    for number, (logical, private) in enumerate(statements):
        for index, (use, part) in enumerate(zip(uses_of(logical), private.parts, strict=True)):
            by_question.setdefault(fingerprint(part), []).append((number, index, use, part))
    return [_merged(uses) for uses in by_question.values()]


_Use = tuple[int, int, ReleaseUse, PrivatePlan]
"""A release of a statement: the numbers of both, what is done with it, and its plan."""


def _merged(uses: Sequence[_Use]) -> SharedRelease:
    calls: dict[AggregateCall, bool] = {}
    members = []
    for number, index, use, part in uses:
        unnamed_calls = [replace(call, name="") for call in use.release.calls]
        for call, alone in zip(unnamed_calls, use.alone, strict=True):
            calls[call] = calls.get(call, True) and alone
        members.append(Member(number, index, part, tuple(list(calls).index(call) for call in unnamed_calls)))
    named = tuple(replace(call, name=f"a{position}") for position, call in enumerate(calls))
    release = replace(uses[0][2].release, calls=named)
    levels = tuple(dict.fromkeys(level for _, _, use, _ in uses for level in _levels(use)))
    totalled = any(use.levels for _, _, use, _ in uses)
    return SharedRelease(ReleaseUse(release, tuple(calls.values()), levels if totalled else ()), tuple(members))


def same_rows(shared: Sequence[SharedRelease], apart: Collection[int] = ()) -> list[list[int]]:
    """Return the positions of releases that are tables about the same rows; only where there are several.

    Args:
        shared: The releases.
        apart: Positions of those that are left out.
    """
    clusters: dict[tuple[Release, int], list[int]] = {}
    for index, one in enumerate(shared):
        if index not in apart:
            own = one.members[0].own
            clusters.setdefault((rows_of(own.release), own.minimum), []).append(index)
    return [
        members
        for members in clusters.values()
        if len(members) > 1 and any(shared[index].use.release.keys for index in members)
    ]


def beside_each_other(shared: Sequence[SharedRelease], clusters: Sequence[Sequence[int]]) -> list[SharedRelease]:
    """Return the releases, with a number that several tables of a cluster show made of the same sums in all of them.

    Args:
        shared: The releases.
        clusters: Positions of tables about the same rows (`same_rows`).
    """
    uses = [release.use for release in shared]
    for members in clusters:
        calls = dict.fromkeys(replace(call, name="") for index in members for call in uses[index].release.calls)
        for index in members:
            uses[index] = replace(uses[index], beside=tuple(calls))
    return [replace(release, use=use) for release, use in zip(shared, uses, strict=True)]


def can_join(one: SharedRelease) -> bool:
    """Return True if a table can be made of the groups of several: it has plain keys."""
    release = one.members[0].own.release
    keys = [key.expr for key in release.keys]
    return release.domain is None and len(set(keys)) == len(keys)


def tests_groups(one: SharedRelease) -> bool:
    """Return True if the groups of a table are tested: by size, or because nobody declared its keys."""
    own = one.members[0].own
    return own.minimum > 1 or own.keys.rule is KeyRule.SELECTED


def one_set_of_groups(shared: Sequence[SharedRelease], clusters: Sequence[Sequence[int]]) -> list[SharedRelease]:
    """Return the releases, with those of each cluster as one: their tables are made of the same shown groups.

    The test is made once, on the groups of all keys together, and every table is measured as the grouping set of one
    statement is (`levels`): a group that is held back is in no table, so that all of them are about the same rows, and
    add up.

    Args:
        shared: The releases.
        clusters: Positions of tables about the same rows (`same_rows`).
    """
    used = {index for members in clusters for index in members}
    joined = [_joined([shared[index] for index in members]) for members in clusters]
    return [*(one for index, one in enumerate(shared) if index not in used), *joined]


def _joined(tables: Sequence[SharedRelease]) -> SharedRelease:
    widest = max(tables, key=lambda table: len(table.use.release.keys))
    exprs = list(dict.fromkeys(key.expr for table in (widest, *tables) for key in table.use.release.keys))
    calls = list(dict.fromkeys(replace(call, name="") for table in tables for call in table.use.release.calls))
    members, levels = list[Member](), list[tuple[int, ...]]()
    for table in tables:
        keys = tuple(exprs.index(key.expr) for key in table.use.release.keys)
        own = [calls.index(replace(call, name="")) for call in table.use.release.calls]
        shown = tuple(tuple(sorted(keys[i] for i in level)) for level in _levels(table.use))
        levels += shown
        members += [
            replace(
                member,
                calls=tuple(own[position] for position in member.calls),
                keys=keys,
                levels=shown if table.use.levels else (),
            )
            for member in table.members
        ]
    by_keys = [table.use.release for table in tables if table.use.release.keys] or [widest.use.release]
    release = replace(
        widest.use.release,
        limits=max((one.limits for one in by_keys), key=lambda limits: limits.max_groups or math.inf),
        keys=tuple(Named(f"k{i}", expr) for i, expr in enumerate(exprs)),
        calls=tuple(replace(call, name=f"a{i}") for i, call in enumerate(calls)),
        settled=(),
    )
    use = ReleaseUse(release, (False,) * len(calls), tuple(dict.fromkeys(levels)), beside=tuple(calls))
    return SharedRelease(use, tuple(members))


def _levels(use: ReleaseUse) -> tuple[tuple[int, ...], ...]:
    return use.levels or (tuple(range(len(use.release.keys))),)


def noise_cost(plan: PrivatePlan) -> float:
    """Return what the variance of a release is inversely proportional to: mu squared, or epsilon squared.

    Pure epsilon counts whichever sum of the ledger it is charged to.
    """
    if plan.mechanism == "laplace":
        return float(sum(map(pure_epsilon_of, cast("Sequence[AnyEvent]", plan.charge.events)), Fraction(0))) ** 2
    return float(plan.charge.cost.gaussian)


def cost_ratios(shared: PrivatePlan, member: Member) -> list[float]:
    """Return, for each number of a statement, how much more the shared release must spend for the same variance."""
    dearer = noise_cost(shared) / noise_cost(member.own)
    pairs = zip(comparable_widths(member.inside(shared)), comparable_widths(member.own), strict=True)
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
        for shared, own in zip(comparable_widths(part), comparable_widths(own_part), strict=True)
    ]
    return max(ratios, default=1.0)
