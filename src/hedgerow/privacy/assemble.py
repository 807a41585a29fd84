"""Exact and noisy sums of a statement, built from the sums that its aggregates need, for either kind of noise."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from hedgerow.accounting import GaussianEvent, LaplaceEvent
from hedgerow.errors import ParameterError
from hedgerow.expressions.facts import range_of
from hedgerow.expressions.nodes import Call, Expr, describe
from hedgerow.expressions.types import Type
from hedgerow.privacy import gaussian, laplace
from hedgerow.privacy.bounding import Bounding
from hedgerow.privacy.distinct import Distinct, levels_of, shares_of
from hedgerow.privacy.joint import (
    MEANS,
    JointTerms,
    Part,
    Put,
    gaussian_family,
    joint_terms,
    laplace_family,
    moment_parts,
)
from hedgerow.privacy.levels import level_bounding
from hedgerow.privacy.plan import Terms
from hedgerow.privacy.precision import SUM_BITS, Grid, Precision, centred, plain
from hedgerow.privacy.ranks import Bucketing, CumulativeSums, Draw, RankedColumn, RankEvent, bucketing_of
from hedgerow.privacy.statement_sums import COUNT_WEIGHT, Arms, Joint, StatementSums, Support
from hedgerow.privacy.sums import ExactSum, NoisySum, SumKind
from hedgerow.statistics.moments.families import Family

Event = GaussianEvent | LaplaceEvent | RankEvent


@dataclass
class MeasuredLevel:
    """A level of totals that is measured next to the groups: its keys, by position, and its noise, as in `Assembly`."""

    keys: tuple[int, ...]
    label: str
    noise: float
    noisy_sums: list[NoisySum] = field(default_factory=list)


@dataclass
class Assembly:
    """The noisy sums of one statement while they are being built.

    `noise` is the scale of every block, in units of one row: sigma (Gaussian) or b (Laplace). `equal_noise` selects the
    Bezier basis for moments.
    """

    wanted: StatementSums
    bounding: Bounding
    bits: Precision
    noise: float
    equal_noise: bool = False
    sums: list[ExactSum] = field(default_factory=list)
    noisy_sums: list[NoisySum] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    counts: dict[Support, Terms] = field(default_factory=dict)
    centred: dict[tuple[Expr, Support], tuple[Terms, Grid]] = field(default_factory=dict)
    plain: dict[tuple[Expr, Support], Terms] = field(default_factory=dict)
    joints: dict[Joint, JointTerms] = field(default_factory=dict)
    arms: dict[Arms, tuple[JointTerms, ...]] = field(default_factory=dict)
    bucketings: list[Bucketing] = field(default_factory=list)
    draws: list[Draw] = field(default_factory=list)
    cumulative: list[CumulativeSums] = field(default_factory=list)
    distinct: list[Distinct] = field(default_factory=list)
    distinct_levels: list[tuple[int, ...]] = field(default_factory=list)
    bins: dict[tuple[tuple[Expr, ...], Expr | None], int] = field(default_factory=dict)
    units: Terms = ()
    levels: list["MeasuredLevel"] = field(default_factory=list)
    around_means: set[tuple[Expr, Support]] = field(default_factory=set)

    def sum(self, wanted: ExactSum) -> int:
        """Return the index of an exact sum; equal sums are computed once."""
        if wanted not in self.sums:
            self._check_size(wanted)
            self.sums.append(wanted)
        return self.sums.index(wanted)

    def _check_size(self, wanted: ExactSum) -> None:
        """Refuse a sum that could overflow: an overflow error would reveal something about the rows."""
        if self.bounding.row_capacity.bit_length() + wanted.reach.bit_length() + self.bits.weight > SUM_BITS:
            raise ParameterError(
                "A sum over that many rows could overflow.",
                code="sum-too-large",
                hint="Declare a smaller size for the table in the catalog.",
            )

    def grid(self, value: Expr, make: Callable[..., Grid]) -> Grid:
        """Return the grid of a value; whole numbers stay whole."""
        return make(range_of(value), whole=value.type is Type.INTEGER, bits=self.bits.value)

    def factor_grid(self, value: Expr) -> Grid:
        """Return the grid of a value that is multiplied by another."""
        return centred(range_of(value), whole=value.type is Type.INTEGER, bits=self.bits.factor)

    def add_bins(self, put: Put) -> None:
        """Add the counts of bins: one block per partition, because a row is in one bin of it at most."""
        for conditions, where in self.wanted.partitions:
            filters = [c if where is None else Call("and", (where, c), Type.BOOLEAN) for c in conditions]
            sums = [self.sum(ExactSum(SumKind.ROWS, None, condition)) for condition in filters]
            parts = [(_rows_label((None, c)), ((index, 1),)) for index, c in zip(sums, filters, strict=True)]
            first = self.bins[conditions, where] = put(parts, 1)
            if conditions == self.wanted.share:
                self.counts[None, conditions[0]] = ((first, 1.0),)
                self.counts[None, None] = ((first, 1.0), (first + 1, 1.0))

    def add_distinct(
        self, make: Callable[..., tuple[Distinct, Event]], budget: float, method: str, *, tightened: bool
    ) -> None:
        """Add the counts of distinct values; those of one column share `budget`."""
        for value, condition in self.wanted.distinct:
            levels = levels_of(self.bounding, value, tightened=tightened)
            self.distinct_levels.append(tuple(range(len(self.distinct), len(self.distinct) + len(levels))))
            for level, share in zip(levels, shares_of(levels), strict=True):
                distinct, event = make(value, condition, level, budget * share, self.bounding, method)
                self.distinct.append(distinct)
                self.events.append(event)

    def add_draws(self, make: Callable[..., RankedColumn], budget: float, beta: float) -> None:
        """A draw for each rank; those of one column share its buckets and a price, `budget` for each."""
        columns: dict[int, list[int]] = {}
        for number, (value, support, rank) in enumerate(self.wanted.ranks):
            bucketing = bucketing_of(value, support[1], rank, self.bounding, self.bits.value)
            if bucketing not in self.bucketings:
                self.bucketings.append(bucketing)
            columns.setdefault(self.bucketings.index(bucketing), []).append(number)
        draws: dict[int, Draw] = {}
        for index, numbers in columns.items():
            ranks = [self.wanted.ranks[number][2] for number in numbers]
            bucketing = self.bucketings[index]
            limits = bucketing.limits(self.bounding)
            column = make(index, bucketing.buckets, ranks, budget, limits, self.bits.weight, beta)
            draws |= dict(zip(numbers, column.draws, strict=True))
            self.cumulative += [] if column.cumulative is None else [column.cumulative]
            self.events += column.events
        self.draws += [draws[number] for number in sorted(draws)]

    def add_joint(self, joint: Joint, family: Family, put: Put) -> None:
        """Add the noisy sums of moments that are released together, and the counts and sums that follow from them."""
        grids = tuple(self.factor_grid(value) for value in joint.values)
        parts, denominator = moment_parts(joint, family, grids, self.sum)
        first = put(parts, denominator)
        joint_moments = joint_terms(joint, family, grids, first)
        self.joints[joint] = joint_moments
        self.add_count(joint.support, joint_moments.terms[0, 0])
        for axis, value in enumerate(joint.values):
            self.centred.setdefault((value, joint.support), (joint_moments.terms[MEANS[axis]], grids[axis]))

    def add_arms(self, family_of: Callable[[Joint], Family], put: Put) -> None:
        """Add the moments of one column in each arm, as one block.

        Privacy: a row is in one arm at most, where its coordinates have norm at most one; those of the other arm are
        zero. So the block costs as much as the moments of one arm.
        """
        for arms in self.wanted.arms:
            family, parts = family_of(arms.parts[0]), []
            grids = (self.factor_grid(arms.parts[0].values[0]),)
            for number, joint in enumerate(arms.parts):
                own, denominator = moment_parts(joint, family, grids, self.sum)
                parts += [(f"{label}, arm {number + 1}", combination) for label, combination in own]
            first = put(parts, denominator)
            starts = range(first, first + len(parts), len(family.rows))
            pairs = zip(arms.parts, starts, strict=True)
            self.arms[arms] = tuple(joint_terms(joint, family, grids, start) for joint, start in pairs)

    def add_count(self, support: Support, terms: Terms) -> None:
        """Count the rows of `support` by a form in noises that no other count has; average all counts of these rows.

        Noises are independent and have one variance, so a count with coefficients c has precision 1 / sum c^2, and the
        average weighted by precision has the least variance: k equal counts have a k-th of it. The noise of a centred
        sum is independent of the noise of its own count (the coefficients are orthogonal, by the symmetry of the
        family in z), and of that of every other count. So an average of values has the mean square error 1 + a^2 / k
        where it had 1 + a^2, and count and centred sums remain the estimates of least variance.
        """
        kept = self.counts.get(support, ())
        precisions = [1.0 / sum(c * c for _, c in form) if form else 0.0 for form in (kept, terms)]
        shares = [precision / sum(precisions) for precision in precisions]
        self.counts[support] = combine((kept, shares[0]), (terms, shares[1]))


def with_gaussian(assembly: Assembly) -> Assembly:
    """Make every count and every sum a noisy sum of its own, with equal noise; likewise for each level of totals.

    A count beside sums around known means gets less of the budget (`use_known_means`).
    """

    def put(parts: Sequence[Part], denominator: int, unit: float = 1.0, weight: float = 1.0) -> int:
        sigma = assembly.noise / math.sqrt(weight)
        block, event = gaussian.block(parts, denominator, sigma, assembly.bounding, assembly.bits.weight)
        assembly.noisy_sums += [replace(noisy_sum, unit=unit) for noisy_sum in block]
        assembly.events.append(event)
        for level in assembly.levels:
            named = [(f"{label}, {level.label}", combination) for label, combination in parts]
            limits = level_bounding(assembly.bounding)
            totals, event = gaussian.block(named, denominator, level.noise, limits, assembly.bits.weight)
            level.noisy_sums += [replace(total, unit=unit) for total in totals]
            assembly.events.append(event)
        return len(assembly.noisy_sums) - len(block)

    def add(label: str, total: ExactSum, denominator: int, weight: float = 1.0) -> Terms:
        return ((put([(label, ((assembly.sum(total), 1),))], denominator, _unit(total), weight), 1.0),)

    for joint in assembly.wanted.joints:
        assembly.add_joint(joint, gaussian_family(joint, equal=assembly.equal_noise), put)
    assembly.add_arms(partial(gaussian_family, equal=assembly.equal_noise), put)
    assembly.add_bins(put)
    if assembly.wanted.units:
        assembly.units = add("people", ExactSum(SumKind.UNITS), 1)
    for support in assembly.wanted.counts:
        weight = COUNT_WEIGHT if support in assembly.wanted.light_counts else 1.0
        assembly.counts[support] = add(_rows_label(support), ExactSum(SumKind.ROWS, *support), 1, weight)
    for value, support in assembly.wanted.centred:
        centre = assembly.wanted.centres.get((value, support))
        grid = assembly.grid(value, partial(centred, centre=centre))
        if centre is not None:
            assembly.around_means.add((value, support))
        known = "" if centre is None else f" around {grid.offset:g}, a mean released before"
        label = f"centred sum of {describe(value)}{known}"
        terms = add(label, ExactSum(SumKind.VALUES, value, support[1], grid), grid.reach)
        assembly.centred[value, support] = terms, grid
    _plain_sums(assembly, add)
    return assembly


def with_laplace(assembly: Assembly) -> Assembly:
    """Release a sum next to its count as the pair (sum of y, sum of 1 - y), and everything else alone."""

    def put(parts: Sequence[Part], denominator: int, unit: float = 1.0) -> int:
        block, event = laplace.block(parts, denominator, assembly.noise, assembly.bounding, assembly.bits.weight)
        assembly.noisy_sums += [replace(noisy_sum, unit=unit) for noisy_sum in block]
        assembly.events.append(event)
        return len(assembly.noisy_sums) - len(block)

    def add(label: str, total: ExactSum, denominator: int) -> Terms:
        return ((put([(label, ((assembly.sum(total), 1),))], denominator, _unit(total)), 1.0),)

    def add_pair(value: Expr, support: Support) -> None:
        grid = assembly.grid(value, centred)
        rows = assembly.sum(ExactSum(SumKind.ROWS, *support))
        values = assembly.sum(ExactSum(SumKind.VALUES, value, support[1], grid))
        name, width = describe(value), 2 * grid.reach * grid.step
        parts: list[Part] = [
            (f"{name} above its lower bound", ((rows, grid.reach), (values, 1))),
            (f"{name} below its upper bound", ((rows, grid.reach), (values, -1))),
        ]
        first = put(parts, 2 * grid.reach, width)
        assembly.centred[value, support] = ((first, 1.0), (first + 1, -1.0)), grid
        assembly.add_count(support, ((first, 1.0), (first + 1, 1.0)))

    for joint in assembly.wanted.joints:
        assembly.add_joint(joint, laplace_family(joint), put)
    assembly.add_arms(laplace_family, put)
    assembly.add_bins(put)
    if assembly.wanted.units:
        assembly.units = add("people", ExactSum(SumKind.UNITS), 1)
    for value, support in assembly.wanted.centred:
        add_pair(value, support)
    for support in assembly.wanted.counts:
        if support not in assembly.counts:
            assembly.counts[support] = add(_rows_label(support), ExactSum(SumKind.ROWS, *support), 1)
    _plain_sums(assembly, add)
    return assembly


def laplace_blocks(shape: StatementSums) -> int:
    """Return the number of blocks that share epsilon: a pair is one block and includes its count."""
    paired = {support for _, support in shape.centred}
    lone = sum(support not in paired for support in shape.counts)
    several = len(shape.joints) + len(shape.arms) + len(shape.ranks) + len(shape.partitions) + len(shape.distinct)
    return several + len(shape.centred) + lone + len(shape.plain) + shape.units


def _plain_sums(assembly: Assembly, add: Callable[[str, ExactSum, int], Terms]) -> None:
    for value, support in assembly.wanted.plain:
        grid = assembly.grid(value, plain)
        ((index, _),) = add(f"sum of {describe(value)}", ExactSum(SumKind.VALUES, value, support[1], grid), grid.reach)
        assembly.plain[value, support] = ((index, grid.reach * grid.step),)


def _rows_label(support: Support) -> str:
    value, condition = support
    label = "rows" if value is None else f"rows with {describe(value)}"
    return label if condition is None else f"{label} where {describe(condition)}"


def _unit(total: ExactSum) -> float:
    """Size in the analyst's units of a row of size 1."""
    return 1.0 if total.grid is None else total.grid.reach * total.grid.step


def combine(*parts: tuple[Terms, float]) -> Terms:
    """Return a linear combination of linear forms."""
    total: dict[int, float] = {}
    for terms, factor in parts:
        for index, coefficient in terms:
            total[index] = total.get(index, 0.0) + factor * coefficient
    return tuple(sorted(total.items()))
