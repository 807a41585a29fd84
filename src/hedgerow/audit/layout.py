"""How the rows of one person hang together: whose they are, which keys they have, what may vary."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from hedgerow.audit.blueprint import Blueprint
from hedgerow.audit.constants import Place
from hedgerow.catalog import Catalog, DeclaredTable, Through
from hedgerow.expressions.types import Type
from hedgerow.schema import SchemaTable

NUMBERED = frozenset({Type.INTEGER, Type.DECIMAL, Type.FLOAT, Type.TEXT, Type.OTHER})
"""Types of which any number of different values can be made."""

NARROW = ("TINYINT", "UTINYINT", "SMALLINT", "USMALLINT", "DECIMAL", "ENUM")
"""And those of which only few can."""


@dataclass(frozen=True)
class Sheet:
    """One private table.

    Attributes:
        name: The table.
        columns: All of them, in order.
        unit: The column that names the person, if it has one.
        parent: The table in which the person is found otherwise.
        path: Own columns, with those of the parent that they are equal to.
        numbered: Columns that get a new number in every row, because rows are told apart by them.
        unique: What the database keeps unique.
        identities: Columns of type UUID among unit and numbered ones.
    """

    name: str
    columns: tuple[str, ...]
    unit: str | None
    parent: str | None
    path: tuple[tuple[str, str], ...]
    numbered: frozenset[str]
    unique: tuple[tuple[str, ...], ...]
    identities: frozenset[str]

    @property
    def free(self) -> tuple[str, ...]:
        """The columns that an example sets."""
        tied = {self.unit, *(own for own, _ in self.path), *self.numbered}
        return tuple(name for name in self.columns if name not in tied)


def sheets(blueprint: Blueprint, tables: Collection[str], used: Collection[Place]) -> tuple[Sheet, ...]:
    """The private tables among `tables`, and those on the way to their units, parents first."""
    catalog = blueprint.catalog
    named = dict.fromkeys(step for name in sorted(tables) for step in reversed(list(_way(catalog, name))))
    paths = [table.unit for table in catalog.tables.values() if isinstance(table.unit, Through)]
    keys = {(through.table, theirs) for through in paths for _, theirs in through.on}
    return tuple(_sheet(catalog.tables[name], blueprint, keys, used) for name in named)


def _way(catalog: Catalog, name: str) -> Iterator[str]:
    """The table and those in which its unit is looked for, if it is private."""
    table: DeclaredTable | None = catalog.tables[name]
    while table is not None and not table.public:
        yield table.name
        table = catalog.tables[table.unit.table] if isinstance(table.unit, Through) else None


def _sheet(table: DeclaredTable, blueprint: Blueprint, keys: Collection[Place], used: Collection[Place]) -> Sheet:
    found = blueprint.tables[table.name]
    through = table.unit if isinstance(table.unit, Through) else None
    unit = table.unit if isinstance(table.unit, str) else None
    path = () if through is None else through.on
    tied = {unit, *(own for own, _ in path)} - {None}
    numbered = {name for name in found.columns if (table.name, name) in keys and name not in tied}
    for key in sorted(found.unique, key=sorted):
        if not numbered & key and (chosen := _told_apart_by(found, key - tied, used)) is not None:
            numbered.add(chosen)
    natives = {name: blueprint.natives[table.name, name].upper() for name in found.columns}
    return Sheet(
        table.name,
        tuple(found.columns),
        unit,
        None if through is None else through.table,
        path,
        frozenset(numbered),
        tuple(tuple(sorted(key)) for key in sorted(found.unique, key=sorted)),
        frozenset(name for name, native in natives.items() if native == "UUID"),
    )


def _told_apart_by(table: SchemaTable, columns: frozenset[str], used: Collection[Place]) -> str | None:
    """The column of a key that is numbered: rather one that the query does not read, and with room for many."""
    able = [name for name in sorted(columns) if table.columns[name].type in NUMBERED]
    narrow = {name for name in able if table.columns[name].native.upper().startswith(NARROW)}
    return min(able, key=lambda name: ((table.name, name) in used, name in narrow), default=None)
