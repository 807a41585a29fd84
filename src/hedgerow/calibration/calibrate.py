"""db.calibrate: what a catalog says about a table, estimated privately."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from hedgerow.calibration.calibration import Calibration, ColumnRange, Limit
from hedgerow.calibration.missing_bounds import marked
from hedgerow.calibration.plans import groups_each, rows_each
from hedgerow.calibration.ranges import ALONE, Sought, find_range
from hedgerow.calibration.rows import amounts_plan, find_limit
from hedgerow.calibration.sub_budget import ROUNDING, Purse, require_free_price
from hedgerow.catalog import Catalog, DeclaredColumn, DeclaredTable
from hedgerow.catalog.bind import effective_type
from hedgerow.catalog.draft import is_key
from hedgerow.errors import ParameterError, UnknownNameError
from hedgerow.execution.request import asked
from hedgerow.execution.session import Desk
from hedgerow.expressions.types import Type
from hedgerow.plan.bind import bind
from hedgerow.plan.nodes import LogicalPlan, Release
from hedgerow.plan.scope import fold
from hedgerow.plan.suggestions import name_hint, table_hint
from hedgerow.schema import SchemaTable
from hedgerow.sql.parse import parse

NUMBERS = frozenset({Type.INTEGER, Type.DECIMAL, Type.FLOAT})
DATES = frozenset({Type.DATE, Type.TIMESTAMP})
ROWS, GROUPS = "rows of one person", "groups of one person"

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Subject:
    """One table that is calibrated: its plans are those of questions about all of its rows."""

    desk: Desk
    table: SchemaTable

    def kind(self, column: str) -> Type:
        """The type of a column, as queries see it."""
        found = self.table.columns[column]
        return effective_type(self.desk.catalog.tables[self.table.name].column(column), found)

    def sought(self, column: str) -> Sought:
        """The column's values; of dates, their days since 1970-01-01."""
        name = f"{_quoted(self.table.name)}.{_quoted(column)}"
        value = f"DATE_DIFF('day', DATE '1970-01-01', CAST({name} AS DATE))" if self.kind(column) in DATES else name
        made = marked(parse(f"SELECT SUM({value}) AS x {self._from}", "duckdb").query, self._binder(column))
        (found,) = made.sought.values()
        return found

    def rows(self) -> Release:
        """All rows of the table."""
        return self._release(f"SELECT COUNT(*) AS n {self._from}")

    def groups(self, keys: Sequence[str]) -> Release:
        """All rows, in the groups of the keys."""
        return self._release(f"SELECT COUNT(*) AS n {self._from} GROUP BY {', '.join(map(_quoted, keys))}")

    def _release(self, text: str) -> Release:
        (release,) = self._binder()(parse(text, "duckdb").query).releases
        return release

    def _binder(self, unbounded: str | None = None) -> Callable[[object], LogicalPlan]:
        catalog = _without_bounds(self.desk.catalog, self.table.name, unbounded)
        return partial(bind, catalog=catalog, schema=self.desk.schema)

    @property
    def _from(self) -> str:
        return f"FROM {_quoted(self.table.name)}"


def calibrate(
    desk: Desk,
    table: str,
    columns: Sequence[str] | None,
    *,
    epsilon: float | None,
    delta: float | None,
    by: Sequence[str] | None,
    progress: Progress,
) -> Calibration:
    """Private estimates of bounds, `max_rows` and `max_groups`.

    Privacy: every estimate is a histogram of people over public buckets, released like any other grouped answer, with a
    charge of its own; all of them together cost at most (epsilon, delta).
    """
    require_free_price(desk.catalog)
    subject = _subject(desk, table)
    names, keys = _columns(subject, columns), [_column(subject, name) for name in by or ()]
    one_row = desk.catalog.tables[subject.table.name].unit_unique
    parts = len(names) + (not one_row) + bool(keys)
    if not parts:
        raise _nothing(subject.table.name)
    purse = Purse(desk, f"calibrate {subject.table.name}", asked(desk.catalog, epsilon=epsilon, delta=delta))
    share = ROUNDING / parts
    sought = {name: subject.sought(name) for name in names}
    people = [] if one_row else [(ROWS, rows_each(subject.rows()))]
    people += [(GROUPS, groups_each(subject.groups(keys)))] if keys else []
    plans = [*(found.magnitudes() for found in sought.values()), *(amounts_plan(*each) for _, each in people)]
    purse.require([purse.price(plan, share) for plan in plans if not purse.known(plan, share)])
    found = [_range(purse, subject, name, value, parts, progress) for name, value in sought.items()]
    limits = {what: _limit(purse, what, each, share, progress) for what, each in people}
    return Calibration(
        subject.table.name,
        tuple(found),
        limits.get(ROWS),
        limits.get(GROUPS),
        tuple(keys),
        datetime.now(UTC).date().isoformat(),
        purse.spent(),
        tuple(purse.payments),
        desk.ledger.budget(desk.analyst).remaining,
        _lowered(desk.catalog.tables[subject.table.name], limits.get(ROWS)),
    )


def _range(purse: Purse, subject: Subject, name: str, sought: Sought, parts: int, progress: Progress) -> ColumnRange:
    progress(name)
    before = purse.spent().epsilon
    found = find_range(purse, sought, ALONE.among(parts))
    spent = purse.spent().epsilon - before
    days = subject.kind(name) in DATES
    if found is None:
        return ColumnRange(name, None, None, spent, days)
    return ColumnRange(name, found.lower, found.upper, spent, days)


def _limit(purse: Purse, what: str, people: tuple[Release, object], share: float, progress: Progress) -> Limit:
    progress(what)
    before = purse.spent().epsilon
    release, amount = people
    value = find_limit(purse, release, amount, share, what)  # type: ignore[arg-type]
    return Limit(value, purse.spent().epsilon - before)


def _lowered(declared: DeclaredTable, rows: Limit | None) -> dict[str, int]:
    """The limits that a catalog may not have above the number of rows that was found."""
    most = None if rows is None else rows.value
    if most is None:
        return {}
    stated = {"max_rows_per_group": declared.max_rows_per_group, "max_groups": declared.max_groups}
    return {name: most for name, value in stated.items() if value is not None and value > most}


def _subject(desk: Desk, table: str) -> Subject:
    declared = desk.catalog.table(table)
    if declared is None:
        raise UnknownNameError(
            f"There is no table {table!r}.", code="unknown-table", hint=table_hint(table, desk.catalog.tables)
        )
    if declared.public:
        raise _nothing(declared.name)
    return Subject(desk, desk.schema.tables[declared.name])


def _columns(subject: Subject, wanted: Sequence[str] | None) -> list[str]:
    """The columns named; or all numbers that measure something, and have no bounds yet."""
    if wanted is not None:
        return [_measured(subject, _column(subject, name)) for name in wanted]
    declared = subject.desk.catalog.tables[subject.table.name]
    return [name for name in subject.table.columns if _is_open(subject, name, declared.column(name), declared.unit)]


def _is_open(subject: Subject, name: str, said: DeclaredColumn | None, unit: object) -> bool:
    hidden = said.hidden if said is not None else subject.desk.catalog.tables[subject.table.name].undeclared_hidden
    if hidden or name == unit or subject.kind(name) not in NUMBERS or is_key(name):
        return False
    return said is None or (said.lower is None and said.values is None)


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
        f"There is nothing to find out about {table!r}: it is public, or all that can be found is known.",
        code="nothing-to-calibrate",
        hint="Name a private table, and columns of numbers.",
    )


def _without_bounds(catalog: Catalog, table: str, column: str | None) -> Catalog:
    """The catalog without the bounds of one column, which are to be found anew."""
    declared = catalog.tables[table]
    said = None if column is None else declared.column(column)
    if said is None:
        return catalog
    columns = {**declared.columns, said.name: replace(said, lower=None, upper=None)}
    return replace(catalog, tables={**catalog.tables, table: replace(declared, columns=columns)})


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
