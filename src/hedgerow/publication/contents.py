"""Contents of a release before it is written: named answers with titles and texts, and what the owner declares."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hedgerow.answer import Answer, NoteKind
from hedgerow.catalog.model import DeclaredTable, Through
from hedgerow.publication.data import DataTable, data_table

RESERVED = frozenset({"content", "methods", "limits", "dictionary", "certificate"})
"""Names of parts of the page and of the package, which no table has."""

_UNSAFE = re.compile(r"[^a-z0-9]+")


def file_stem(text: str, taken: set[str]) -> str:
    """Return a name for files: lower-case letters, digits and hyphens, unlike those taken, to which it is added.

    Example:
        >>> taken = set()
        >>> file_stem("Visits by ward", taken), file_stem("visits, by ward!", taken), file_stem("../", taken)
        ('visits-by-ward', 'visits-by-ward-2', 'table')
    """
    stem = _UNSAFE.sub("-", text.lower()).strip("-")[:60] or "table"
    name, number = stem, 1
    while name in taken:
        number += 1
        name = f"{stem}-{number}"
    taken.add(name)
    return name


NONE, ALL, ALL_OR_NONE = "none", "all", "all or none"
"""Meanings of a key without a value: no value; all values, in a total of ROLLUP, CUBE or GROUPING SETS; either."""


@dataclass(frozen=True)
class PublishedTable:
    """One answer of a release. `stem` begins the names of its files; `no_value` is what a key without a value means."""

    name: str
    title: str
    text: str
    sql: str
    stem: str
    answer: Answer
    no_value: str = NONE

    @cached_property
    def data(self) -> DataTable:
        """The values with their margins of error."""
        return data_table(self.answer)

    @property
    def charges(self) -> list[int]:
        """The numbers of the ledger's entries that paid for the answer."""
        receipt = self.answer.receipt
        ids = [receipt.id, *(payment.id for payment in receipt.payments)]
        return sorted({int(identity.rpartition("-")[2]) for identity in ids if identity is not None})


@dataclass(frozen=True)
class PublishedReport:
    """A release before it is written.

    Attributes:
        title: The title of the whole.
        text: A text about the whole.
        source: The text of the report's file.
        dataset: Name of the dataset.
        version: The owner's version of the data, if there is one.
        tables: The answers.
        sources: The private tables that they read, as the owner declares them.
        same_rows: The names of tables that are about the same rows by different keys, group by group.
    """

    title: str
    text: str
    source: str
    dataset: str
    version: str | None
    tables: tuple[PublishedTable, ...]
    sources: tuple[DeclaredTable, ...]
    same_rows: tuple[tuple[str, ...], ...] = ()

    @property
    def charges(self) -> list[int]:
        """The numbers of all entries that paid for the release."""
        return sorted({charge for table in self.tables for charge in table.charges})

    @property
    def together(self) -> tuple[tuple[str, ...], ...]:
        """The names of the tables that were measured together and add up to each other, group by group."""
        noted = {
            table.name
            for table in self.tables
            if any(note.kind is NoteKind.MEASURED_TOGETHER for note in table.answer.notes)
        }
        groups = (tuple(name for name in names if name in noted) for names in self.same_rows)
        return tuple(names for names in groups if len(names) > 1)

    @property
    def apart(self) -> tuple[str, ...]:
        """The names of the tables about the same rows as another one, to which they do not add up."""
        added_up = {name for names in self.together for name in names}
        return tuple(dict.fromkeys(name for names in self.same_rows for name in names if name not in added_up))

    @property
    def people(self) -> str:
        """The columns that name the protected person, in words."""
        named = [f"{table.name}.{table.unit}" for table in self.sources if isinstance(table.unit, str)]
        through = [
            f"{table.name} through {table.unit.table}" for table in self.sources if isinstance(table.unit, Through)
        ]
        return ", ".join(named + through)

    @property
    def min_frequency(self) -> int:
        """The smallest number of people in a group that any table shows."""
        noisy = [table.answer.receipt.min_frequency for table in self.tables if table.charges]
        return min(noisy, default=1)


def limits_of(table: DeclaredTable) -> dict[str, Any]:
    """Return the unit, the limits of one person and the bounds of values of a table, as plain JSON."""
    unit: Any = table.unit
    if isinstance(unit, Through):
        unit = {"through": unit.table, "on": dict(unit.on)}
    limits = {
        "max_rows": table.max_rows,
        "max_rows_per_group": table.max_rows_per_group,
        "max_groups": table.max_groups,
    }
    bounds = {
        column.name: {"lower": column.lower, "upper": column.upper}
        for column in table.columns.values()
        if not column.hidden and (column.lower is not None or column.upper is not None)
    }
    declared_limits = {name: limit for name, limit in limits.items() if limit is not None}
    return {"unit": unit, **declared_limits, **({"bounds": bounds} if bounds else {})}


def _as_title(name: str) -> str:
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]


def report_of(
    answers: Mapping[str, Answer],
    *,
    title: str,
    text: str = "",
    source: str,
    titles: Mapping[str, str],
    texts: Mapping[str, str],
    dataset: str,
    version: str | None,
    sources: Sequence[DeclaredTable],
    no_values: Mapping[str, str],
    same_rows: Sequence[tuple[str, ...]] = (),
) -> PublishedReport:
    """Return the report of some named answers; `no_values` says what a key without a value means in each."""
    taken = set(RESERVED)
    tables = tuple(
        PublishedTable(
            name,
            titles.get(name) or _as_title(name),
            texts.get(name, ""),
            answer.receipt.query,
            file_stem(name, taken),
            answer,
            no_values.get(name, NONE),
        )
        for name, answer in answers.items()
    )
    return PublishedReport(title, text, source, dataset, version, tables, tuple(sources), tuple(same_rows))
