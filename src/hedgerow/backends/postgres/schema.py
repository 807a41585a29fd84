"""Schema of a PostgreSQL database, from its catalog. No rows are read.

Constraints are reported only if the server enforces them for every row that a query sees: not for foreign tables, nor
for a table with inheriting children (partitions do enforce them).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hedgerow.dialects.base import INSTANT
from hedgerow.expressions.table_names import full_name, short_name
from hedgerow.expressions.types import Type
from hedgerow.schema import Schema, SchemaColumn, SchemaTable

if TYPE_CHECKING:
    from psycopg import Cursor

TYPES: Mapping[str, tuple[Type, str]] = {
    "bool": (Type.BOOLEAN, "BOOLEAN"),
    "int2": (Type.INTEGER, "SMALLINT"),
    "int4": (Type.INTEGER, "INTEGER"),
    "int8": (Type.INTEGER, "BIGINT"),
    "float4": (Type.FLOAT, "REAL"),
    "float8": (Type.FLOAT, "DOUBLE PRECISION"),
    "date": (Type.DATE, "DATE"),
    "time": (Type.TIME, "TIME"),
    "timestamp": (Type.TIMESTAMP, "TIMESTAMP"),
    "timestamptz": (Type.TIMESTAMP, INSTANT),
}
LOOSE: Mapping[str, tuple[Type, str]] = {
    "uuid": (Type.TEXT, "UUID"),
    "citext": (Type.TEXT, "CITEXT"),
    "bpchar": (Type.TEXT, "CHAR"),
}
"""Types that are always cast to text, which drops the padding of CHAR."""

TEXTS = frozenset({"text", "varchar"})
LONGEST_DECIMAL = 38

COLUMNS = """
WITH RECURSIVE resolved(kind, base, modifier) AS (
    SELECT oid, oid, -1 FROM pg_type WHERE typtype <> 'd'
    UNION ALL
    SELECT t.oid, r.base, CASE WHEN t.typtypmod >= 0 THEN t.typtypmod ELSE r.modifier END
    FROM pg_type AS t JOIN resolved AS r ON r.kind = t.typbasetype WHERE t.typtype = 'd'
)
SELECT s.nspname, c.relname, a.attname, b.typname, b.typtype = 'e',
    CASE WHEN a.atttypmod >= 0 THEN a.atttypmod ELSE r.modifier END,
    a.attnotnull AND (c.relkind = 'p' OR (c.relkind = 'r' AND NOT c.relhassubclass)) AND NOT EXISTS (
        SELECT FROM pg_constraint AS n
        WHERE n.conrelid = c.oid AND n.contype = 'n' AND n.conkey = ARRAY[a.attnum] AND NOT n.convalidated
    ),
    l.oid IS NULL OR l.collisdeterministic,
    CASE WHEN l.collprovider = 'd' THEN
        d.datlocprovider = 'b' OR (d.datlocprovider = 'c' AND d.datcollate IN ('C', 'POSIX'))
    ELSE l.collprovider = 'b' OR (l.collprovider = 'c' AND l.collcollate IN ('C', 'POSIX')) END
FROM pg_class AS c
JOIN pg_namespace AS s ON s.oid = c.relnamespace
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN resolved AS r ON r.kind = a.atttypid
JOIN pg_type AS b ON b.oid = r.base
JOIN pg_database AS d ON d.datname = current_database()
LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
WHERE s.nspname = COALESCE(%(schema)s, s.nspname) AND s.nspname !~ '^(pg_|information_schema$)'
    AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
    AND c.relname = COALESCE(%(table)s, c.relname)
    AND has_schema_privilege(s.oid, 'USAGE') AND has_column_privilege(c.oid, a.attnum, 'SELECT')
ORDER BY s.nspname, c.relname, a.attnum
"""
UNIQUE = """
SELECT s.nspname, c.relname, array_agg(a.attname)
FROM pg_index AS i
JOIN pg_class AS c ON c.oid = i.indrelid
JOIN pg_namespace AS s ON s.oid = c.relnamespace
CROSS JOIN LATERAL unnest(i.indkey[0:i.indnkeyatts - 1]) AS k(number)
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = k.number
WHERE s.nspname = COALESCE(%(schema)s, s.nspname) AND c.relname = COALESCE(%(table)s, c.relname)
    AND (c.relkind = 'p' OR (c.relkind IN ('r', 'm') AND NOT c.relhassubclass))
    AND i.indisunique AND i.indisvalid AND i.indislive AND i.indimmediate AND NOT i.indisexclusion
    AND i.indpred IS NULL AND i.indexprs IS NULL
GROUP BY s.nspname, c.relname, i.indexrelid
"""


def read_schema(cursor: "Cursor[tuple[Any, ...]]", schema: str, table: str | None = None) -> Schema:
    """Read all tables and views that this user may read, or one of them; those of `schema` have plain names."""
    name = (None, None) if table is None else full_name(table, (schema,))
    if len(name) != len(("schema", "table")):
        return Schema({}, (schema,))
    parameters = dict(zip(("schema", "table"), name, strict=True))
    tables: dict[tuple[str, str], dict[str, SchemaColumn]] = {}
    for namespace, name_of_table, *described in cursor.execute(COLUMNS, parameters).fetchall():
        column = _column(_Described(*described))
        tables.setdefault((namespace, name_of_table), {})[column.name] = column
    unique = cursor.execute(UNIQUE, parameters).fetchall()
    listed = [
        SchemaTable(short_name(full, (schema,)), columns, _keys(full, columns, unique))
        for full, columns in tables.items()
    ]
    return Schema({table.name: table for table in listed}, (schema,))


def _keys(
    table: tuple[str, str], columns: Mapping[str, SchemaColumn], unique: Iterable[tuple[Any, ...]]
) -> frozenset[frozenset[str]]:
    """Return the unique keys of a table that consist of readable columns."""
    return frozenset(
        frozenset(names)
        for namespace, name, names in unique
        if (namespace, name) == table and set(names) <= set(columns)
    )


@dataclass(frozen=True, slots=True)
class _Described:
    """A row of the catalog: a column, its type, and how its text is compared."""

    name: str
    kind: str
    enum: bool
    modifier: int
    never_null: bool
    determined: bool
    bytewise: bool | None


def _column(described: _Described) -> SchemaColumn:
    """Return a column. Text with a deterministic collation is equal if its bytes are; its order may differ."""
    known = _type(described.kind, described.modifier, enum=described.enum)
    nullable = not described.never_null
    if known is not None:
        loose = described.enum or described.kind in LOOSE or known[1] == "NUMERIC"
        return SchemaColumn(described.name, *known, nullable=nullable, loose=loose, instant=known[1] == INSTANT)
    if described.kind not in TEXTS:
        return SchemaColumn(described.name, Type.OTHER, described.kind.upper(), nullable=nullable)
    if not described.determined:
        return SchemaColumn(described.name, Type.TEXT, "VARCHAR WITH COLLATION", nullable=nullable)
    native = "TEXT" if described.bytewise else "TEXT WITH COLLATION"
    return SchemaColumn(described.name, Type.TEXT, native, nullable=nullable, collated=False)


def _type(kind: str, modifier: int, *, enum: bool) -> tuple[Type, str] | None:
    if enum:
        return Type.TEXT, "ENUM"
    if kind != "numeric":
        return TYPES.get(kind) or LOOSE.get(kind)
    precision, scale = ((modifier - 4) >> 16) & 0xFFFF, (((modifier - 4) & 0x7FF) ^ 1024) - 1024
    if modifier < 0 or precision > LONGEST_DECIMAL or not 0 <= scale <= precision:
        return Type.FLOAT, "NUMERIC"
    return Type.DECIMAL, f"DECIMAL({precision},{scale})"
