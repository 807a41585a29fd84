"""From the shape of a statement to its exact sums, coordinates and recipes, for either noise."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from hedgerow.accounting import GaussianEvent, LaplaceEvent
from hedgerow.aggregates import Kind, Need
from hedgerow.errors import ParameterError
from hedgerow.expressions.describe import describe
from hedgerow.expressions.facts import range_of
from hedgerow.expressions.nodes import Expr
from hedgerow.expressions.types import Type
from hedgerow.privacy import gaussian, laplace
from hedgerow.privacy.bounding import Bounding
from hedgerow.privacy.grid import Grid, centred, plain
from hedgerow.privacy.plan import Recipe, Terms
from hedgerow.privacy.precision import SUM_BITS, Precision
from hedgerow.privacy.shape import Shape, Support, counts_people, support_of
from hedgerow.privacy.sums import Coordinate, ExactSum, SumKind

Event = GaussianEvent | LaplaceEvent


@dataclass
class Assembly:
    """The coordinates of one statement as they are put together.

    `noise` is the scale of every block, in units of one row: sigma, or b.
    """

    shape: Shape
    bounding: Bounding
    bits: Precision
    noise: float
    sums: list[ExactSum] = field(default_factory=list)
    coordinates: list[Coordinate] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    counts: dict[Support, Terms] = field(default_factory=dict)
    centred: dict[tuple[Expr, Support], tuple[Terms, Grid]] = field(default_factory=dict)
    plain: dict[tuple[Expr, Support], Terms] = field(default_factory=dict)
    units: Terms = ()

    def recipe(self, need: Need, *, one_row: bool) -> Recipe:
        """How the numbers of `need` follow from the coordinates."""
        support = support_of(need)
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
        """Refuse a sum that could overflow at the declared size: an error that depends on rows would be an answer."""
        reach = 1 if wanted.grid is None else wanted.grid.reach
        if self.bounding.size.bit_length() + reach.bit_length() + self.bits.weight > SUM_BITS:
            raise ParameterError(
                "A sum over so many rows could overflow.",
                code="sum-too-large",
                hint="Declare a smaller size for the table in the catalog.",
            )

    def grid(self, value: Expr, make: Callable[..., Grid]) -> Grid:
        """The grid of a value, whole numbers kept whole."""
        whole = value.type is Type.INTEGER
        return make(range_of(value), whole=whole, bits=self.bits.value)


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

    def put(parts: Sequence[tuple[str, laplace.Combination]], denominator: int, unit: float) -> int:
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
        parts: list[tuple[str, laplace.Combination]] = [
            (f"{name} above its lower bound", ((rows, grid.reach), (values, 1))),
            (f"{name} below its upper bound", ((rows, grid.reach), (values, -1))),
        ]
        above = put(parts, 2 * grid.reach, width)
        made.centred[value, support] = ((above, 1.0), (above + 1, -1.0)), grid
        made.counts.setdefault(support, ((above, 1.0), (above + 1, 1.0)))

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
    return len(shape.centred) + lone + len(shape.plain) + shape.units


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
