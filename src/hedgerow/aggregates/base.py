"""Definition of an aggregate: arithmetic on noisy sums.

It never meets a row. It names the sums it needs from the plan alone, and turns their noisy values
into an estimate with an interval. So a new aggregate cannot weaken privacy: at worst it is inaccurate.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.distributions import Noise
from hedgerow.error_bars.intervals import Bounds
from hedgerow.error_bars.intervals.interval import Status
from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.facts import range_of
from hedgerow.expressions.nodes import Call, Expr
from hedgerow.expressions.types import Type
from hedgerow.statistics.moments import Moments, ScaledColumn

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class KindFacts:
    """Public facts about a kind of sums.

    Attributes:
        stored: Its name in stored releases, which never changes.
        question: What it counts as among the questions of the query-budget note.
        foreseeable: Whether its error follows from the size of a group, with an upper end.
        joint: Whether its moments are released together.
    """

    stored: str
    question: str
    foreseeable: bool = True
    joint: bool = False


class Kind(Enum):
    """Kinds of sums. `privacy.kinds` says what each asks of a statement: a new kind is a line here and a row there."""

    UNITS = KindFacts("units", "count")
    ROWS = KindFacts("rows", "count")
    SUM = KindFacts("sum", "sum")
    MEAN = KindFacts("mean", "mean")
    SPREAD = KindFacts("spread", "var", foreseeable=False, joint=True)
    PAIR = KindFacts("pair", "var", foreseeable=False, joint=True)
    PAIRS = KindFacts("pairs", "var", foreseeable=False, joint=True)
    RANK = KindFacts("rank", "count", foreseeable=False)
    BIN = KindFacts("bin", "histogram")
    CELLS = KindFacts("cells", "histogram", foreseeable=False)
    ARMS = KindFacts("arms", "var", foreseeable=False)
    DISTINCT = KindFacts("distinct", "count", foreseeable=False)


@dataclass(frozen=True, slots=True)
class Rank:
    """Rank of the wanted value: a quantile; or for `extreme` the smallest (quantile 0) or largest (1).

    `aside` is by how many rows the definition in SQL may differ from a quantile proper, for the interval.
    """

    quantile: Fraction
    extreme: bool = False
    aside: int = 0


@dataclass(frozen=True, slots=True)
class NeededSums:
    """A sum (MEAN: a count and a sum over the same rows) over the rows where `filter` holds and `value` is there.

    SPREAD is a count, a sum and a sum of squares; PAIR those of two columns and of their product, without
    squares; PAIRS all of these. The second column is `other`, and must be there, too. RANK is the value at `rank`.
    BIN is the count of one of several `bins`, conditions no two of which hold at once; CELLS are the counts of all.
    ARMS is a SPREAD of the rows of each of the `bins`.
    """

    kind: Kind
    value: Expr | None = None
    filter: Expr | None = None
    other: Expr | None = None
    rank: Rank | None = None
    bins: tuple[Expr, ...] = ()
    bin: int = 0

    @property
    def stored_name(self) -> str:
        """Its name in stored releases, by which an old one is found: never to be changed."""
        kind = f"<Kind.{self.kind.name}: {self.kind.value.stored!r}>"
        rest = ", ".join(
            f"{name}={getattr(self, name)!r}" for name in ("value", "filter", "other", "rank", "bins", "bin")
        )
        return f"Need(kind={kind}, {rest})"


@dataclass(frozen=True)
class Form:
    """A linear form in the noisy coordinates of a release, for every group at once.

    `values` holds the noisy value of each group; the noise in it is the sum of `coefficient` times
    `noise` over `terms`, the same in every group. Two forms may share a coordinate, which is named by number.
    """

    values: Floats
    terms: tuple[tuple[int, float, Noise], ...]

    @property
    def noise(self) -> list[tuple[float, Noise]]:
        """The terms without the numbers."""
        return [(coefficient, noise) for _, coefficient, noise in self.terms]

    def plus(self, other: "Form") -> "Form":
        """The sum of both; a coordinate in both counts with the sum of its coefficients."""
        noises = {number: noise for number, _, noise in (*self.terms, *other.terms)}
        total = dict.fromkeys(noises, 0.0)
        for number, coefficient, _ in (*self.terms, *other.terms):
            total[number] += coefficient
        return Form(self.values + other.values, tuple((n, c, noises[n]) for n, c in sorted(total.items()) if c))

    def times(self, factor: float) -> "Form":
        """The form scaled."""
        return Form(self.values * factor, tuple((number, c * factor, noise) for number, c, noise in self.terms))


@dataclass(frozen=True)
class Ratio:
    """A quotient of two forms; with no denominator, the numerator alone.

    `support` is where the exact value is publicly known to lie.
    """

    numerator: Form
    denominator: Form | None = None
    support: tuple[float, float] = (-math.inf, math.inf)


def shared_noises(numerator: Form, denominator: Form) -> list[tuple[float, float, Noise]]:
    """The noises of both forms, each with its coefficient in the one and in the other."""
    numerators = {number: coefficient for number, coefficient, _ in numerator.terms}
    denominators = {number: coefficient for number, coefficient, _ in denominator.terms}
    noises = {number: noise for number, _, noise in (*numerator.terms, *denominator.terms)}
    return [(numerators.get(n, 0.0), denominators.get(n, 0.0), noise) for n, noise in sorted(noises.items())]


@dataclass(frozen=True)
class Selected:
    """A count of units that is shown because it reached `threshold`, with at least `minimum` units."""

    threshold: float
    minimum: int


@dataclass(frozen=True)
class Drawn:
    """Values that were drawn, one per group, with intervals that were bought at `beta`.

    `lowest` and `highest` are the ends of the public range. `safe` is False where a group is too small to show it.
    """

    values: Floats
    bounds: Bounds
    beta: float
    lowest: float
    highest: float
    safe: NDArray[np.bool_]


@dataclass(frozen=True)
class DistinctCount:
    """Noisy numbers of distinct values, one per group, of which each person adds a few at most.

    `complete` says that people within the limits of the catalog add all of theirs; `whole` that the database enforces
    it. `ceiling` is the public number of values that there are at most.
    """

    form: Form
    complete: bool
    whole: bool
    ceiling: float


@dataclass(frozen=True)
class MeasuredSums:
    """Numbers released for one `NeededSums`.

    `count` is the number of rows or units; `total` the sum; for a MEAN, `centred` is the sum of
    (x - middle) / half, every term of which lies in [-1, 1]. `moments` are sums of such terms, their squares and
    products, for one column or (`column`, `other`) two. `arms` are the moments of one column in each of two arms, whose
    noises are independent.
    """

    count: Form | None = None
    total: Form | None = None
    centred: Form | None = None
    middle: float = 0.0
    half: float = 1.0
    selected: Selected | None = None
    moments: Moments | None = None
    column: ScaledColumn | None = None
    other: ScaledColumn | None = None
    drawn: Drawn | None = None
    groups: int = 0
    distinct: tuple[DistinctCount, ...] = ()
    cells: tuple[Form, ...] = ()
    arms: tuple[Moments, ...] = ()
    ends: tuple[float, ...] = ()

    @property
    def support(self) -> tuple[float, float]:
        """Ends of the range of a value, which is symmetric around `middle` unless `ends` says otherwise."""
        if self.ends:
            return self.ends[0], self.ends[1]
        return self.middle - self.half, self.middle + self.half


@dataclass(frozen=True)
class Estimate:
    """A value and an interval for every group, and for some statistics what they say about a population."""

    values: Floats
    lower: Floats
    upper: Floats
    statuses: Sequence[Status]
    population: Bounds | None = None
    p_values: Floats | None = None

    @classmethod
    def around(cls, values: Floats, bounds: Bounds) -> "Estimate":
        """Values with their bounds, stretched where rounding left a value outside."""
        return cls(values, np.fmin(bounds.lower, values), np.fmax(bounds.upper, values), bounds.statuses)


class Aggregate(ABC):
    """One SQL aggregate.

    One that is registered cannot be subclassed: `sums`, `estimate`, `values` and `ratio` belong together, and error
    bars are made from the last one where there is one. What several share is an unregistered class above them.

    Attributes:
        name: What it is called in SQL.
        result: The type of its answer.
        max_arguments: The largest number of arguments.
        example: A call of it, over the numbers {x} and {y}, the whole number {k} and the conditions {b} and {c}.
        reference: The same without privacy, in DuckDB's SQL: what its tests compare it with.
    """

    name: ClassVar[str]
    result: ClassVar[Type]
    max_arguments: ClassVar[int] = 1
    example: ClassVar[str]
    reference: ClassVar[str]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        registered = next((base for base in cls.__mro__[1:] if "name" in vars(base)), None)
        if registered is not None:
            raise TypeError(
                f"{registered.__name__} is the aggregate {vars(registered)['name']} and cannot be subclassed: its sums "
                "and its estimate belong together. Derive from Aggregate, or from the class above it."
            )

    @abstractmethod
    def sums(self, arguments: Sequence[Expr], *, where: Expr | None, distinct: bool) -> NeededSums:
        """The sums from which it is computed."""

    @abstractmethod
    def estimate(self, measured: MeasuredSums, beta: float) -> Estimate:
        """The answer, with an interval that fails with probability at most `beta`."""

    def values(self, measured: MeasuredSums) -> Floats:
        """The answer alone."""
        return self.estimate(measured, 0.5).values

    def ratio(self, measured: MeasuredSums) -> Ratio | None:  # noqa: ARG002 - not every aggregate has one
        """The answer as a quotient of linear forms, for exact intervals of arithmetic; None where it is none."""
        return None


Registered = TypeVar("Registered", bound=Aggregate)
_AGGREGATES: dict[str, Aggregate] = {}


def aggregate(name: str, example: str, reference: str | None = None) -> Callable[[type[Registered]], type[Registered]]:
    """Register a class as the aggregate called `name`.

    Args:
        name: What it is called in SQL.
        example: See `Aggregate`; tests of reference, coverage and neighbours ask it.
        reference: Where DuckDB has no such aggregate, what it has instead.
    """

    def register(cls: type[Registered]) -> type[Registered]:
        cls.name, cls.example, cls.reference = name, example, reference or example
        _AGGREGATES[name] = cls()
        return cls

    return register


def lookup(name: str) -> Aggregate | None:
    """The aggregate of that name, if there is one."""
    return _AGGREGATES.get(name.upper())


def names() -> list[str]:
    """All aggregates, sorted."""
    return sorted(_AGGREGATES)


def bounded_pair(name: str, arguments: Sequence[Expr]) -> tuple[Expr, Expr]:
    """The two numeric arguments of `name`, each with a finite range."""
    if len(arguments) != 2:
        raise UnsupportedSQLError(f"{name} takes two values.", code="type-mismatch")
    return bounded_number(name, arguments[:1]), bounded_number(name, arguments[1:])


def bounded_number(name: str, arguments: Sequence[Expr]) -> Expr:
    """The single numeric argument of `name`, which must have a finite range for its sum to have a sensitivity."""
    if len(arguments) != 1:
        raise UnsupportedSQLError(f"{name} takes one value.", code="type-mismatch")
    value = arguments[0]
    if value.type is Type.BOOLEAN:
        value = Call("indicator", (value,), Type.INTEGER)
    if not value.type.is_numeric or value.type is Type.NULL:
        raise UnsupportedSQLError(f"{name} needs a number; this is {value.type.value}.", code="type-mismatch")
    if not range_of(value).is_finite:
        raise UnsupportedSQLError(
            f"The value in {name} has no bounds, so one person could change the result without limit.",
            code="missing-bounds",
            hint="Declare lower and upper for its columns in the catalog, or write CLIP(x, lower, upper).",
        )
    return value
