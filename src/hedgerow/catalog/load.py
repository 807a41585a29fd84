"""Loading a `Catalog` from a file; errors name file and line and say what to write."""

import os
from collections.abc import Mapping
from datetime import date
from pathlib import Path

from hedgerow.catalog import codes
from hedgerow.catalog.load_budget import read_budget, read_defaults, read_limits
from hedgerow.catalog.model import (
    DEFAULT_SIZE,
    Calibrated,
    Catalog,
    DeclaredColumn,
    DeclaredTable,
    Defaults,
    Through,
    Value,
)
from hedgerow.catalog.names import closest, fold
from hedgerow.catalog.strict_yaml import (
    FILL_IN,
    Source,
    YamlEntry,
    choice,
    compose,
    flag,
    integer,
    is_storable,
    number,
    read_source,
    text,
    timezone,
    within,
)
from hedgerow.errors import CatalogError, Span
from hedgerow.expressions.types import Type
from hedgerow.expressions.zones import DEFAULT as DEFAULT_ZONE
from hedgerow.limits import UNDECLARED

LARGEST = 1e6


def read_calibrated(entry: YamlEntry) -> Calibrated:
    """Read date and epsilon of a calibration."""
    fields = entry.fields(("date", "epsilon"))
    day = entry.required(fields, "date", "date: 2026-01-31")
    paid = entry.required(fields, "epsilon", "epsilon: 0.1")
    return Calibrated(_day(day), within(paid, 0, LARGEST))


def _day(entry: YamlEntry) -> str:
    written = text(entry)
    try:
        return date.fromisoformat(written).isoformat()
    except ValueError:
        raise entry.error(
            f"`{entry.name}` is {entry.written}, and a day is expected.",
            code=codes.TEXT,
            hint="Write year, month and day: 2026-01-31.",
        ) from None


LARGEST_BOUND = 1e30
SMALLEST_BOUND = 1e-30
LARGEST_KEY = 2**63 - 1

TYPES = ("boolean", "integer", "decimal", "float", "text", "date", "time", "timestamp", "timestamptz")
INSTANT = "timestamptz"
_OTHER_WORDS = {
    "bool": "boolean",
    "int": "integer",
    "bigint": "integer",
    "numeric": "decimal",
    "number": "float",
    "double": "float",
    "real": "float",
    "string": "text",
    "str": "text",
    "varchar": "text",
    "datetime": "timestamp",
    "timestamp with time zone": "timestamptz",
}


def read_column(entry: YamlEntry) -> DeclaredColumn:
    """Read one column: bounds, values, a declared type, or hidden."""
    if entry.is_empty:
        return DeclaredColumn(entry.name)
    fields = entry.fields(("lower", "upper", "values", "type", "timezone", "hidden", "calibrated", "comment"))
    lower, upper = _read_bounds(entry, fields)
    values, source = _read_domain(fields["values"]) if "values" in fields else (None, None)
    kind = choice(fields["type"], TYPES, _OTHER_WORDS) if "type" in fields else None
    return DeclaredColumn(
        name=entry.name,
        lower=lower,
        upper=upper,
        values=values,
        type=None if kind is None else Type.TIMESTAMP if kind == INSTANT else Type(kind),
        instant=kind == INSTANT,
        timezone=timezone(fields["timezone"]) if "timezone" in fields else None,
        hidden=flag(fields["hidden"]) if "hidden" in fields else False,
        values_from=source,
        calibrated=read_calibrated(fields["calibrated"]) if "calibrated" in fields else None,
        comment=text(fields["comment"]) if "comment" in fields else None,
    )


def _read_bounds(entry: YamlEntry, fields: Mapping[str, YamlEntry]) -> tuple[float, float] | tuple[None, None]:
    given = [fields[name] for name in ("lower", "upper") if name in fields]
    if not given:
        return None, None
    lower, upper = (_bound(bound) for bound in given) if len(given) == 2 else (None, None)
    if lower is None or upper is None:
        raise given[0].error(
            f"`{entry.name}` has only one bound, and a value that is open on one side has no largest influence.",
            code=codes.BOUNDS,
            hint=f"Write both: `{entry.name}: {{lower: 0, upper: 100}}`.",
        )
    if lower >= upper:
        raise _unordered(fields["lower"], lower, upper)
    return lower, upper


def _bound(entry: YamlEntry) -> float:
    value = number(entry)
    if value != 0 and not SMALLEST_BOUND <= abs(value) <= LARGEST_BOUND:
        raise entry.error(
            f"`{entry.name}` is {entry.written}, which is too large or too close to zero to be a bound.",
            code=codes.BOUNDS,
            hint=f"Write 0, or a number of a size between {SMALLEST_BOUND:g} and {LARGEST_BOUND:g}.",
        )
    if value != float(value):
        raise entry.error(
            f"`{entry.name}` is {entry.written}, which has too many digits to be kept exactly.",
            code=codes.BOUNDS,
            hint="Write a rounder number: up to 9007199254740992 every whole number can be kept.",
        )
    return float(value)


def _unordered(entry: YamlEntry, lower: float, upper: float) -> CatalogError:
    if lower == upper:
        return entry.error(
            "`lower` and `upper` are equal: every value would be cut to the same number, and nothing could be learnt.",
            code=codes.BOUNDS,
            hint="Write the smallest and the largest value that is plausible.",
        )
    return entry.error(
        f"`lower` ({lower:g}) is above `upper` ({upper:g}), so no value lies between them.",
        code=codes.BOUNDS,
        hint=f"Write `{{lower: {upper:g}, upper: {lower:g}}}` if they were exchanged.",
    )


def _read_domain(entry: YamlEntry) -> tuple[tuple[Value, ...] | None, tuple[str, str] | None]:
    """Read the keys themselves, or the public table and column that has them."""
    if not entry.is_mapping:
        return _read_values(entry), None
    fields = entry.fields(("table", "column"))
    table = text(entry.required(fields, "table", "table: public_table"))
    return None, (table, text(entry.required(fields, "column", f"column: column_of_{table}")))


def _read_values(entry: YamlEntry) -> tuple[Value, ...]:
    elements = list(entry.elements())
    if not elements:
        raise entry.error(
            "`values` is empty, so every row would fall in no group.",
            code=codes.VALUES,
            hint="List the keys that are public knowledge, or leave `values` out.",
        )
    values = [_value(element) for element in elements]
    _refuse_mixture(elements, values)
    _refuse_repetition(elements, values)
    return tuple(values)


def _value(entry: YamlEntry) -> Value:
    value = entry.scalar()
    if value is None:
        raise entry.error(
            "NULL cannot be a declared value: rows without a value fall in no group.",
            code=codes.VALUES,
            hint="Remove it, or write the word in quotes if it is meant as text.",
        )
    if isinstance(value, str) and not is_storable(value):
        raise entry.error(
            "A declared value holds a character that no database can store.",
            code=codes.VALUES,
            hint="Remove the zero byte or the half of a surrogate pair.",
        )
    return value if isinstance(value, str | bool) else _key_number(entry)


def _key_number(entry: YamlEntry) -> int | float:
    value = number(entry)
    if abs(value) <= LARGEST_KEY:
        return value
    raise entry.error(
        f"{entry.written} is too large for a key.",
        code=codes.VALUES,
        hint="Write numbers of at most 18 digits, or put the keys in quotes if the column is text.",
    )


def kind_of(value: Value) -> str:
    """Return the name of a value's kind for messages; whole numbers and fractions are one kind."""
    if isinstance(value, bool):
        return "true or false"
    return "text" if isinstance(value, str) else "a number"


def _refuse_mixture(elements: list[YamlEntry], values: list[Value]) -> None:
    first = kind_of(values[0])
    for element, value in zip(elements, values, strict=True):
        if kind_of(value) != first:
            raise element.error(
                f"The first of these values is {first}, and {element.written} is {kind_of(value)}; "
                "a column holds one kind.",
                code=codes.VALUES,
                hint="Put all of them in quotes if the column is text.",
            )


def _refuse_repetition(elements: list[YamlEntry], values: list[Value]) -> None:
    seen: set[Value] = set()
    for element, value in zip(elements, values, strict=True):
        if value in seen:
            raise element.error(
                f"{element.written} is listed twice, and a key has one group.",
                code=codes.VALUES,
                hint="Keep one of the two.",
            )
        seen.add(value)


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
    "comment",
)
_PRIVATE_FIELDS = ("unit", "unit_unique", "max_rows", "max_rows_per_group", "max_groups", "calibrated")


def read_table(entry: YamlEntry) -> DeclaredTable:
    """Read one table: its privacy unit, and the limits of one unit."""
    fields = {} if entry.is_empty else entry.fields(_FIELDS)
    public = flag(fields["public"]) if "public" in fields else False
    for name in _PRIVATE_FIELDS if public else ():
        if name in fields:
            raise fields[name].error(
                f"`{name}` says how one unit is protected, but a public table protects nobody.",
                code=codes.UNIT,
                hint=f"Remove `public: true` if the rows are about people, or `{name}` if they are not.",
            )
    table = DeclaredTable(
        name=entry.name,
        public=public,
        unit=None if public else _read_unit(entry, fields.get("unit")),
        unit_unique=flag(fields["unit_unique"]) if "unit_unique" in fields else False,
        max_rows=_rows(fields, "max_rows"),
        max_rows_per_group=_rows(fields, "max_rows_per_group"),
        max_groups=_rows(fields, "max_groups"),
        size=integer(fields["size"], 1, LARGEST_SIZE) if "size" in fields else DEFAULT_SIZE,
        undeclared_hidden="undeclared" in fields and choice(fields["undeclared"], ("hidden",)) == "hidden",
        timezone=timezone(fields["timezone"]) if "timezone" in fields else None,
        columns={} if "columns" not in fields else _read_columns(fields["columns"]),
        calibrated=read_calibrated(fields["calibrated"]) if "calibrated" in fields else None,
        comment=text(fields["comment"]) if "comment" in fields else None,
    )
    _check_rows(table, fields)
    return table


def _rows(fields: Mapping[str, YamlEntry], name: str) -> int | None:
    return integer(fields[name], 1, LARGEST_ROWS) if name in fields else None


def _read_columns(entry: YamlEntry) -> Mapping[str, DeclaredColumn]:
    if entry.is_empty:
        return {}
    columns = entry.items("a mapping from columns to what is known of them", fold)
    return {name: read_column(column) for name, column in columns.items()}


def _read_unit(table: YamlEntry, entry: YamlEntry | None) -> str | Through:
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


def _no_unit(entry: YamlEntry, message: str, code: str) -> CatalogError:
    return entry.error(
        message,
        code=code,
        hint="Write `unit: column`, the column that names the protected person; "
        "`unit: {through: table, on: {own_column: its_column}}` if another table knows; "
        "or `public: true` if the rows are not about people.",
    )


def _read_through(entry: YamlEntry) -> Through:
    fields = entry.fields(("through", "on"))
    table = text(entry.required(fields, "through", "through: table"))
    columns = entry.required(fields, "on", f"on: {{own_column: column_of_{table}}}")
    pairs = {own: text(theirs) for own, theirs in columns.items("a mapping from own to other columns", fold).items()}
    if not pairs or len({fold(theirs) for theirs in pairs.values()}) < len(pairs):
        raise columns.error(
            f"`on` must map at least one own column, and each to a different column of `{table}`.",
            code=codes.PATH,
            hint=f"Write `on: {{own_column: column_of_{table}}}`.",
        )
    return Through(table, tuple(pairs.items()))


def _check_rows(table: DeclaredTable, fields: Mapping[str, YamlEntry]) -> None:
    if table.unit_unique and table.max_rows != 1:
        raise _too_many(fields["max_rows"], "`unit_unique` says one row per unit, so `max_rows` is 1.")
    for name, value in (("max_rows_per_group", table.max_rows_per_group), ("max_groups", table.max_groups)):
        if table.max_rows is None or value is None or value <= table.max_rows:
            continue
        if name == "max_groups" and table.unit_unique:
            continue  # it may matter in a join with a table of many rows
        raise _too_many(fields[name], f"`{name}` is more than the {table.max_rows} rows that a unit counts in all.")


def _too_many(entry: YamlEntry, message: str) -> CatalogError:
    return entry.error(message, code=codes.ROWS, hint="Lower it, or leave the line out.")


def check_paths(catalog: Catalog) -> None:
    """Refuse a path that leads nowhere, to a public table, or back to its start.

    Privacy: a private table has a unit column or a path, so a path without a loop through private tables ends
    in a unit column, and every row that counts has an owner (docs/proofs/ownership.md).
    """
    for table in catalog.tables.values():
        if isinstance(table.unit, Through):
            _next_table(catalog, table, table.unit)
    for table in catalog.tables.values():
        _refuse_loop(catalog, table)


def _next_table(catalog: Catalog, table: DeclaredTable, through: Through) -> DeclaredTable:
    following = catalog.table(through.table)
    if following is None:
        guess = closest(through.table, catalog.tables)
        raise catalog.problem(
            f"The unit of `{table.name}` is in `{through.table}`, but the catalog does not declare that table.",
            *_place(table),
            code=codes.PATH,
            hint=f"Did you mean `{guess}`?" if guess else f"Declare `{through.table}` under `tables`, with its unit.",
        )
    if following.public:
        raise catalog.problem(
            f"The unit of `{table.name}` is in `{following.name}`, but that table is public and has no unit.",
            *_place(table),
            code=codes.PATH,
            hint="Name a private table, or the column of this table that names the person.",
        )
    return following


def _refuse_loop(catalog: Catalog, start: DeclaredTable) -> None:
    table, visited = start, [start.name]
    while isinstance(table.unit, Through):
        table = _next_table(catalog, table, table.unit)
        visited.append(table.name)
        if fold(table.name) in map(fold, visited[:-1]):
            raise catalog.problem(
                f"The path to the unit of `{start.name}` is circular: {' -> '.join(visited)}.",
                *_place(start),
                code=codes.PATH_LOOP,
                hint="Give one of these tables a unit column of its own.",
            )


def _place(table: DeclaredTable) -> tuple[str, ...]:
    return ("tables", table.name, "unit", "through")


def load_catalog(source: str | os.PathLike[str] | Catalog) -> Catalog:
    """Return the catalog in the YAML file `source`; a `Catalog` is returned unchanged.

    The file is YAML 1.2: `1e-6` is a number and `on` is a word. `bind_catalog` checks later that tables and columns
    exist.
    """
    if isinstance(source, Catalog):
        return source
    return parse_catalog(read_source(source))


def parse_catalog(document: Source) -> Catalog:
    """Return the catalog in the text of a file, saved or not."""
    catalog = _read(YamlEntry(document, compose(document), Span(0, 0)))
    check_paths(catalog)
    return catalog


def _read(root: YamlEntry) -> Catalog:
    fields = root.fields(("dataset", "version", "timezone", "budget", "defaults", "limits", "tables"))
    dataset = text(root.required(fields, "dataset", "dataset: shop"))
    budget = root.required(fields, "budget", "budget: {epsilon: 3.0, delta: 1e-6}")
    tables = root.required(fields, "tables", "tables:")
    entries = tables.items("a mapping from tables to what is known of them", fold)
    if not entries:
        raise tables.error("No table is declared.", code=codes.MISSING_FIELD, hint="Add one, with its `unit`.")
    return Catalog(
        dataset=dataset,
        version=text(fields["version"]) if "version" in fields else None,
        timezone=timezone(fields["timezone"]) if "timezone" in fields else DEFAULT_ZONE,
        budget=read_budget(budget),
        defaults=read_defaults(fields["defaults"]) if "defaults" in fields else Defaults(),
        limits=read_limits(fields["limits"]) if "limits" in fields else UNDECLARED,
        tables={name: read_table(entry) for name, entry in entries.items()},
        path=Path(root.source.file),
        file=root.source.file,
        spans=root.spans,
    )
