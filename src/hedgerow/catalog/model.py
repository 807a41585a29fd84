"""The owner's declarations: tables, privacy unit, bounds, keys, budget. Frozen, and checked when they are loaded."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from hedgerow.catalog.names import fold, lookup
from hedgerow.errors import CatalogError, Span
from hedgerow.expressions.table_names import parts_of, table_name
from hedgerow.expressions.types import Type
from hedgerow.expressions.zones import DEFAULT as DEFAULT_ZONE
from hedgerow.limits import StatementLimits

DEFAULT_SIZE = 10**12

Value = str | int | float | bool
"""A declared key."""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Date and epsilon of a private calibration. A note for people: nothing depends on it."""

    date: str
    epsilon: float


@dataclass(frozen=True, slots=True)
class DeclaredColumn:
    """The owner's declaration of one column.

    `values_from` is a public table and column with the keys, in place of a list: opening a database reads them into
    `values`. `instant` says that values are points in time, if the database does not say so itself; `timezone` is the
    zone in which they are read, if not that of the dataset.
    """

    name: str
    lower: float | None = None
    upper: float | None = None
    values: tuple[Value, ...] | None = None
    type: Type | None = None
    hidden: bool = False
    values_from: tuple[str, str] | None = None
    calibrated: Calibrated | None = None
    instant: bool = False
    timezone: str | None = None
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class Through:
    """The unit is in another table: follow `on` (own column, column of `table`) into `table`."""

    table: str
    on: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class DeclaredTable:
    """The owner's declaration of one table. Private unless `public`.

    `unit_unique` means one row per unit, and implies `max_rows: 1`. `timezone` is the zone in which points in time are
    read; by default the catalog's.
    """

    name: str
    public: bool = False
    unit: str | Through | None = None
    unit_unique: bool = False
    max_rows: int | None = None
    max_rows_per_group: int | None = None
    max_groups: int | None = None
    size: int = DEFAULT_SIZE
    undeclared_hidden: bool = False
    columns: Mapping[str, DeclaredColumn] = field(default_factory=dict)
    calibrated: Calibrated | None = None
    timezone: str | None = None
    comment: str | None = None

    def __post_init__(self) -> None:
        if self.unit_unique and self.max_rows is None:
            object.__setattr__(self, "max_rows", 1)

    def column(self, name: str) -> DeclaredColumn | None:
        """Return the declaration of the column `name`, in any spelling; None if there is none."""
        return lookup(self.columns, name)


@dataclass(frozen=True, slots=True)
class Cap:
    """A limit; `delta` is None if the dataset's applies."""

    epsilon: float
    delta: float | None = None


@dataclass(frozen=True, slots=True)
class BudgetPolicy:
    """Limits on what may be learnt about one unit, by everybody together and by each analyst."""

    epsilon: float
    delta: float
    pure_epsilon: float = 0.0
    refresh: timedelta | None = None
    lifetime: Cap | None = None
    per_query: Cap | None = None
    queries: int | None = None
    accounting: str | None = None
    schedule: str | None = None
    analysts: Mapping[str, Cap] = field(default_factory=dict)
    ledger: str | None = None


@dataclass(frozen=True, slots=True)
class Defaults:
    """Options of a query that states none. `min_frequency` is a lower limit as well."""

    epsilon: float | None = None
    delta: float | None = None
    min_frequency: int = 10
    confidence: float = 0.95


@dataclass(frozen=True, slots=True)
class Catalog:
    """One dataset: what is protected, and how much may be spent on it.

    `timezone` is the zone in which points in time are read as dates and times. `file` is the file's name as the owner
    gave it and `spans` maps the folded path of each entry (`("tables", "orders", "unit")`) to its position in it. Both
    are for messages only.
    """

    dataset: str
    budget: BudgetPolicy
    tables: Mapping[str, DeclaredTable]
    defaults: Defaults = field(default_factory=Defaults)
    limits: StatementLimits = field(default_factory=StatementLimits)
    version: str | None = None
    timezone: str = DEFAULT_ZONE
    path: Path | None = None
    file: str | None = field(default=None, compare=False, repr=False)
    spans: Mapping[tuple[str, ...], Span] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.timezone == DEFAULT_ZONE:
            return
        without_zone = {name: table for name, table in self.tables.items() if table.timezone is None}
        filled = {name: replace(table, timezone=self.timezone) for name, table in without_zone.items()}
        object.__setattr__(self, "tables", {**self.tables, **filled})

    def table(self, name: str) -> DeclaredTable | None:
        """Return the table called `name`, in any spelling; None if the catalog declares no such table."""
        named = {table_name(*parts_of(known)): table for known, table in self.tables.items()}
        plain, qualified = table_name(name), table_name(*parts_of(name))
        return lookup(self.tables, name) or lookup(named, qualified) or lookup(named, plain)

    def span(self, *path: str) -> Span | None:
        """Return the position of the entry at `path`, or of the nearest enclosing entry."""
        folded = tuple(fold(part) for part in path)
        lengths = range(len(folded), -1, -1)
        return next((self.spans[folded[:length]] for length in lengths if folded[:length] in self.spans), None)

    def problem(self, message: str, *path: str, code: str, hint: str) -> CatalogError:
        """Return the error that points at the entry at `path` (without a position if the catalog has no file)."""
        span = self.span(*path)
        where = "" if self.file is None or span is None else f"{self.file}:{span.line}: "
        return CatalogError(where + message, code=code, hint=hint, span=span)
