"""What a calibration found, and for which price."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from hedgerow.accounting.budget import Spending
from hedgerow.answer import Payment

EPOCH = date(1970, 1, 1)
DAYS = (-719_162, 2_932_896)
"""The years 1 to 9999, in days from the epoch."""


@dataclass(frozen=True, slots=True)
class ColumnRange:
    """The range of one column that enough people share; None at both ends where there is none.

    `days` says that the ends are days since 1970-01-01, of a column of dates. `epsilon` is what finding it cost: 0
    where it was known from earlier answers.
    """

    column: str
    lower: float | None
    upper: float | None
    epsilon: float
    days: bool = False

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON; days as dates."""
        ends = (_day(self.lower), _day(self.upper)) if self.days else (self.lower, self.upper)
        return {"column": self.column, "lower": ends[0], "upper": ends[1], "epsilon": self.epsilon}


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit on rows or groups of one person that about one person in a hundred exceeds; None where none was found."""

    value: int | None
    epsilon: float


@dataclass(frozen=True)
class Calibration:
    """Private estimates of what a catalog says about one table.

    Attributes:
        table: Its name.
        columns: The range of each column.
        max_rows: How many rows one person has, up to about one in a hundred; None where it was not asked or not found.
        max_groups: In how many groups of the keys one person is, likewise.
        by: The keys that `max_groups` is about.
        date: The day on which it was made.
        charge: What it cost in all.
        payments: Every single charge.
        remaining: What is left afterwards.
        lowered: Limits of the catalog that no longer fit below `max_rows`, and are lowered to it.
    """

    table: str
    columns: tuple[ColumnRange, ...]
    rows: Limit | None
    groups: Limit | None
    by: tuple[str, ...]
    date: str
    charge: Spending
    payments: tuple[Payment, ...]
    remaining: Spending
    lowered: Mapping[str, int] = field(default_factory=dict)

    @property
    def max_rows(self) -> int | None:
        """The limit on rows."""
        return None if self.rows is None else self.rows.value

    @property
    def max_groups(self) -> int | None:
        """The limit on groups, which is never above that on rows."""
        found = None if self.groups is None else self.groups.value
        return found if found is None or self.max_rows is None else min(found, self.max_rows)

    def __getitem__(self, column: str) -> ColumnRange:
        return next(found for found in self.columns if found.column == column)

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line."""
        return {
            "table": self.table,
            "columns": [column.to_dict() for column in self.columns],
            "max_rows": self.max_rows,
            "max_groups": self.max_groups,
            "by": list(self.by),
            "date": self.date,
            "charge": {"epsilon": self.charge.epsilon, "delta": self.charge.delta},
            "payments": [payment.to_dict() for payment in self.payments],
            "remaining": {"epsilon": self.remaining.epsilon, "delta": self.remaining.delta},
        }

    def catalog_patch(self) -> dict[str, Any]:
        """What to write into the catalog, in its own shape. Dates have no bounds there."""
        columns = {found.column: self._bounds(found) for found in self.columns if _is_writable(found)}
        limits: dict[str, Any] = {"max_rows": self.max_rows, "max_groups": self.max_groups}
        table: dict[str, Any] = {**self.lowered, **{name: value for name, value in limits.items() if value is not None}}
        if table:
            spent = sum(limit.epsilon for limit in (self.rows, self.groups) if limit is not None)
            table |= _note(self.date, spent)
        if columns:
            table["columns"] = columns
        return {"tables": {self.table: table}} if table else {}

    def changes(self) -> Mapping[tuple[str, ...], Any]:
        """The same, entry by entry, by the path that leads to each."""
        table = self.catalog_patch().get("tables", {}).get(self.table, {})
        columns = table.get("columns", {})
        place = ("tables", self.table)
        own: dict[tuple[str, ...], Any] = {(*place, name): value for name, value in table.items() if name != "columns"}
        inner: dict[tuple[str, ...], Any] = {
            (*place, "columns", column, name): value
            for column, fields in columns.items()
            for name, value in reversed(fields.items())
        }
        return {**dict(reversed(own.items())), **inner}

    def _bounds(self, found: ColumnRange) -> dict[str, Any]:
        ends = {"lower": _plain(found.lower), "upper": _plain(found.upper)}
        return {**ends, **_note(self.date, found.epsilon)}


def _note(day: str, epsilon: float) -> dict[str, Any]:
    return {"calibrated": {"date": day, "epsilon": float(f"{epsilon:.4g}")}}


def _is_writable(found: ColumnRange) -> bool:
    return found.lower is not None and not found.days


def _plain(end: float | None) -> float | None:
    return int(end) if end is not None and end.is_integer() and abs(end) < 2**53 else end


def _day(end: float | None) -> str | None:
    if end is None:
        return None
    return (EPOCH + timedelta(days=int(min(max(end, DAYS[0]), DAYS[1])))).isoformat()
