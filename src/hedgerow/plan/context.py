"""The context of one binding: catalog, schema, parameters, and unused names."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from hedgerow.catalog.model import Catalog, DeclaredTable, Through
from hedgerow.catalog.names import fold
from hedgerow.expressions import zones
from hedgerow.expressions.table_names import parts_of
from hedgerow.expressions.types import Type
from hedgerow.plan.facts import FAITHFUL, Classes, Facts, Identifying, Key, Term, key_term
from hedgerow.plan.literals import Parameters
from hedgerow.schema import Schema, SchemaColumn

Bounds = Mapping[str, tuple[float, float]]


@dataclass
class Context:
    """One statement being bound."""

    catalog: Catalog
    schema: Schema
    params: Parameters
    bounds: Bounds
    keep_paths: bool = False
    """Join every table with the whole path to its owner, even where the query joins the same tables itself."""
    enforced: Identifying = field(init=False)
    declared: Identifying = field(init=False)
    prefix: str = field(init=False)
    bounded: set[str] = field(default_factory=set)
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _drawn: dict[tuple[Facts, frozenset[str], bool], Classes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.enforced = enforced_keys(self.schema)
        self.declared = declared_keys(self.catalog, self.schema)
        self.prefix = free_prefix(self.schema)

    def alias(self) -> str:
        """Return a name that no other relation of the statement has."""
        return f"{self.prefix}{next(self._numbers)}"

    def classes(self, facts: Facts, present: frozenset[str] = frozenset()) -> Classes:
        """Consequences of the facts and of keys that the database enforces."""
        return self._classes(facts, present, declared=False)

    def supposed(self, facts: Facts, present: frozenset[str] = frozenset()) -> Classes:
        """Return the consequences if every path of the catalog leads to one row, as the owner declares.

        Privacy: the declaration may be false. Use it to decide the meaning of a query, and add the assumption to the
        SQL; never use it to decide who owns a row.
        """
        return self._classes(facts, present, declared=True)

    def _classes(self, facts: Facts, present: frozenset[str], *, declared: bool) -> Classes:
        drawn = (facts, present, declared)
        if drawn not in self._drawn:
            self._drawn[drawn] = Classes(facts, self.declared if declared else self.enforced, present)
        return self._drawn[drawn]

    def unit_term(self, table: str, alias: str) -> Term | None:
        """Return the unit of a row of `table`, if the table has a unit column."""
        declared = self.catalog.tables[table]
        if not isinstance(declared.unit, str):
            return None
        return key_term(alias, as_read(declared, declared.unit, self.schema))

    def narrowed(self) -> dict[str, tuple[float, float]]:
        """Return the bounds that the query gives, by folded name of the column."""
        return {fold(name): pair for name, pair in self.bounds.items()}


def free_prefix(schema: Schema) -> str:
    """Return a prefix of aliases such that no table or column has the name of an alias.

    Privacy: an engine takes `t0.id` in a nested query for the field `id` of a column `t0` there, if it has one, or for
    a column of a table `t0` there, whatever its alias (ClickHouse). The condition that ties the query to its owner
    would then have no effect.
    """
    names = {fold(column) for table in schema.tables.values() for column in table.columns}
    names |= {fold(part) for table in schema.tables for part in parts_of(table)}
    prefix = "t"
    while any(name.startswith(prefix) and name[len(prefix) :].isdigit() for name in names):
        prefix += "_"
    return prefix


def enforced_keys(schema: Schema) -> Identifying:
    """Return the columns that identify one row of a table because the database enforces it."""
    return {
        name: frozenset(frozenset((column,) for column in key) for key in table.unique)
        for name, table in schema.tables.items()
    }


def declared_keys(catalog: Catalog, schema: Schema) -> Identifying:
    """Return the columns that identify one row of a table: enforced by the database, or the target of a path."""
    identifying: dict[str, set[Key]] = {name: set(keys) for name, keys in enforced_keys(schema).items()}
    for table in catalog.tables.values():
        if isinstance(table.unit, Through):
            target = catalog.tables[table.unit.table]
            read = frozenset(as_read(target, name, schema) for _, name in table.unit.on)
            identifying.setdefault(target.name, set()).add(read)
    return {name: frozenset(keys) for name, keys in identifying.items()}


def imposed(table: DeclaredTable, column: SchemaColumn) -> str | None:
    """The cast that a column is always read through.

    It is to the owner's type, or away from types that an engine converts by itself, which can fail on a row. Decimals
    that the database does not have as such are doubles.
    """
    declared = table.columns.get(column.name)
    wanted = declared.type if declared is not None else None
    if wanted is Type.DECIMAL and column.type is not Type.DECIMAL:
        wanted = Type.FLOAT
    if column.loose and wanted in {None, column.type}:
        wanted = column.type
    elif wanted is None or wanted is column.type:
        return None
    return f"imposed_{wanted.value}"


def zone_of(table: DeclaredTable, column: SchemaColumn) -> str | None:
    """Return the time zone in which a column of points in time is read; None for any other column."""
    declared = table.columns.get(column.name)
    if not column.instant and (declared is None or not declared.instant):
        return None
    return (declared.timezone if declared is not None else None) or table.timezone or zones.DEFAULT


def as_read(table: DeclaredTable, name: str, schema: Schema) -> tuple[str, ...]:
    """A column of a key as conditions see it: (name,), or (name, cast) where the cast may map two values to one."""
    column = schema.tables[table.name].columns[name]
    cast, zone = imposed(table, column), zone_of(table, column)
    if zone is not None and (zone != zones.DEFAULT or column.type is not Type.TIMESTAMP):
        cast = "in_zone"
    faithful = cast is None or (cast == FAITHFUL and column.type is Type.TEXT)
    return (name,) if faithful or cast is None else (name, cast)
