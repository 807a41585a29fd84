"""Empty databases with the owner's schema, and the values that their cells can have.

They have the tables of the catalog, with types and keys, and the contents of public tables. Of a private table, only
the declaration is read.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal

import duckdb
import pyarrow as pa

from hedgerow.backends import Backend
from hedgerow.catalog import Catalog, DeclaredColumn, bind_catalog
from hedgerow.catalog.bind import effective_type
from hedgerow.errors import ConditionNotMet
from hedgerow.execution.public_tables import public_table
from hedgerow.expressions.nodes import Call, Column, Literal, Nested
from hedgerow.expressions.table_names import parts_of
from hedgerow.expressions.types import Type
from hedgerow.plan.nodes import LogicalPlan, Scan, inside
from hedgerow.schema import SchemaColumn, SchemaTable
from hedgerow.session.connection import read_domains

CONNECTIVES = frozenset({"and", "or", "not"})

ColumnRef = tuple[str, str]
"""A table and a column of it."""


def columns_read(logical: LogicalPlan) -> frozenset[ColumnRef]:
    """Return the columns of declared tables that the query names."""
    tables = _tables(logical)
    columns = (node for node in inside(logical) if isinstance(node, Column))
    return frozenset((tables[column.table], column.name) for column in columns if column.table in tables)


def tables_read(logical: LogicalPlan) -> frozenset[str]:
    """Return the declared tables that the query reads, including those on the path to a unit."""
    return frozenset(_tables(logical).values())


def partners(logical: LogicalPlan) -> Mapping[ColumnRef, frozenset[ColumnRef]]:
    """Return, for each column, the columns that it is compared with."""
    tables = _tables(logical)
    compared: dict[ColumnRef, set[ColumnRef]] = {}
    for node in _comparisons(logical):
        columns = {(tables[c.table], c.name) for c in _columns(node) if c.table in tables}
        for column in columns:
            compared.setdefault(column, set()).update(columns - {column})
    return {column: frozenset(others) for column, others in compared.items()}


def constants(logical: LogicalPlan) -> Mapping[ColumnRef, tuple[str, ...]]:
    """Return, for each column, the constants that appear in one expression with it, and nearby values, as text."""
    tables = _tables(logical)
    texts_of: dict[ColumnRef, dict[str, None]] = {}
    for node in _comparisons(logical):
        texts = [text for part in inside(node) if isinstance(part, Literal) for text in around(part.value)]
        for column in _columns(node):
            if column.table in tables:
                texts_of.setdefault((tables[column.table], column.name), {}).update(dict.fromkeys(texts))
    return {column: tuple(texts) for column, texts in texts_of.items()}


def around(value: object) -> Sequence[str]:
    """Return a constant and values close to it, as text; for a pattern, a text that matches it.

    Example:
        >>> around(50)
        ['50', '51', '49']
        >>> around("Ann%")
        ['Ann%', 'Ann', 'Annx']
    """
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, int):
        near = [str(value), str(value + 1), str(value - 1)]
        if 1 <= value <= 12:  # a day in that month, or in that year, for a date column of which a part is compared
            return [*near, f"2024-{value:02d}-15"]
        return [*near, f"{value}-06-15"] if 1900 <= value <= 2100 else near
    if isinstance(value, float | Decimal):
        number = float(value)
        step = max(abs(number), 1.0) / 100
        return [str(value), f"{number + step:.10g}", f"{number - step:.10g}"]
    if isinstance(value, datetime | date):
        return [value.isoformat(), *(str(value.replace(day=day)) for day in (1, 28))]
    text = str(value)
    matched = [text.replace("%", filler).replace("_", "x") for filler in ("", "x")]
    return list(dict.fromkeys([text, *matched]))


def _tables(logical: LogicalPlan) -> dict[str, str]:
    """Return the declared tables by alias."""
    return {node.alias: node.table for node in inside(logical) if isinstance(node, Scan)}


def _comparisons(logical: LogicalPlan) -> Iterator[Call | Nested]:
    """Yield every expression that combines columns and constants: a call, or an IN over a query."""
    for node in inside(logical):
        if isinstance(node, Nested) or (isinstance(node, Call) and node.function not in CONNECTIVES):
            yield node


def _columns(node: Call | Nested) -> list[Column]:
    return [part for part in inside(node) if isinstance(part, Column)]


STAND_INS: Mapping[Type, str] = {
    Type.BOOLEAN: "BOOLEAN",
    Type.INTEGER: "BIGINT",
    Type.DECIMAL: "DECIMAL(38, 9)",
    Type.FLOAT: "DOUBLE",
    Type.TEXT: "VARCHAR",
    Type.DATE: "DATE",
    Type.TIME: "TIME",
    Type.TIMESTAMP: "TIMESTAMP",
}
"""Substitutes for types that DuckDB, in which the audit runs, does not know."""

Row = tuple[str | None, ...]
"""The cells of a row as text, which DuckDB converts to the type of the column."""


def quoted(name: str) -> str:
    """Return a quoted name for DuckDB."""
    return '"' + name.replace('"', '""') + '"'


def table_text(name: str) -> str:
    """Return the quoted name of a table for DuckDB, with its schema and database."""
    return ".".join(map(quoted, parts_of(name)))


@dataclass(frozen=True)
class Blueprint:
    """Everything needed to build a database with the owner's schema.

    Attributes:
        catalog: The catalog, in the spelling of the owner's database.
        tables: The tables that the catalog declares, with the database's own schema.
        natives: For each table and column, the type in DuckDB.
        public: The contents of public tables.
    """

    catalog: Catalog
    tables: Mapping[str, SchemaTable]
    natives: Mapping[tuple[str, str], str]
    public: Mapping[str, pa.Table]

    def reading(self, tables: Collection[str]) -> "Blueprint":
        """Return the blueprint with the contents of these public tables only."""
        return replace(self, public={name: rows for name, rows in self.public.items() if name in tables})

    def build(self) -> duckdb.DuckDBPyConnection:
        """Return a new database in memory, in which private tables are empty."""
        connection = duckdb.connect(":memory:", config={"threads": 1})
        for table in self.tables.values():
            *around, _ = parts_of(table.name)
            if len(around) > 1:
                connection.execute(f"ATTACH IF NOT EXISTS ':memory:' AS {quoted(around[0])}")
            if around:
                connection.execute(f"CREATE SCHEMA IF NOT EXISTS {'.'.join(map(quoted, around))}")
            connection.execute(self._ddl(table))
        for name, contents in self.public.items():
            connection.register("public_rows", contents)
            listed = ", ".join(quoted(column) for column in contents.column_names)
            connection.execute(f"INSERT INTO {table_text(name)} ({listed}) SELECT {listed} FROM public_rows")
            connection.unregister("public_rows")
        return connection

    def insert(self, connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Row]) -> None:
        """Insert rows of text into a table; each cell is converted to the type of its column."""
        if not rows:
            return
        columns = self.tables[table].columns
        cells = [pa.array(list(column), type=pa.string()) for column in zip(*rows, strict=True)]
        connection.register("made_rows", pa.table(cells, names=[f"c{i}" for i in range(len(cells))]))
        casts = ", ".join(f"CAST(c{i} AS {self.natives[table, name]})" for i, name in enumerate(columns))
        try:
            connection.execute(f"INSERT INTO {table_text(table)} SELECT {casts} FROM made_rows")
        except duckdb.Error:
            raise ConditionNotMet(
                f"No rows could be generated that the table {table!r} takes.",
                condition="types and keys for which rows can be generated",
                hint="Audit a schema whose keys allow thousands of people.",
            ) from None
        connection.unregister("made_rows")

    def _ddl(self, table: SchemaTable) -> str:
        open_ended = {name for name, column in table.columns.items() if column.nullable or column.type is Type.OTHER}
        columns = [
            f"{quoted(name)} {self.natives[table.name, name]}{'' if name in open_ended else ' NOT NULL'}"
            for name in table.columns
        ]
        keys = [f"UNIQUE ({', '.join(map(quoted, sorted(key)))})" for key in sorted(table.unique, key=sorted)]
        return f"CREATE TABLE {table_text(table.name)} ({', '.join([*columns, *keys])})"


def draw_up(catalog: Catalog, backend: Backend) -> Blueprint:
    """Return the blueprint of the owner's database. Its schema and its public tables are read."""
    schema = backend.schema()
    bound = read_domains(bind_catalog(catalog, schema), schema, backend)
    tables = {name: schema.tables[name] for name in bound.tables}
    with duckdb.connect(":memory:") as scratch:
        natives = {
            (table.name, column.name): _native(scratch, column)
            for table in tables.values()
            for column in table.columns.values()
        }
    public = {
        name: public_table(name, backend, schema, bound.limits.rows)
        for name, table in bound.tables.items()
        if table.public
    }
    return Blueprint(bound, tables, natives, public)


def _native(scratch: duckdb.DuckDBPyConnection, column: SchemaColumn) -> str:
    """Return the column's own type, if DuckDB knows it."""
    if column.native:
        try:
            scratch.execute(f"SELECT CAST(NULL AS {column.native})")
        except duckdb.Error:
            return STAND_INS.get(column.type, "VARCHAR")
        return column.native
    return STAND_INS.get(column.type, "VARCHAR")


def readable(connection: duckdb.DuckDBPyConnection, native: str, texts: Iterable[str | None]) -> tuple[str | None, ...]:
    """Return those of `texts` that a column of this type can hold, without duplicates."""
    listed = list(dict.fromkeys(texts))
    if not listed:
        return ()
    connection.register("texts", pa.table({"t": pa.array(listed, type=pa.string())}))
    kept = connection.execute(f"SELECT t FROM texts WHERE t IS NULL OR TRY_CAST(t AS {native}) IS NOT NULL").fetchall()
    connection.unregister("texts")
    castable = {text for (text,) in kept}
    return tuple(text for text in listed if text in castable)


MANY = 40
"""Number of distinct values of a column without declared ones: enough to put one person into far too many groups."""

FIRST_DAY = date(2024, 1, 3)
LARGEST_WHOLE = [2**7 - 1, 2**15 - 1, 2**31 - 1, 2**63 - 1]
DIGITS = [9, 99, 999, 9_999, 99_999, 10**7 - 1, 10**9 - 1, 10**15 - 1, 10**18 - 1]
NUMBERS = frozenset({Type.INTEGER, Type.DECIMAL, Type.FLOAT})


@dataclass(frozen=True, slots=True)
class Pool:
    """Texts from which the cells of one column are taken.

    Attributes:
        usual: Ordinary values; constants of the query come first.
        high: The upper bound, and values further and further above it. Empty if the column is not numeric.
        low: Likewise below the lower bound.
        wild: Values that engines often mishandle: NULL, NaN, infinity, the limits of the type.
    """

    usual: tuple[str | None, ...]
    high: tuple[str | None, ...] = ()
    low: tuple[str | None, ...] = ()
    wild: tuple[str | None, ...] = ()


def pools(blueprint: Blueprint, logical: LogicalPlan) -> Mapping[ColumnRef, Pool]:
    """Return, for each column of a private table, the values of its cells."""
    literals, joined = constants(logical), partners(logical)
    pool_of = {}
    with blueprint.build() as connection:
        for table in blueprint.tables.values():
            said = blueprint.catalog.tables[table.name]
            for column in table.columns.values() if not said.public else ():
                column_ref = (table.name, column.name)
                kind = effective_type(said.column(column.name), column)
                native = blueprint.natives[column_ref]
                known = [
                    *literals.get(column_ref, ()),
                    *_public(connection, blueprint, joined.get(column_ref, frozenset())),
                ]
                pool_of[column_ref] = _pool(connection, native, kind, said.column(column.name), known, column.nullable)
    return pool_of


def _pool(
    connection: duckdb.DuckDBPyConnection,
    native: str,
    kind: Type,
    declared: DeclaredColumn | None,
    known: Sequence[str],
    nullable: bool,  # noqa: FBT001 - a fact of the column
) -> Pool:
    ends = (None, None) if declared is None else (declared.lower, declared.upper)

    def held(texts: Iterable[str | None]) -> tuple[str | None, ...]:
        return tuple(text for text in readable(connection, native, texts) if nullable or text is not None)

    if declared is not None and declared.values:
        usual = held(_text(value) for value in declared.values)
        return Pool(usual or (None,), wild=held([None, "elsewhere", "-1"]))
    first, *rest = [*known, *_ordinary(kind, native, ends)] or [""]
    usual = held([first, *rest[:2], None, *rest[2:]]) or held(["[]", "{}", ""])
    if kind not in NUMBERS:
        return Pool(usual or (None,), wild=held([None, "", "x" * 2000, "0001-01-01", "9999-12-31", "infinity"]))
    high, low = (_few(held(_beyond(sign, end))) for sign, end in ((1, ends[1]), (-1, ends[0])))
    odd = held([None, "nan", "-0.0", "5e-324"])
    return Pool(usual or (None,), high, low, (*odd, *high[-2:], *low[-2:]))


def _ordinary(kind: Type, native: str, ends: tuple[float | None, float | None]) -> list[str]:
    """Return ordinary values."""
    if listed := re.findall(r"'((?:[^']|'')*)'", native):
        return [text.replace("''", "'") for text in listed]
    if native.upper() == "UUID":
        return [f"00000000-0000-0000-0000-{number:012d}" for number in range(MANY)]
    lower, upper = ends
    if kind in NUMBERS and lower is not None and upper is not None:
        steps = [lower + (upper - lower) * step / 13 for step in range(1, 13)]
        return [str(round(step)) if kind is Type.INTEGER else f"{step:.6g}" for step in steps]
    if kind in NUMBERS:
        return [str(number) for number in range(1, MANY + 1)] + ["100", "1000"]
    if kind is Type.BOOLEAN:
        return ["true", "false"]
    if kind is Type.TIME:
        return [f"{hour:02d}:17:00" for hour in range(24)]
    if kind in {Type.DATE, Type.TIMESTAMP}:
        return [(FIRST_DAY + timedelta(days=17 * number)).isoformat() for number in range(MANY)]
    return [f"g{number:02d}" for number in range(MANY)]


def _beyond(sign: int, end: float | None) -> list[str]:
    """Return the bound itself, and values further and further out, up to the limits of any type."""
    first = 0.0 if end is None else end
    bound = [] if end is None else [_number(end), _number(end + sign * (abs(end) + 1) * 1000)]
    whole = [sign * number for number in sorted([*LARGEST_WHOLE, *DIGITS]) if sign * (sign * number - first) > 0]
    return [*bound, *map(str, whole), _number(sign * 1e300), "inf" if sign > 0 else "-inf"]


def _few(texts: tuple[str | None, ...]) -> tuple[str | None, ...]:
    """Return the nearest and the furthest values."""
    return tuple(dict.fromkeys((*texts[:2], *texts[-2:])))


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def _text(value: str | float | bool) -> str:  # noqa: FBT001 - a declared key of any kind
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else _number(value)


def _public(connection: duckdb.DuckDBPyConnection, blueprint: Blueprint, others: Iterable[ColumnRef]) -> list[str]:
    """Return the values of the public columns that a column is compared with."""
    values: list[str] = []
    for table, column in sorted(others):
        if blueprint.catalog.tables[table].public:
            name = quoted(column)
            sql = f"SELECT DISTINCT CAST({name} AS VARCHAR) FROM {quoted(table)} WHERE {name} IS NOT NULL ORDER BY 1"
            values += [text for (text,) in connection.execute(f"{sql} LIMIT {MANY}").fetchall()]
    return values
