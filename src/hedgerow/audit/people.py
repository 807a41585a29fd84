"""Rows of generated people, and the links between the rows of one person."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import duckdb

from hedgerow.audit.blueprint import Blueprint, ColumnRef, Row
from hedgerow.catalog import Catalog, DeclaredTable, Through
from hedgerow.expressions.types import Type
from hedgerow.schema import SchemaTable

NUMBERED = frozenset({Type.INTEGER, Type.DECIMAL, Type.FLOAT, Type.TEXT, Type.OTHER})
"""Types with any number of distinct values."""

NARROW = ("TINYINT", "UTINYINT", "SMALLINT", "USMALLINT", "DECIMAL", "ENUM")
"""Types with only a few distinct values."""


@dataclass(frozen=True)
class Sheet:
    """One private table.

    Attributes:
        name: The table.
        columns: All columns, in order.
        unit: The column that names the person, if it has one.
        parent: The table that the path leads to otherwise.
        path: Own columns, with the columns of the parent that they equal.
        numbered: Columns that get a new number in every row, because keys must be unique.
        unique: Sets of columns that the database keeps unique.
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


def sheets(blueprint: Blueprint, tables: Collection[str], used: Collection[ColumnRef]) -> tuple[Sheet, ...]:
    """Return the private tables among `tables`, and those on the path to their units, parents first."""
    catalog = blueprint.catalog
    named = dict.fromkeys(step for name in sorted(tables) for step in reversed(list(_way(catalog, name))))
    paths = [table.unit for table in catalog.tables.values() if isinstance(table.unit, Through)]
    keys = {(through.table, theirs) for through in paths for _, theirs in through.on}
    return tuple(_sheet(catalog.tables[name], blueprint, keys, used) for name in named)


def _way(catalog: Catalog, name: str) -> Iterator[str]:
    """Return the table and those on the path to its unit, if it is private."""
    table: DeclaredTable | None = catalog.tables[name]
    while table is not None and not table.public:
        yield table.name
        table = catalog.tables[table.unit.table] if isinstance(table.unit, Through) else None


def _sheet(
    table: DeclaredTable, blueprint: Blueprint, keys: Collection[ColumnRef], used: Collection[ColumnRef]
) -> Sheet:
    schema = blueprint.tables[table.name]
    through = table.unit if isinstance(table.unit, Through) else None
    unit = table.unit if isinstance(table.unit, str) else None
    path = () if through is None else through.on
    tied = {unit, *(own for own, _ in path)} - {None}
    numbered = {name for name in schema.columns if (table.name, name) in keys and name not in tied}
    for key in sorted(schema.unique, key=sorted):
        if not numbered & key and (chosen := _told_apart_by(schema, key - tied, used)) is not None:
            numbered.add(chosen)
    natives = {name: blueprint.natives[table.name, name].upper() for name in schema.columns}
    return Sheet(
        table.name,
        tuple(schema.columns),
        unit,
        None if through is None else through.table,
        path,
        frozenset(numbered),
        tuple(tuple(sorted(key)) for key in sorted(schema.unique, key=sorted)),
        frozenset(name for name, native in natives.items() if native == "UUID"),
    )


def _told_apart_by(table: SchemaTable, columns: frozenset[str], used: Collection[ColumnRef]) -> str | None:
    """Return the column of a key to number: preferably one that the query does not read, of a type with many values."""
    able = [name for name in sorted(columns) if table.columns[name].type in NUMBERED]
    narrow = {name for name in able if table.columns[name].native.upper().startswith(NARROW)}
    return min(able, key=lambda name: ((table.name, name) in used, name in narrow), default=None)


Example = Mapping[ColumnRef, str | None]
"""One row of each private table: the values of its free columns."""

ABSENT = ""
"""Marks a table of which an example has no row: `{("orders", ABSENT): ABSENT}`."""


@dataclass(frozen=True)
class Person:
    """A person: `copies` rows like each of these examples."""

    examples: tuple[Example, ...]
    copies: int = 1


@dataclass
class Crowd:
    """People, as rows of private tables. Adding a person does not change the others."""

    sheets: tuple[Sheet, ...]
    rows: dict[str, list[Row]] = field(default_factory=dict)
    size: int = 0
    _numbers: dict[str, int] = field(default_factory=dict)

    def add(self, *people: Person) -> None:
        """Add these people, with new identities."""
        for person in people:
            self.size += 1
            self._add(person, self.size)

    def copy(self) -> "Crowd":
        """Return a copy with the same people."""
        rows = {name: list(own_rows) for name, own_rows in self.rows.items()}
        return Crowd(self.sheets, rows, self.size, dict(self._numbers))

    def settle(self, blueprint: Blueprint, connection: duckdb.DuckDBPyConnection) -> None:
        """Insert everybody into an empty database."""
        for name, rows in self.rows.items():
            blueprint.insert(connection, name, rows)

    def _add(self, person: Person, identity: int) -> None:
        own: dict[tuple[str, Row], dict[str, str | None]] = {}
        for example in person.examples:
            for _ in range(person.copies):
                rows_made: dict[str, dict[str, str | None]] = {}
                for sheet in self.sheets:
                    reached = sheet.parent is None or sheet.parent in rows_made
                    if reached and (sheet.name, ABSENT) not in example:
                        rows_made[sheet.name] = self._row(sheet, identity, example, rows_made, own)

    def _row(
        self,
        sheet: Sheet,
        identity: int,
        example: Example,
        parents: Mapping[str, Mapping[str, str | None]],
        own: dict[tuple[str, Row], dict[str, str | None]],
    ) -> dict[str, str | None]:
        """Return a new row, or the person's earlier one if the database allows no second."""
        cells: dict[str, str | None] = {name: example.get((sheet.name, name)) for name in sheet.free}
        if sheet.unit is not None:
            cells[sheet.unit] = _named(identity, as_uuid=sheet.unit in sheet.identities)
        for mine, theirs in sheet.path:
            cells[mine] = parents[sheet.parent or ""][theirs]
        for name in sheet.numbered:
            number = self._numbers[sheet.name] = self._numbers.get(sheet.name, 0) + 1
            cells[name] = _named(number, as_uuid=name in sheet.identities)
        keys = [(f"{sheet.name}.{key}", tuple(cells[name] for name in key)) for key in sheet.unique]
        for key in keys:
            if key in own:
                return own[key]
        own.update(dict.fromkeys(keys, cells))
        self.rows.setdefault(sheet.name, []).append(tuple(cells[name] for name in sheet.columns))
        return cells


def crowd(sheets: tuple[Sheet, ...], people: Sequence[tuple[int, Person]]) -> Crowd:
    """Return a crowd with this many people of each kind."""
    people_added = Crowd(sheets)
    for number, person in people:
        people_added.add(*([person] * number))
    return people_added


def _named(number: int, *, as_uuid: bool) -> str:
    return f"00000000-0000-4000-8000-{number:012d}" if as_uuid else str(number)
