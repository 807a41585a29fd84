"""What the owner says about one table."""

from collections.abc import Mapping

from hedgerow.catalog import codes
from hedgerow.catalog.entry import Entry
from hedgerow.catalog.model import DEFAULT_SIZE, Column, Table, Through
from hedgerow.catalog.names import fold
from hedgerow.catalog.read_calibrated import read_calibrated
from hedgerow.catalog.read_column import read_column
from hedgerow.catalog.source import FILL_IN
from hedgerow.catalog.strict import choice, flag, integer, text, timezone
from hedgerow.errors import CatalogError

LARGEST_ROWS = 10**9
LARGEST_SIZE = 10**18

_FIELDS = (
    "unit",
    "unit_unique",
    "public",
    "max_rows",
    "max_rows_per_group",
    "max_groups",
    "size",
    "undeclared",
    "timezone",
    "columns",
    "calibrated",
)
_PRIVATE_FIELDS = ("unit", "unit_unique", "max_rows", "max_rows_per_group", "max_groups", "calibrated")


def read_table(entry: Entry) -> Table:
    """One table: whom its rows are about, and how much one unit counts."""
    found = {} if entry.is_empty else entry.fields(_FIELDS)
    public = flag(found["public"]) if "public" in found else False
    if public:
        _refuse_private_fields(found)
    table = Table(
        name=entry.name,
        public=public,
        unit=None if public else _read_unit(entry, found.get("unit")),
        unit_unique=flag(found["unit_unique"]) if "unit_unique" in found else False,
        max_rows=_rows(found, "max_rows"),
        max_rows_per_group=_rows(found, "max_rows_per_group"),
        max_groups=_rows(found, "max_groups"),
        size=integer(found["size"], 1, LARGEST_SIZE) if "size" in found else DEFAULT_SIZE,
        undeclared_hidden="undeclared" in found and choice(found["undeclared"], ("hidden",)) == "hidden",
        timezone=timezone(found["timezone"]) if "timezone" in found else None,
        columns={} if "columns" not in found else _read_columns(found["columns"]),
        calibrated=read_calibrated(found["calibrated"]) if "calibrated" in found else None,
    )
    _check_rows(table, found)
    return table


def _rows(found: Mapping[str, Entry], name: str) -> int | None:
    return integer(found[name], 1, LARGEST_ROWS) if name in found else None


def _read_columns(entry: Entry) -> Mapping[str, Column]:
    if entry.is_empty:
        return {}
    found = entry.items("a mapping from columns to what is known of them", fold)
    return {name: read_column(column) for name, column in found.items()}


def _refuse_private_fields(found: Mapping[str, Entry]) -> None:
    for name in _PRIVATE_FIELDS:
        if name in found:
            raise found[name].error(
                f"`{name}` says how one unit is protected, but a public table protects nobody.",
                code=codes.UNIT,
                hint=f"Remove `public: true` if the rows are about people, or `{name}` if they are not.",
            )


def _read_unit(table: Entry, entry: Entry | None) -> str | Through:
    if entry is None or entry.is_empty:
        raise _no_unit(
            entry or table, f"Table `{table.name}` is private, and has no unit: whom do its rows protect?", codes.UNIT
        )
    if entry.is_mapping:
        return _read_through(entry)
    if entry.node.value == FILL_IN:
        raise _no_unit(
            entry, f"The unit of `{table.name}` is still open: only you know whom its rows are about.", codes.FILL_IN
        )
    return text(entry)


def _no_unit(entry: Entry, message: str, code: str) -> CatalogError:
    return entry.error(
        message,
        code=code,
        hint="Write `unit: column`, the column that names the protected person; "
        "`unit: {through: table, on: {own_column: its_column}}` if another table knows; "
        "or `public: true` if the rows are about nobody.",
    )


def _read_through(entry: Entry) -> Through:
    found = entry.fields(("through", "on"))
    table = text(entry.required(found, "through", "through: table"))
    columns = entry.required(found, "on", f"on: {{own_column: column_of_{table}}}")
    pairs = {own: text(theirs) for own, theirs in columns.items("a mapping from own to other columns", fold).items()}
    if not pairs or len({fold(theirs) for theirs in pairs.values()}) < len(pairs):
        raise columns.error(
            f"`on` must lead from at least one own column to as many different columns of `{table}`.",
            code=codes.PATH,
            hint=f"Write `on: {{own_column: column_of_{table}}}`.",
        )
    return Through(table, tuple(pairs.items()))


def _check_rows(table: Table, found: Mapping[str, Entry]) -> None:
    if table.unit_unique and table.max_rows != 1:
        raise _too_many(found["max_rows"], "`unit_unique` says one row per unit, so `max_rows` is 1.")
    for name, value in (("max_rows_per_group", table.max_rows_per_group), ("max_groups", table.max_groups)):
        if table.max_rows is None or value is None or value <= table.max_rows:
            continue
        if name == "max_groups" and table.unit_unique:
            continue  # it may matter in a join with a table of many rows
        raise _too_many(found[name], f"`{name}` is more than the {table.max_rows} rows that a unit counts in all.")


def _too_many(entry: Entry, message: str) -> CatalogError:
    return entry.error(message, code=codes.ROWS, hint="Lower it, or leave the line out.")
