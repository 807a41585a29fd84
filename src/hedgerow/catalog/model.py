"""What the owner declares: tables, privacy unit, bounds, keys, budget. Frozen, and checked when it is loaded."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from hedgerow.expressions.types import Type

DEFAULT_SIZE = 10**12

Value = str | int | float | bool
"""A declared key."""


@dataclass(frozen=True, slots=True)
class Column:
    """What the owner says about one column."""

    name: str
    lower: float | None = None
    upper: float | None = None
    values: tuple[Value, ...] | None = None
    type: Type | None = None
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Through:
    """The unit is found by following `on` (own column, column of `table`) into `table`."""

    table: str
    on: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """What the owner says about one table. Private unless `public`."""

    name: str
    public: bool = False
    unit: str | Through | None = None
    unit_unique: bool = False
    max_rows: int | None = None
    max_rows_per_group: int | None = None
    max_groups: int | None = None
    size: int = DEFAULT_SIZE
    undeclared_hidden: bool = False
    columns: Mapping[str, Column] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cap:
    """A limit; `delta` is None where the dataset's applies."""

    epsilon: float
    delta: float | None = None


@dataclass(frozen=True, slots=True)
class BudgetPolicy:
    """How much may be learnt about any one unit, by everybody together and by each analyst."""

    epsilon: float
    delta: float
    pure_epsilon: float = 0.0
    refresh: timedelta | None = None
    lifetime: Cap | None = None
    per_query: Cap | None = None
    queries: int | None = None
    schedule: str | None = None
    analysts: Mapping[str, Cap] = field(default_factory=dict)
    ledger: str | None = None


@dataclass(frozen=True, slots=True)
class Defaults:
    """Used when a query does not say. `min_frequency` is a floor as well."""

    epsilon: float | None = None
    delta: float | None = None
    min_frequency: int = 10
    confidence: float = 0.95


@dataclass(frozen=True, slots=True)
class Catalog:
    """One dataset: what is protected, and how much may be asked of it."""

    dataset: str
    budget: BudgetPolicy
    tables: Mapping[str, Table]
    defaults: Defaults = field(default_factory=Defaults)
    version: str | None = None
    path: Path | None = None
