"""Rows of made-up people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import duckdb

from hedgerow.audit.blueprint import Blueprint, Row
from hedgerow.audit.constants import Place
from hedgerow.audit.layout import Sheet

Example = Mapping[Place, str | None]
"""One row of each private table: what stands in the columns that are free."""

ABSENT = ""
"""Stands for a column where an example has no row of a table at all: `{("orders", ABSENT): ABSENT}`."""


@dataclass(frozen=True)
class Person:
    """Somebody: so many rows like each of these examples."""

    examples: tuple[Example, ...]
    copies: int = 1


@dataclass
class Crowd:
    """People, as rows of private tables. Whoever is added later changes nothing of those who are there."""

    sheets: tuple[Sheet, ...]
    rows: dict[str, list[Row]] = field(default_factory=dict)
    size: int = 0
    _numbers: dict[str, int] = field(default_factory=dict)

    def add(self, *people: Person) -> None:
        """Give these people rows, under names of their own."""
        for person in people:
            self.size += 1
            self._add(person, self.size)

    def copy(self) -> "Crowd":
        """The same people."""
        rows = {name: list(made) for name, made in self.rows.items()}
        return Crowd(self.sheets, rows, self.size, dict(self._numbers))

    def settle(self, blueprint: Blueprint, connection: duckdb.DuckDBPyConnection) -> None:
        """Put everybody into an empty database."""
        for name, rows in self.rows.items():
            blueprint.insert(connection, name, rows)

    def _add(self, person: Person, identity: int) -> None:
        own: dict[tuple[str, Row], dict[str, str | None]] = {}
        for example in person.examples:
            for _ in range(person.copies):
                made: dict[str, dict[str, str | None]] = {}
                for sheet in self.sheets:
                    reached = sheet.parent is None or sheet.parent in made
                    if reached and (sheet.name, ABSENT) not in example:
                        made[sheet.name] = self._row(sheet, identity, example, made, own)

    def _row(
        self,
        sheet: Sheet,
        identity: int,
        example: Example,
        made: Mapping[str, Mapping[str, str | None]],
        own: dict[tuple[str, Row], dict[str, str | None]],
    ) -> dict[str, str | None]:
        """A new row; or the person's earlier one, where the database allows no second."""
        cells: dict[str, str | None] = {name: example.get((sheet.name, name)) for name in sheet.free}
        if sheet.unit is not None:
            cells[sheet.unit] = _named(identity, as_uuid=sheet.unit in sheet.identities)
        for mine, theirs in sheet.path:
            cells[mine] = made[sheet.parent or ""][theirs]
        for name in sheet.numbered:
            cells[name] = self._number(sheet, name)
        keys = [(f"{sheet.name}.{key}", tuple(cells[name] for name in key)) for key in sheet.unique]
        for key in keys:
            if key in own:
                return own[key]
        own.update(dict.fromkeys(keys, cells))
        self.rows.setdefault(sheet.name, []).append(tuple(cells[name] for name in sheet.columns))
        return cells

    def _number(self, sheet: Sheet, name: str) -> str:
        number = self._numbers[sheet.name] = self._numbers.get(sheet.name, 0) + 1
        return _named(number, as_uuid=name in sheet.identities)


def crowd(sheets: tuple[Sheet, ...], people: Sequence[tuple[int, Person]]) -> Crowd:
    """So many people of each kind."""
    made = Crowd(sheets)
    for number, person in people:
        made.add(*([person] * number))
    return made


def _named(number: int, *, as_uuid: bool) -> str:
    return f"00000000-0000-4000-8000-{number:012d}" if as_uuid else str(number)
