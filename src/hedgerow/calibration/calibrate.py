"""`db.calibrate`: private estimates of the bounds and limits that a catalog declares."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any

from hedgerow.accounting.budget import Spending
from hedgerow.answer import BoundsWarning, Payment
from hedgerow.calibration.bounds_search import ALONE, UnboundedValue, find_limit, find_range
from hedgerow.calibration.buckets import amounts, groups_each, rows_each
from hedgerow.calibration.missing_bounds import find_unbounded
from hedgerow.calibration.sub_budget import ROUNDING, SubBudget, require_free_price
from hedgerow.catalog import Catalog, DeclaredTable
from hedgerow.catalog.bind import effective_type
from hedgerow.catalog.draft import is_key
from hedgerow.catalog.names import fold
from hedgerow.errors import ParameterError, UnknownNameError
from hedgerow.execution.request import resolve_request
from hedgerow.execution.session import Session
from hedgerow.expressions.nodes import Column
from hedgerow.expressions.types import Type
from hedgerow.plan.bind import bind
from hedgerow.plan.nodes import LogicalPlan, Release
from hedgerow.plan.syntax import name_hint, table_hint
from hedgerow.schema import SchemaTable
from hedgerow.sql.parse import parse

EPOCH = date(1970, 1, 1)
DAYS = (-719_162, 2_932_896)
"""The years 1 to 9999, in days from the epoch."""


@dataclass(frozen=True, slots=True)
class ColumnRange:
    """Range of one column that enough people share; None at both ends where there is none.

    `days` is True for a column of dates: the ends are days since 1970-01-01. `epsilon` is the cost of finding it: 0
    if it was known from earlier answers. `beyond` is an upper limit, at 95 % confidence, of the share of people with
    values beyond it, and `warning` a reason to doubt it. `price` is the cost of finding it if nothing had been known:
    the note in the catalog has it, because `--write` usually repeats a calibration that was paid for.
    """

    column: str
    lower: float | None
    upper: float | None
    epsilon: float
    days: bool = False
    beyond: float | None = None
    warning: BoundsWarning | None = None
    price: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON; days as dates."""
        ends = (_day(self.lower), _day(self.upper)) if self.days else (self.lower, self.upper)
        return {
            "column": self.column,
            "lower": ends[0],
            "upper": ends[1],
            "epsilon": self.epsilon,
            "beyond": self.beyond,
            "warning": None if self.warning is None else self.warning.value,
        }


@dataclass(frozen=True, slots=True)
class CalibratedLimit:
    """A limit on rows or groups of one person; None where none was found.

    By the noisy counts at most one person in a hundred exceeds it; `beyond` is an upper limit of that share, at 95 %
    confidence.
    """

    value: int | None
    epsilon: float
    beyond: float | None = None
    price: float = 0.0


@dataclass(frozen=True)
class Calibration:
    """Private estimates of the bounds and limits of one table.

    Attributes:
        table: Its name.
        columns: The range of each column.
        max_rows: The limit on rows of one person; None where it was not asked or not found.
        max_groups: The limit on groups of the keys that one person is in, likewise.
        by: The keys that `max_groups` is about.
        date: The day on which it was made.
        charge: What it cost in all.
        payments: Every single charge.
        remaining: What is left afterwards.
        lowered: Limits of the catalog that no longer fit below `max_rows`, and are lowered to it.
    """

    table: str
    columns: tuple[ColumnRange, ...]
    rows: CalibratedLimit | None
    groups: CalibratedLimit | None
    by: tuple[str, ...]
    date: str
    charge: Spending
    payments: tuple[Payment, ...]
    remaining: Spending
    lowered: Mapping[str, int] = field(default_factory=dict)

    @property
    def max_rows(self) -> int | None:
        """Limit on rows."""
        return None if self.rows is None else self.rows.value

    @property
    def max_groups(self) -> int | None:
        """Limit on groups, which is never above that on rows."""
        groups = None if self.groups is None else self.groups.value
        return groups if groups is None or self.max_rows is None else min(groups, self.max_rows)

    def __getitem__(self, column: str) -> ColumnRange:
        return next(bounds for bounds in self.columns if bounds.column == column)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of the command line."""
        return {
            "table": self.table,
            "columns": [column.to_dict() for column in self.columns],
            "max_rows": self.max_rows,
            "max_groups": self.max_groups,
            "beyond": {
                name: limit.beyond
                for name, limit in (("max_rows", self.rows), ("max_groups", self.groups))
                if limit is not None
            },
            "by": list(self.by),
            "date": self.date,
            "charge": {"epsilon": self.charge.epsilon, "delta": self.charge.delta},
            "payments": [payment.to_dict() for payment in self.payments],
            "remaining": {"epsilon": self.remaining.epsilon, "delta": self.remaining.delta},
        }

    def catalog_patch(self) -> dict[str, Any]:
        """Return what to write into the catalog, in its own shape. Dates have no bounds there."""
        columns = {
            bounds.column: {
                "lower": _plain(bounds.lower),
                "upper": _plain(bounds.upper),
                **_note(self.date, bounds.price),
            }
            for bounds in self.columns
            if bounds.lower is not None and not bounds.days
        }
        limits: dict[str, Any] = {"max_rows": self.max_rows, "max_groups": self.max_groups}
        table: dict[str, Any] = {**self.lowered, **{name: value for name, value in limits.items() if value is not None}}
        if table:
            price = sum(limit.price for limit in (self.rows, self.groups) if limit is not None)
            table |= _note(self.date, price)
        if columns:
            table["columns"] = columns
        return {"tables": {self.table: table}} if table else {}

    def changes(self) -> Mapping[tuple[str, ...], Any]:
        """Return the same, entry by entry, by the path that leads to each."""
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


def _note(day: str, epsilon: float) -> dict[str, Any]:
    return {"calibrated": {"date": day, "epsilon": float(f"{epsilon:.4g}")}}


def _plain(end: float | None) -> float | None:
    return int(end) if end is not None and end.is_integer() and abs(end) < 2**53 else end


def _day(end: float | None) -> str | None:
    if end is None:
        return None
    return (EPOCH + timedelta(days=int(min(max(end, DAYS[0]), DAYS[1])))).isoformat()


NUMBERS = frozenset({Type.INTEGER, Type.DECIMAL, Type.FLOAT})
DATES = frozenset({Type.DATE, Type.TIMESTAMP})
ROWS, GROUPS = "rows of one person", "groups of one person"

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Subject:
    """One table that is calibrated, and the plans of questions about all of its rows."""

    session: Session
    table: SchemaTable

    def kind(self, column: str) -> Type:
        """Return the type of a column, as queries see it."""
        declared = self.session.catalog.tables[self.table.name].column(column)
        return effective_type(declared, self.table.columns[column])

    def unbounded_value(self, column: str) -> UnboundedValue:
        """Return the column's values; of dates, their days since 1970-01-01."""
        name = f"{_quoted(self.table.name)}.{_quoted(column)}"
        value = f"DATE_DIFF('day', DATE '1970-01-01', CAST({name} AS DATE))" if self.kind(column) in DATES else name
        unbounded = find_unbounded(
            parse(f"SELECT SUM({value}) AS x {self._from}", "duckdb").query, self._binder(column)
        )
        (unbounded_value,) = unbounded.values.values()
        return unbounded_value

    def rows(self) -> Release:
        """Return the release of all rows of the table."""
        return self._release(f"SELECT COUNT(*) AS n {self._from}")

    def groups(self, keys: Sequence[str]) -> Release:
        """Return the release of all rows, in the groups of the keys."""
        return self._release(f"SELECT COUNT(*) AS n {self._from} GROUP BY {', '.join(map(_quoted, keys))}")

    def _release(self, text: str) -> Release:
        (release,) = self._binder()(parse(text, "duckdb").query).releases
        return release

    def _binder(self, unbounded: str | None = None) -> Callable[[object], LogicalPlan]:
        catalog = _without_bounds(self.session.catalog, self.table.name, unbounded)
        return partial(bind, catalog=catalog, schema=self.session.schema)

    @property
    def _from(self) -> str:
        return f"FROM {_quoted(self.table.name)}"


def calibrate(
    session: Session,
    table: str,
    columns: Sequence[str] | None,
    *,
    epsilon: float | None,
    delta: float | None,
    by: Sequence[str] | None,
    progress: Progress,
) -> Calibration:
    """Estimate bounds, `max_rows` and `max_groups` privately.

    Privacy: every estimate is a histogram of people over public buckets, released like any other grouped answer, with a
    charge of its own; all of them together cost at most (epsilon, delta).
    """
    work = _plan_work(session, table, columns, epsilon=epsilon, delta=delta, by=by)
    subject, sub_budget, share = work.subject, work.sub_budget, ROUNDING / work.parts
    unknown = [look for look in work.first_looks() if not sub_budget.known(*look)]
    sub_budget.require([sub_budget.price(*look) for look in unknown])
    ranges = [_range(sub_budget, subject, name, value, work.parts, progress) for name, value in work.values.items()]
    limits = {label: _limit(sub_budget, label, counts, share, progress) for label, counts in work.people.items()}
    return Calibration(
        subject.table.name,
        tuple(ranges),
        limits.get(ROWS),
        limits.get(GROUPS),
        work.keys,
        datetime.now(UTC).date().isoformat(),
        sub_budget.spent(),
        tuple(sub_budget.payments),
        session.ledger.budget(session.analyst).remaining,
        _lowered(session.catalog.tables[subject.table.name], limits.get(ROWS)),
    )


@dataclass(frozen=True, slots=True)
class QuotedPart:
    """Price of one part of a calibration before it is bought: a column, or the rows or groups of one person.

    Attributes:
        name: The column; or "rows of one person", "groups of one person".
        first: Epsilon of its first look; 0 if an earlier answer will do.
        maximum: Epsilon of all looks that it may take.
    """

    name: str
    first: float
    maximum: float


def quote_calibration(
    session: Session, table: str, columns: Sequence[str] | None, *, epsilon: float | None
) -> tuple[QuotedPart, ...]:
    """Return the price of each part of a calibration. Free; reads no private row.

    Later looks depend on the result of the first, so a part has a smallest and a largest price.
    """
    work = _plan_work(session, table, columns, epsilon=epsilon, delta=None, by=None)
    sub_budget, later = work.sub_budget, ALONE.among(work.parts).largest
    quoted = []
    for name, look in zip((*work.values, *work.people), work.first_looks(), strict=True):
        first = 0.0 if sub_budget.known(*look) else sub_budget.part(look[1]).epsilon
        quoted.append(QuotedPart(name, first, sub_budget.part(later).epsilon if name in work.values else first))
    return tuple(quoted)


@dataclass(frozen=True)
class _Work:
    """Parts of a calibration, and the budget that they share."""

    subject: Subject
    sub_budget: SubBudget
    keys: tuple[str, ...]
    values: Mapping[str, UnboundedValue]
    people: Mapping[str, tuple[Release, Column]]

    @property
    def parts(self) -> int:
        """Number of parts."""
        return len(self.values) + len(self.people)

    def first_looks(self) -> list[tuple[LogicalPlan, float, tuple[int, ...]]]:
        """Return the first look of each part: its plan, its share of the budget, and its public cells."""
        looks = [(value.octaves(), ALONE.among(self.parts).first) for value in self.values.values()]
        looks += [(amounts(*counts), ROUNDING / self.parts) for counts in self.people.values()]
        return [(look.plan, share, look.cells) for look, share in looks]


def _plan_work(
    session: Session,
    table: str,
    columns: Sequence[str] | None,
    *,
    epsilon: float | None,
    delta: float | None,
    by: Sequence[str] | None,
) -> _Work:
    require_free_price(session.catalog)
    subject = _subject(session, table)
    names, keys = _columns(subject, columns), tuple(_column(subject, name) for name in by or ())
    one_row = session.catalog.tables[subject.table.name].unit_unique
    if not names and one_row and not keys:
        raise _nothing(subject.table.name)
    sub_budget = SubBudget(
        session, f"calibrate {subject.table.name}", resolve_request(session.catalog, epsilon=epsilon, delta=delta)
    )
    people = {} if one_row else {ROWS: rows_each(subject.rows())}
    people |= {GROUPS: groups_each(subject.groups(keys))} if keys else {}
    return _Work(subject, sub_budget, keys, {name: subject.unbounded_value(name) for name in names}, people)


def _range(
    sub_budget: SubBudget, subject: Subject, name: str, value: UnboundedValue, parts: int, progress: Progress
) -> ColumnRange:
    progress(name)
    first, asked = len(sub_budget.payments), len(sub_budget.shares)
    bounds = find_range(sub_budget, value, ALONE.among(parts))
    spent, price = sub_budget.spent(first).epsilon, sub_budget.price_since(asked)
    days = subject.kind(name) in DATES
    if bounds is None:
        return ColumnRange(name, None, None, spent, days, price=price)
    return ColumnRange(name, bounds.lower, bounds.upper, spent, days, bounds.beyond, bounds.warning, price)


def _limit(
    sub_budget: SubBudget, what: str, people: tuple[Release, Column], share: float, progress: Progress
) -> CalibratedLimit:
    progress(what)
    first, asked = len(sub_budget.payments), len(sub_budget.shares)
    limit = find_limit(sub_budget, *people, share, what)
    spent, price = sub_budget.spent(first).epsilon, sub_budget.price_since(asked)
    if limit is None:
        return CalibratedLimit(None, spent, price=price)
    return CalibratedLimit(limit.value, spent, limit.beyond, price)


def _lowered(declared: DeclaredTable, rows: CalibratedLimit | None) -> dict[str, int]:
    """Return the limits of a catalog that may not exceed the number of rows that was found."""
    maximum = None if rows is None else rows.value
    if maximum is None:
        return {}
    limits = {"max_rows_per_group": declared.max_rows_per_group, "max_groups": declared.max_groups}
    return {name: maximum for name, value in limits.items() if value is not None and value > maximum}


def _subject(session: Session, table: str) -> Subject:
    declared = session.catalog.table(table)
    if declared is None:
        raise UnknownNameError(
            f"There is no table {table!r}.", code="unknown-table", hint=table_hint(table, session.catalog.tables)
        )
    if declared.public:
        raise _nothing(declared.name)
    return Subject(session, session.schema.tables[declared.name])


def _columns(subject: Subject, wanted: Sequence[str] | None) -> list[str]:
    """Return the columns named; or all numbers that measure something, and have no bounds yet."""
    if wanted is not None:
        return [_measured(subject, _column(subject, name)) for name in wanted]
    declared, names = subject.session.catalog.tables[subject.table.name], []
    for name in subject.table.columns:
        said = declared.column(name)
        hidden = declared.undeclared_hidden if said is None else said.hidden
        if hidden or name == declared.unit or subject.kind(name) not in NUMBERS or is_key(name):
            continue
        if said is None or (said.lower is None and said.values is None):
            names.append(name)
    return names


def _column(subject: Subject, name: str) -> str:
    for known in subject.table.columns:
        if fold(known) == fold(name):
            return known
    raise UnknownNameError(
        f"There is no column {name!r} in {subject.table.name!r}.",
        code="unknown-column",
        hint=name_hint(name, subject.table.columns, "The columns are"),
    )


def _measured(subject: Subject, name: str) -> str:
    if subject.kind(name) not in NUMBERS | DATES:
        raise ParameterError(
            f"Column {name!r} is {subject.kind(name).value}, and only numbers and dates have a range.",
            code="nothing-to-calibrate",
            hint="Name columns of numbers.",
        )
    return name


def _nothing(table: str) -> ParameterError:
    return ParameterError(
        f"There is nothing to calibrate in {table!r}: it is public, or everything is known.",
        code="nothing-to-calibrate",
        hint="Name a private table, and columns of numbers.",
    )


def _without_bounds(catalog: Catalog, table: str, column: str | None) -> Catalog:
    """Return the catalog without the bounds of one column, which are to be found again."""
    declared = catalog.tables[table]
    said = None if column is None else declared.column(column)
    if said is None:
        return catalog
    columns = {**declared.columns, said.name: replace(said, lower=None, upper=None)}
    return replace(catalog, tables={**catalog.tables, table: replace(declared, columns=columns)})


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
