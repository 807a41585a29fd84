"""Generated people: their rows, the links between the rows of one person, and the search for those who match a query.

The search is at random, by the contribution of a person to the exact sums, which is found by running the query's own
SQL over their rows. The rows are generated, so nothing about them is private, and no noise is needed.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random

import duckdb

from hedgerow.audit.blueprint import Blueprint, ColumnRef, Pool, Row
from hedgerow.catalog import Catalog, DeclaredTable, Through
from hedgerow.compiled import ALL_KEYS, SELECTED, UNITS
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


SUM = re.compile(r"s\d+")

Group = tuple[int, tuple[str, ...]]
"""The index of a statement of the query, and a key."""

Footprint = Mapping[Group, tuple[int, ...]]
"""For each group, the integers that the database returns for it."""


@dataclass(frozen=True)
class Probe:
    """A database in which a few people at a time are tried."""

    blueprint: Blueprint
    sheets: tuple[Sheet, ...]
    texts: tuple[str, ...]
    connection: duckdb.DuckDBPyConnection

    def footprint(self, *people: Person) -> Footprint:
        """Return the contribution of these people alone."""
        crowd = Crowd(self.sheets)
        crowd.add(*people)
        return self.of(crowd)

    def of(self, crowd: Crowd) -> Footprint:
        """Return the contribution of a whole crowd."""
        self.connection.execute("BEGIN TRANSACTION")
        try:
            crowd.settle(self.blueprint, self.connection)
            return self._looked()
        finally:
            self.connection.execute("ROLLBACK")

    def _looked(self) -> Footprint:
        footprint: dict[Group, tuple[int, ...]] = {}
        for index, text in enumerate(self.texts):
            result = self.connection.execute(text)
            names = [column[0] for column in result.description or ()]
            for row in result.fetchall():
                key, numbers = _parted(names, row)
                if key or any(numbers):
                    before = footprint.get((index, key), (0,) * len(numbers))
                    footprint[index, key] = tuple(a + b for a, b in zip(before, numbers, strict=True))
        return footprint


def survey_texts(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the statements of a query that need no released keys."""
    return tuple(text for text in texts if SELECTED not in text)


def _parted(names: Sequence[str], row: Sequence[object]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Split a row into its key, as text, and its integers."""
    pairs = [(name, value) for name, value in zip(names, row, strict=True) if name != ALL_KEYS]
    counted = [name == UNITS or SUM.fullmatch(name) is not None or name.startswith("hedgerow_") for name, _ in pairs]
    key = tuple(str(value) for (_, value), number in zip(pairs, counted, strict=True) if not number)
    numbers = (value for (_, value), number in zip(pairs, counted, strict=True) if number)
    return key, tuple(int(value) if isinstance(value, int | Decimal) else 0 for value in numbers)


MOST_LOOKS = 300
PATIENCE = 40
"""Number of failed attempts after the first match until the search stops."""

ROWS = (1, 1, 3)
"""Numbers of rows of one kind that people have, in turn: a query may ask for people with several."""

KINDS_OF_ROWS = (1, 1, 1, 2, 1, 1, 3)
"""Numbers of different kinds of rows: a query may compare rows of one person."""


@dataclass(frozen=True)
class Match:
    """A person who counts: examples of their rows, copies of each, and their contribution."""

    examples: tuple[Example, ...]
    copies: int
    footprint: Footprint

    @property
    def groups(self) -> frozenset[Group]:
        """The groups in which the person counts."""
        return frozenset(self.footprint)

    def person(self, overrides: Example | None = None) -> Person:
        """Return such a person, with some cells replaced."""
        return Person(tuple({**example, **(overrides or {})} for example in self.examples), self.copies)

    def with_rows(self, cells: Sequence[Example]) -> Person:
        """Return such a person, with one more row for each of these cells."""
        more = ({**self.examples[0], **changes} for changes in cells)
        return Person((*self.examples[1:], *more), self.copies)


class Search:
    """Searches for people who count in different groups. It is deterministic: it makes rows, not noise."""

    def __init__(self, probe: Probe, pools: Mapping[ColumnRef, Pool], used: Sequence[ColumnRef]) -> None:
        self._probe = probe
        self._pools = pools
        self._used = tuple(column for column in used if column in pools)
        self._random = Random(0)  # noqa: S311 - rows that are made up are no secret

    def people(self, wanted: int) -> list[Match]:
        """Return people in up to `wanted` different groups, one for each; none if no person was found who counts."""
        people_by_groups: dict[frozenset[Group], Match] = {}
        vain = 0
        for look in range(MOST_LOOKS):
            if len(people_by_groups) >= wanted or (people_by_groups and vain > PATIENCE):
                break
            examples = (
                self._varied(list(people_by_groups.values())) if people_by_groups and look % 2 else self._fresh(look)
            )
            copies = ROWS[look % len(ROWS)]
            footprint = self._probe.footprint(Person(examples, copies))
            new = bool(footprint) and not any(set(footprint) & groups for groups in people_by_groups)
            vain = 0 if new else vain + 1
            if new:
                people_by_groups[frozenset(footprint)] = Match(examples, copies, footprint)
        return list(people_by_groups.values())

    def _fresh(self, look: int) -> tuple[Example, ...]:
        """A new person: with one row of every table; later also with different rows, or without rows of some table."""
        usual: dict[ColumnRef, str | None] = {column: pool.usual[0] for column, pool in self._pools.items()}
        examples = tuple(
            {**usual, **{column: self._choice(column) for column in self._used}}
            for _ in range(KINDS_OF_ROWS[look % len(KINDS_OF_ROWS)])
        )
        if look % 5 != 4:
            return examples
        absent = self._random.choice(self._probe.sheets).name
        return tuple({**example, (absent, ABSENT): ABSENT} for example in examples)

    def _varied(self, people: Sequence[Match]) -> tuple[Example, ...]:
        """Return a variation of a person who counts, with one or two other cells."""
        chosen = self._random.choice(people).examples
        columns = self._random.sample(self._used, min(len(self._used), self._random.choice((1, 1, 2))))
        cells = {column: self._choice(column) for column in columns}
        return tuple({**example, **cells} for example in chosen)

    def _choice(self, column: ColumnRef) -> str | None:
        """Return a value; every other time one of the first, which include the constants of the query."""
        usual = self._pools[column].usual
        return self._random.choice(usual[:4] if self._random.random() < 0.5 else usual)


def extremes(probe: Probe, pools: Mapping[ColumnRef, Pool], main: Match) -> dict[str, Example]:
    """Return cells that maximise and minimise the contribution of a person in the group of `main`: "high" and "low".

    Every numeric column is set to its bound, and to values further and further beyond; the cells that keep the person
    in the group and move the sums furthest are taken, the furthest value among equals.
    """
    ends: dict[str, Example] = {}
    for name, sign in (("high", 1), ("low", -1)):
        best = _size(main.footprint, main.groups)
        outwards = {column: getattr(pool, name) for column, pool in pools.items() if getattr(pool, name)}
        for step in range(max(map(len, outwards.values()), default=0)):
            # all numeric columns at the same step outwards; those with fewer steps stay at their last
            overrides = {column: texts[min(step, len(texts) - 1)] for column, texts in outwards.items()}
            kept, size = _kept(probe, main, overrides)
            if kept and sign * (size - best) >= 0:
                best, ends[name] = size, kept
    return ends


def others(probe: Probe, pools: Mapping[ColumnRef, Pool], main: Match) -> dict[ColumnRef, list[str | None]]:
    """Return, by column, the values that leave a person in the group of `main`, and in no other."""
    values: dict[ColumnRef, list[str | None]] = {}
    for column, pool in pools.items():
        texts = [text for text in pool.usual if text != main.examples[0][column]]
        person = main.with_rows([{column: text} for text in texts])
        if texts and frozenset(probe.footprint(person)) == main.groups:
            values[column] = texts
    return values


def _kept(probe: Probe, main: Match, overrides: Example) -> tuple[Example, int]:
    """Return as many of the overrides as leave the person in the group, and the person's contribution there."""
    size = _stays(probe, main, overrides)
    if size is not None:
        return overrides, size
    kept: dict[ColumnRef, str | None] = {}
    best = 0
    for column, text in overrides.items() if len(overrides) > 1 else ():
        size = _stays(probe, main, {**kept, column: text})
        if size is not None:
            kept[column], best = text, size
    return kept, best


def _stays(probe: Probe, main: Match, overrides: Example) -> int | None:
    """Return the person's contribution in the group, or None if the person leaves it."""
    footprint = probe.footprint(main.person(overrides))
    return _size(footprint, main.groups) if main.groups <= frozenset(footprint) else None


def _size(footprint: Footprint, groups: frozenset[Group]) -> int:
    return sum(sum(numbers) for group, numbers in footprint.items() if group in groups)
