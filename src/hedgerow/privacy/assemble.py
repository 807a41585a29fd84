"""From the shape of a statement to its exact sums, coordinates and recipes, for either noise."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from hedgerow.accounting import GaussianEvent, LaplaceEvent
from hedgerow.aggregates import Kind, Need
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
    moment_recipe,
)
from hedgerow.privacy.plan import Recipe, Terms
from hedgerow.privacy.precision import SUM_BITS, Precision
from hedgerow.privacy.ranks import Bucketing, Draw, RankEvent, bucketing_of
from hedgerow.privacy.shape import Joint, Shape, Support, counts_people, joint_of, support_of
from hedgerow.privacy.sums import Coordinate, ExactSum, SumKind
from hedgerow.statistics.moments.family import Family

Event = GaussianEvent | LaplaceEvent | RankEvent


@dataclass
class Assembly:
    """The coordinates of one statement as they are put together.

    `noise` is the scale of every block, in units of one row: sigma, or b. `equal_noise` asks for Bezier moments.
    """

    shape: Shape
    bounding: Bounding
    bits: Precision
    noise: float
    equal_noise: bool = False
    sums: list[ExactSum] = field(default_factory=list)
    coordinates: list[Coordinate] = field(default_factory=list)
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

    def recipe(self, need: Need, *, one_row: bool) -> Recipe:
        """How the numbers of `need` follow from the coordinates."""
        support = support_of(need)
        wanted = joint_of(need)
        if wanted is not None:
            return moment_recipe(need, self.joints[self.shape.joint_of(wanted)])
        if need.kind is Kind.DISTINCT and need.value is not None:
            return Recipe(distinct=self.shape.distinct.index((need.value, need.filter)))
        if need.kind is Kind.CELLS:
            first = self.bins[need.bins, need.filter]
            return Recipe(cells=tuple(((first + i, 1.0),) for i in range(len(need.bins))))
        if need.kind is Kind.BIN:
            return Recipe(count=((self.bins[need.bins, need.filter] + need.bin, 1.0),))
        if need.rank is not None and need.value is not None:
            place = self.shape.ranks.index((need.value, support, need.rank))
            return Recipe(count=self.counts.get(support, ()), draw=place)
        if need.kind is Kind.UNITS or (one_row and counts_people(need)):
            counted = self.counts.get((None, None)) if one_row else None
            terms = counted or self.units
            return Recipe(count=terms, from_selection=not terms)
        if need.value is None or need.kind is Kind.ROWS:
            return Recipe(count=self.counts[support])
        if (need.value, support) in self.plain:
            return Recipe(total=self.plain[need.value, support])
        terms, grid = self.centred[need.value, support]
        half = grid.reach * grid.step
        count = self.counts[support]
        total = _combine((count, grid.offset), (terms, half))
        return Recipe(count, total, terms, grid.offset, half)

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
        for conditions, where in self.shape.partitions:
            filters = [c if where is None else Call("and", (where, c), Type.BOOLEAN) for c in conditions]
            sums = [self.sum(ExactSum(SumKind.ROWS, None, condition)) for condition in filters]
            parts = [(_rows_label((None, c)), ((place, 1),)) for place, c in zip(sums, filters, strict=True)]
            first = self.bins[conditions, where] = put(parts, 1)
            if conditions == self.shape.share:
                self.counts[None, conditions[0]] = ((first, 1.0),)
                self.counts[None, None] = ((first, 1.0), (first + 1, 1.0))

    def add_distinct(self, make: Callable[..., tuple[Distinct, Event]], budget: float, method: str) -> None:
        """The counts of different values; each spends `budget`."""
        for value, condition in self.shape.distinct:
            found, event = make(value, condition, budget, self.bounding, method)
            self.distinct.append(found)
            self.events.append(event)

    def add_draws(self, make: Callable[..., tuple[Draw, list[RankEvent]]], budget: float, beta: float) -> None:
        """A draw for each rank, of which those of one column share its buckets; each spends `budget`."""
        for value, support, rank in self.shape.ranks:
            condition = support[1]
            found = bucketing_of(value, condition, grouped=self.bounding.grouped, bits=self.bits.value)
            if found not in self.bucketings:
                self.bucketings.append(found)
            place = self.bucketings.index(found)
            draw, events = make(place, rank, budget, self.bounding, self.bits.weight, beta)
            self.draws.append(draw)
            self.events += events

    def add_joint(self, joint: Joint, family: Family, put: Put) -> None:
        """The coordinates of moments that are released together, and what follows from them."""
        grids = tuple(self.factor_grid(value) for value in joint.values)
        parts, denominator = moment_parts(joint, family, grids, self.sum)
        first = put(parts, denominator)
        made = joint_terms(joint, family, grids, first)
        self.joints[joint] = made
        self.counts.setdefault(joint.support, made.terms[0, 0])
        for place, value in enumerate(joint.values):
            self.centred.setdefault((value, joint.support), (made.terms[MEANS[place]], grids[place]))


def with_gaussian(made: Assembly) -> Assembly:
    """Every count and every sum is a coordinate of its own, with equal noise."""

    def add(label: str, total: ExactSum, denominator: int) -> Terms:
        combination = ((made.sum(total), 1),)
        coordinate, event = gaussian.coordinate(
            label, combination, denominator, made.noise, made.bounding, made.bits.weight
        )
        made.coordinates.append(replace(coordinate, unit=_unit(total)))
        made.events.append(event)
        return ((len(made.coordinates) - 1, 1.0),)

    def put(parts: Sequence[Part], denominator: int) -> int:
        block, event = gaussian.block(parts, denominator, made.noise, made.bounding, made.bits.weight)
        made.coordinates += block
        made.events.append(event)
        return len(made.coordinates) - len(block)

    for joint in made.shape.joints:
        made.add_joint(joint, gaussian_family(joint, equal=made.equal_noise), put)
    made.add_bins(put)
    if made.shape.units:
        made.units = add("people", ExactSum(SumKind.UNITS), 1)
    for support in made.shape.counts:
        made.counts[support] = add(_rows_label(support), ExactSum(SumKind.ROWS, *support), 1)
    for value, support in made.shape.centred:
        grid = made.grid(value, centred)
        terms = add(f"centred sum of {describe(value)}", ExactSum(SumKind.VALUES, value, support[1], grid), grid.reach)
        made.centred[value, support] = terms, grid
    _plain_sums(made, add)
    return made


def with_laplace(made: Assembly) -> Assembly:
    """A sum next to its count is the pair (sum of y, sum of 1 - y); everything else stands alone."""

    def put(parts: Sequence[Part], denominator: int, unit: float = 1.0) -> int:
        block, event = laplace.block(parts, denominator, made.noise, made.bounding, made.bits.weight)
        made.coordinates += [replace(coordinate, unit=unit) for coordinate in block]
        made.events.append(event)
        return len(made.coordinates) - len(block)

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

    for joint in made.shape.joints:
        made.add_joint(joint, laplace_family(joint), put)
    made.add_bins(put)
    if made.shape.units:
        made.units = add("people", ExactSum(SumKind.UNITS), 1)
    for value, support in made.shape.centred:
        add_pair(value, support)
    for support in made.shape.counts:
        if support not in made.counts:
            made.counts[support] = add(_rows_label(support), ExactSum(SumKind.ROWS, *support), 1)
    _plain_sums(made, add)
    return made


def laplace_blocks(shape: Shape) -> int:
    """How many blocks share epsilon: a pair is one, and brings its count along."""
    paired = {support for _, support in shape.centred}
    lone = sum(support not in paired for support in shape.counts)
    several = len(shape.joints) + len(shape.ranks) + len(shape.partitions) + len(shape.distinct)
    return several + len(shape.centred) + lone + len(shape.plain) + shape.units


def _plain_sums(made: Assembly, add: Callable[[str, ExactSum, int], Terms]) -> None:
    for value, support in made.shape.plain:
        grid = made.grid(value, plain)
        ((index, _),) = add(f"sum of {describe(value)}", ExactSum(SumKind.VALUES, value, support[1], grid), grid.reach)
        made.plain[value, support] = ((index, grid.reach * grid.step),)


def _rows_label(support: Support) -> str:
    value, condition = support
    label = "rows" if value is None else f"rows with {describe(value)}"
    return label if condition is None else f"{label} where {describe(condition)}"


def _unit(total: ExactSum) -> float:
    """What a row of size 1 is in the analyst's units."""
    return 1.0 if total.grid is None else total.grid.reach * total.grid.step


def _combine(*parts: tuple[Terms, float]) -> Terms:
    """A linear combination of linear forms."""
    total: dict[int, float] = {}
    for terms, factor in parts:
        for index, coefficient in terms:
            total[index] = total.get(index, 0.0) + factor * coefficient
    return tuple(sorted(total.items()))


def recipes(made: Assembly, needs: Sequence[Need], *, one_row: bool) -> tuple[Recipe, ...]:
    """One recipe for each need."""
    return tuple(made.recipe(need, one_row=one_row) for need in needs)
