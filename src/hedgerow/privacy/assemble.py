"""From the sums that a statement wants to its exact and noisy sums, for either noise."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from hedgerow.accounting import GaussianEvent, LaplaceEvent
from hedgerow.errors import ParameterError
from hedgerow.expressions.facts import range_of
from hedgerow.expressions.nodes import Call, Expr, describe
from hedgerow.expressions.types import Type
from hedgerow.privacy import gaussian, laplace
from hedgerow.privacy.bounding import Bounding
from hedgerow.privacy.distinct import Distinct
from hedgerow.privacy.grid import Grid, centred, plain
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
from hedgerow.privacy.plan import Terms
from hedgerow.privacy.precision import SUM_BITS, Precision
from hedgerow.privacy.ranks import Bucketing, Draw, RankEvent, bucketing_of
from hedgerow.privacy.statement_sums import Joint, StatementSums, Support
from hedgerow.privacy.sums import ExactSum, NoisySum, SumKind
from hedgerow.statistics.moments.families import Family

Event = GaussianEvent | LaplaceEvent | RankEvent


@dataclass
class Assembly:
    """The noisy sums of one statement as they are put together.

    `noise` is the scale of every block, in units of one row: sigma, or b. `equal_noise` asks for Bezier moments.
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
    bucketings: list[Bucketing] = field(default_factory=list)
    draws: list[Draw] = field(default_factory=list)
    distinct: list[Distinct] = field(default_factory=list)
    bins: dict[tuple[tuple[Expr, ...], Expr | None], int] = field(default_factory=dict)
    units: Terms = ()

    def sum(self, wanted: ExactSum) -> int:
        """The position of an exact sum, which is computed once."""
        if wanted not in self.sums:
            self._check_size(wanted)
            self.sums.append(wanted)
        return self.sums.index(wanted)

    def _check_size(self, wanted: ExactSum) -> None:
        """Refuse a sum that could overflow: an error that depends on rows would be an answer."""
        if self.bounding.room.bit_length() + wanted.reach.bit_length() + self.bits.weight > SUM_BITS:
            raise ParameterError(
                "A sum over so many rows could overflow.",
                code="sum-too-large",
                hint="Declare a smaller size for the table in the catalog.",
            )

    def grid(self, value: Expr, make: Callable[..., Grid]) -> Grid:
        """The grid of a value, whole numbers kept whole."""
        return make(range_of(value), whole=value.type is Type.INTEGER, bits=self.bits.value)

    def factor_grid(self, value: Expr) -> Grid:
        """The grid of a value that is multiplied with another."""
        return centred(range_of(value), whole=value.type is Type.INTEGER, bits=self.bits.factor)

    def add_bins(self, put: Put) -> None:
        """The counts of bins, one block for all bins that a row can only be in one of."""
        for conditions, where in self.wanted.partitions:
            filters = [c if where is None else Call("and", (where, c), Type.BOOLEAN) for c in conditions]
            sums = [self.sum(ExactSum(SumKind.ROWS, None, condition)) for condition in filters]
            parts = [(_rows_label((None, c)), ((place, 1),)) for place, c in zip(sums, filters, strict=True)]
            first = self.bins[conditions, where] = put(parts, 1)
            if conditions == self.wanted.share:
                self.counts[None, conditions[0]] = ((first, 1.0),)
                self.counts[None, None] = ((first, 1.0), (first + 1, 1.0))

    def add_distinct(self, make: Callable[..., tuple[Distinct, Event]], budget: float, method: str) -> None:
        """The counts of different values; each spends `budget`."""
        for value, condition in self.wanted.distinct:
            found, event = make(value, condition, budget, self.bounding, method)
            self.distinct.append(found)
            self.events.append(event)

    def add_draws(self, make: Callable[..., tuple[Draw, list[RankEvent]]], budget: float, beta: float) -> None:
        """A draw for each rank, of which those of one column share its buckets; each spends `budget`."""
        for value, support, rank in self.wanted.ranks:
            condition = support[1]
            found = bucketing_of(value, condition, grouped=self.bounding.grouped, bits=self.bits.value)
            if found not in self.bucketings:
                self.bucketings.append(found)
            place = self.bucketings.index(found)
            draw, events = make(place, rank, budget, self.bounding, self.bits.weight, beta)
            self.draws.append(draw)
            self.events += events

    def add_joint(self, joint: Joint, family: Family, put: Put) -> None:
        """The noisy sums of moments that are released together, and what follows from them."""
        grids = tuple(self.factor_grid(value) for value in joint.values)
        parts, denominator = moment_parts(joint, family, grids, self.sum)
        first = put(parts, denominator)
        made = joint_terms(joint, family, grids, first)
        self.joints[joint] = made
        self.counts.setdefault(joint.support, made.terms[0, 0])
        for place, value in enumerate(joint.values):
            self.centred.setdefault((value, joint.support), (made.terms[MEANS[place]], grids[place]))


def with_gaussian(made: Assembly) -> Assembly:
    """Every count and every sum is a noisy sum of its own, with equal noise."""

    def add(label: str, total: ExactSum, denominator: int) -> Terms:
        combination = ((made.sum(total), 1),)
        noisy_sum, event = gaussian.noisy_sum(
            label, combination, denominator, made.noise, made.bounding, made.bits.weight
        )
        made.noisy_sums.append(replace(noisy_sum, unit=_unit(total)))
        made.events.append(event)
        return ((len(made.noisy_sums) - 1, 1.0),)

    def put(parts: Sequence[Part], denominator: int) -> int:
        block, event = gaussian.block(parts, denominator, made.noise, made.bounding, made.bits.weight)
        made.noisy_sums += block
        made.events.append(event)
        return len(made.noisy_sums) - len(block)

    for joint in made.wanted.joints:
        made.add_joint(joint, gaussian_family(joint, equal=made.equal_noise), put)
    made.add_bins(put)
    if made.wanted.units:
        made.units = add("people", ExactSum(SumKind.UNITS), 1)
    for support in made.wanted.counts:
        made.counts[support] = add(_rows_label(support), ExactSum(SumKind.ROWS, *support), 1)
    for value, support in made.wanted.centred:
        grid = made.grid(value, centred)
        terms = add(f"centred sum of {describe(value)}", ExactSum(SumKind.VALUES, value, support[1], grid), grid.reach)
        made.centred[value, support] = terms, grid
    _plain_sums(made, add)
    return made


def with_laplace(made: Assembly) -> Assembly:
    """A sum next to its count is the pair (sum of y, sum of 1 - y); everything else stands alone."""

    def put(parts: Sequence[Part], denominator: int, unit: float = 1.0) -> int:
        block, event = laplace.block(parts, denominator, made.noise, made.bounding, made.bits.weight)
        made.noisy_sums += [replace(noisy_sum, unit=unit) for noisy_sum in block]
        made.events.append(event)
        return len(made.noisy_sums) - len(block)

    def add(label: str, total: ExactSum, denominator: int) -> Terms:
        return ((put([(label, ((made.sum(total), 1),))], denominator, _unit(total)), 1.0),)

    def add_pair(value: Expr, support: Support) -> None:
        grid = made.grid(value, centred)
        rows = made.sum(ExactSum(SumKind.ROWS, *support))
        values = made.sum(ExactSum(SumKind.VALUES, value, support[1], grid))
        name, width = describe(value), 2 * grid.reach * grid.step
        parts: list[Part] = [
            (f"{name} above its lower bound", ((rows, grid.reach), (values, 1))),
            (f"{name} below its upper bound", ((rows, grid.reach), (values, -1))),
        ]
        above = put(parts, 2 * grid.reach, width)
        made.centred[value, support] = ((above, 1.0), (above + 1, -1.0)), grid
        made.counts.setdefault(support, ((above, 1.0), (above + 1, 1.0)))

    for joint in made.wanted.joints:
        made.add_joint(joint, laplace_family(joint), put)
    made.add_bins(put)
    if made.wanted.units:
        made.units = add("people", ExactSum(SumKind.UNITS), 1)
    for value, support in made.wanted.centred:
        add_pair(value, support)
    for support in made.wanted.counts:
        if support not in made.counts:
            made.counts[support] = add(_rows_label(support), ExactSum(SumKind.ROWS, *support), 1)
    _plain_sums(made, add)
    return made


def laplace_blocks(shape: StatementSums) -> int:
    """How many blocks share epsilon: a pair is one, and brings its count along."""
    paired = {support for _, support in shape.centred}
    lone = sum(support not in paired for support in shape.counts)
    several = len(shape.joints) + len(shape.ranks) + len(shape.partitions) + len(shape.distinct)
    return several + len(shape.centred) + lone + len(shape.plain) + shape.units


def _plain_sums(made: Assembly, add: Callable[[str, ExactSum, int], Terms]) -> None:
    for value, support in made.wanted.plain:
        grid = made.grid(value, plain)
        ((index, _),) = add(f"sum of {describe(value)}", ExactSum(SumKind.VALUES, value, support[1], grid), grid.reach)
        made.plain[value, support] = ((index, grid.reach * grid.step),)


def _rows_label(support: Support) -> str:
    value, condition = support
    label = "rows" if value is None else f"rows with {describe(value)}"
    return label if condition is None else f"{label} where {describe(condition)}"


def _unit(total: ExactSum) -> float:
    """Size in the analyst's units of a row of size 1."""
    return 1.0 if total.grid is None else total.grid.reach * total.grid.step


def combine(*parts: tuple[Terms, float]) -> Terms:
    """A linear combination of linear forms."""
    total: dict[int, float] = {}
    for terms, factor in parts:
        for index, coefficient in terms:
            total[index] = total.get(index, 0.0) + factor * coefficient
    return tuple(sorted(total.items()))
