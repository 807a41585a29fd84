"""The price of a batch: what its statements share, which tables are measured together, and each one's share.

What statements share is bought once (`privacy.batch`). Tables about the same rows are measured together where that is
more accurate (`privacy.marginals`), or made of the same groups (`privacy.tables`), so that they add up.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from hedgerow.errors import ParameterError
from hedgerow.execution.public_tables import known_keys
from hedgerow.execution.session import bought_level
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.privacy.batch import (
    SharedRelease,
    beside_each_other,
    best_shares,
    can_join,
    one_set_of_groups,
    same_rows,
    share_releases,
    tests_groups,
)
from hedgerow.privacy.marginals import LARGER, pool_marginals
from hedgerow.privacy.plan import PrivatePlan, PrivateStatement
from hedgerow.privacy.predicted_error import comparable_widths
from hedgerow.privacy.price import price_uses
from hedgerow.privacy.tables import adds_up, has_large_groups, measure_tables
from hedgerow.session.batch_targets import BatchTargets
from hedgerow.session.bound_batch import BoundBatch

ROUNDS = 25
"""Maximum number of rounds in which weights of tables are raised; then the tables are measured apart."""

MOST_RAISED = 10.0
"""Largest ratio of errors for which a weight is raised in a round."""

LEAST_TESTED, MOST_TESTED = 0.01, 0.25
"""Smallest and largest part of a budget that tests groups."""

NO_LARGER = 1.005
"""Largest ratio of a predicted error together to the error apart that counts as "no larger"."""

PRICE_OF_ADDING_UP = 1.15
"""Largest such ratio at which the tables of a publication are made of the same groups, so that they add up."""

SAME_SIZE = 1e-3
"""Relative difference below which two sizes from which groups are shown count as equal."""

Number = tuple[int, int]
"""A number of a batch: its statement, and its position in it."""


@dataclass(frozen=True)
class PricedBatch:
    """The shared releases at their price."""

    shared: Sequence[SharedRelease]
    logical: LogicalPlan
    private: PrivateStatement

    def parts(self, number: int, plans: Sequence[PrivatePlan]) -> list[PrivatePlan]:
        """Return the releases of one statement, in its own order, as parts of the shared ones."""
        plans_by_part = {
            member.part: member.inside(plan)
            for release, plan in zip(self.shared, plans, strict=True)
            for member in release.members
            if member.statement == number
        }
        return [plans_by_part[part] for part in sorted(plans_by_part)]

    def positions(self, number: int) -> list[int]:
        """Return the shared releases that the releases of one statement are in, in its own order."""
        positions = {
            member.part: position
            for position, release in enumerate(self.shared)
            for member in release.members
            if member.statement == number
        }
        return [positions[part] for part in sorted(positions)]


class BatchPricing:
    """The shared releases of a batch and their prices; `priced` is the best, and the rest are steps to it."""

    def __init__(self, batch: BoundBatch, *, estimated: bool = False) -> None:
        self.batch = batch
        self.targets = BatchTargets(batch, estimated=estimated)
        self._most_larger = {True: math.inf, False: NO_LARGER, None: PRICE_OF_ADDING_UP}[batch.add_up]
        if batch.add_up:
            self._require_sums()

    @cached_property
    def priced(self) -> PricedBatch:
        """The shared releases, with the shares of the budget that lower the errors most."""
        shared, priced = self.shared, self.split(self.shared)
        if self.batch.add_up:
            apart = priced
            while clusters := [one for one in same_rows(priced.shared) if not _add_up_already(priced, one)]:
                priced = self._same_groups(one_set_of_groups(priced.shared, clusters), apart) or priced
            return priced
        left_out = self._apart(shared)
        left_out |= {index for index, one in enumerate(shared) if one.use.levels or not can_join(one)}
        # Where nothing is tested, `marginals` does better.
        clusters = [members for members in same_rows(shared, left_out) if any(tests_groups(shared[i]) for i in members)]
        if not clusters or self.targets.by_number or self.batch.mechanism == "laplace":
            return priced
        return self._same_groups(one_set_of_groups(shared, clusters), priced) or priced

    @cached_property
    def shared(self) -> list[SharedRelease]:
        """The releases of all statements, each once."""
        batch = self.batch
        shared = share_releases([(batch.statements[number].logical, batch.own[number]) for number in batch.private])
        return [renumbered(release, batch.private) for release in shared]

    def _require_sums(self) -> None:
        """Refuse tables about the same rows that cannot be made of the same groups."""
        shared, independent = self.shared, self._apart(self.shared)
        for members in same_rows(shared):
            tables = [shared[index] for index in members]
            if self.batch.mechanism == "laplace":
                raise self._cannot_add_up(tables, "Laplace noise", 'Ask with mechanism="gaussian" and a delta.')
            if self.targets.by_number:
                raise self._cannot_add_up(tables, "wanted errors", "State epsilon and weights instead of within.")
            if any(not can_join(shared[index]) or index in independent for index in members):
                raise self._cannot_add_up(
                    tables,
                    "several sets of groups, or keys of public tables, in one statement",
                    "Ask each table as a plain SELECT with GROUP BY.",
                )

    def _cannot_add_up(self, tables: Sequence[SharedRelease], reason: str, hint: str) -> ParameterError:
        numbers = sorted({member.statement for table in tables for member in table.members})
        names = ", ".join(self.batch.report.queries[number].name for number in numbers)
        return ParameterError(
            f"Tables about the same rows cannot be made to add up with {reason}: {names}.",
            code="cannot-add-up",
            hint=f"{hint} Or leave out add_up: tables that cannot add up are then measured apart.",
        )

    def split(self, shared: Sequence[SharedRelease], weights: Mapping[Number, float] | None = None) -> PricedBatch:
        """Return releases with the shares of the budget that lower the errors most.

        `weights` are those of the numbers of tables that are made of the same groups. Tables that are measured together
        have the same sums behind the same number, so that they add up, unless that makes one much less accurate.
        """
        split, apart = self._best_split(shared, weights)
        unequal = _not_adding_up(split.private)
        if self.targets.by_number or not unequal:
            return split
        equal, _ = self._best_split(beside_each_other(shared, same_rows(shared, self._apart(shared))), weights)
        marginals = [equal.private.parts[index].marginal for index in unequal]
        add_up = all(marginal is not None and marginal.adds_up for marginal in marginals)
        return equal if add_up and max(self.ratios(equal, apart).values()) <= self._most_larger else split

    def _best_split(
        self, shared: Sequence[SharedRelease], weights: Mapping[Number, float] | None
    ) -> tuple[PricedBatch, PricedBatch]:
        """Return releases with the best shares, tables about the same rows measured together, and all of them apart."""
        batch = self.batch
        root = batch.statements[batch.private[0]].logical.root
        logical = LogicalPlan(root, tuple(release.use.release for release in shared), ())
        even = self.price(shared, logical, None, None, weights)
        needed = self.targets.needed()
        if needed:
            epsilon, shares = self.targets.shares(even, shared, needed)
        else:
            epsilon, shares = None, best_shares(even, shared, batch.weights, batch.minimise)
        private = self.price(shared, logical, epsilon, shares, weights)
        by_release = [math.fsum(batch.weights[member.statement] for member in release.members) for release in shared]
        levels = {index: release.use.levels for index, release in enumerate(shared) if release.use.levels}
        together = pool_marginals(private, by_release, self._apart(shared), levels)
        return PricedBatch(shared, logical, together), PricedBatch(shared, logical, private)

    def _same_groups(self, joined: Sequence[SharedRelease], apart: PricedBatch) -> PricedBatch | None:
        """Return tables that are made of the same shown groups; None if one would be too inaccurate next to `apart`.

        With `add_up` the cost does not matter, and the batch is refused if a number is not a sum over rows. The weights
        of numbers that would be less accurate are raised until none is, or until the largest ratio is smallest. A count
        that is also the test of its groups is cheaper apart, so a batch that adds up may cost more.
        """
        together = self.split(joined)
        others = [release for release, plan in _pairs(joined, together) if release.is_joined and not adds_up(plan)]
        if others and self.batch.add_up:
            members = {member for release in others for member in _numbers_of(release)}
            shared = [table for table in self.shared if _numbers_of(table) <= members]
            tables = [own for table in shared for own in table.of_each_statement()]
            raise self._cannot_add_up(
                [table for table in tables if not self._is_of_sums(table)],
                "numbers that are not sums over rows",
                "Ask for medians, variances and distinct values apart.",
            )
        if others:
            return None
        weights = {number: self.batch.weights[number[0]] for number in self.ratios(together, apart)}
        best, minimum = None, self._most_larger
        for _ in range(ROUNDS):
            together = self.split(joined, weights)
            ratios = self.ratios(together, apart)
            sharper = [self._sharper(release, plan, apart) for release, plan in _pairs(joined, together)]
            if sharper == list(joined) and max(ratios.values()) < minimum:
                best, minimum = together, max(ratios.values())
            if minimum <= LARGER:
                break
            joined = sharper
            weights = {
                number: weight * min(max(ratios[number], 1.0), MOST_RAISED) ** 6 for number, weight in weights.items()
            }
        if self.batch.add_up:
            return best or together
        plans = [] if best is None else [plan for release, plan in _pairs(joined, best) if release.is_joined]
        return best if all(map(has_large_groups, plans)) else None

    def _is_of_sums(self, table: SharedRelease) -> bool:
        """Return True if all numbers of a table are sums over rows."""
        [alone] = self.split(one_set_of_groups([table], [[0]])).private.parts
        return adds_up(alone)

    def _sharper(self, release: SharedRelease, plan: PrivatePlan, apart: PricedBatch) -> SharedRelease:
        """Return a joined release with the budget share for its test that shows groups of the same size as apart.

        Tables may show groups of different sizes apart: then the largest of these sizes counts.
        """
        if not release.is_joined or plan.selection is None:
            return release
        others = [part for member in release.members for part in apart.parts(member.statement, apart.private.parts)]
        sizes = [float(part.selection.threshold) for part in others if part.selection is not None]
        minimum = max(sizes, default=float(plan.minimum))
        excess = (float(plan.selection.threshold) - plan.minimum) / max(minimum - plan.minimum, 1.0)
        if abs(excess - 1) < SAME_SIZE:
            return release
        share = float(plan.selecting[0].cost.gaussian / plan.charge.cost.gaussian)
        tested = min(max(share * excess**2, LEAST_TESTED), MOST_TESTED)
        return replace(release, use=replace(release.use, test_share=tested))

    def ratios(self, together: PricedBatch, apart: PricedBatch) -> dict[Number, float]:
        """Return, for each number of the batch, the ratio of its error together to its error apart."""
        ratios = {}
        for statement in self.batch.private:
            pairs = [priced.parts(statement, priced.private.parts) for priced in (together, apart)]
            widths = [[width for part in parts for width in comparable_widths(part)] for parts in pairs]
            for index, (new, old) in enumerate(zip(*widths, strict=True)):
                ratios[statement, index] = new / old
        return ratios

    def _apart(self, shared: Sequence[SharedRelease]) -> frozenset[int]:
        """Return the releases of statements with several, whose noise must be independent for their error bars."""
        several = {number for number in self.batch.private if len(self.batch.own[number].parts) > 1}
        return frozenset(
            position
            for position, release in enumerate(shared)
            if any(member.statement in several for member in release.members)
        )

    def price(
        self,
        shared: Sequence[SharedRelease],
        logical: LogicalPlan,
        epsilon: float | None,
        shares: Sequence[float] | None,
        weights: Mapping[Number, float] | None = None,
    ) -> PrivateStatement:
        """Return the releases at shares of the budget, each with independent noise."""
        batch, request, session = self.batch, self.batch.request, self.batch.session
        budget = session.budget_of(logical, request, epsilon)
        levels = [bought_level(batch.statements[number].logical, request) for number in batch.private]
        priced = price_uses(
            [release.use for release in shared],
            replace(budget, mechanism=batch.mechanism),
            batch.remaining,
            min_frequency=request.min_frequency,
            max_rows=request.max_rows,
            max_groups=request.max_groups,
            domains=known_keys(logical, session.backend, session.catalog),
            beta=min(levels),
            equal_noise=request.equal_noise,
            method=request.distinct,
            shares=shares,
        )
        if weights is None:
            return priced
        parts = tuple(
            measure_tables(part, release.numbers(weights)) if release.is_joined else part
            for release, part in zip(shared, priced.parts, strict=True)
        )
        events = tuple(event for part in parts for event in part.charge.events)
        return PrivateStatement(parts, replace(priced.charge, events=events))


def _pairs(shared: Sequence[SharedRelease], priced: PricedBatch) -> Iterator[tuple[SharedRelease, PrivatePlan]]:
    return zip(shared, priced.private.parts, strict=True)


def _add_up_already(priced: PricedBatch, members: Sequence[int]) -> bool:
    """Return True if tables are measured together by their residuals, and no group of them is held back."""
    marginals = [priced.private.parts[index].marginal for index in members]
    pools = {id(None if one is None else one.together) for one in marginals}
    add_up = all(one is not None and one.adds_up for one in marginals)
    return add_up and len(pools) == 1 and not any(tests_groups(priced.shared[index]) for index in members)


def _not_adding_up(private: PrivateStatement) -> list[int]:
    """Return the tables that are measured together with others, but are made of other sums, by position."""
    pools = [None if part.marginal is None else part.marginal.together for part in private.parts]
    return [
        index
        for index, part in enumerate(private.parts)
        if part.marginal is not None and not part.marginal.adds_up and sum(pool is pools[index] for pool in pools) > 1
    ]


def _numbers_of(release: SharedRelease) -> set[tuple[int, int]]:
    """Return the releases of statements that read a shared one."""
    return {(member.statement, member.part) for member in release.members}


def renumbered(release: SharedRelease, numbers: Sequence[int]) -> SharedRelease:
    """Return the release with the numbers of its statements in the whole batch."""
    members = tuple(replace(member, statement=numbers[member.statement]) for member in release.members)
    return replace(release, members=members)
