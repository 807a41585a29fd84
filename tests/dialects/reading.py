"""SQL of engines that are not at hand, read by a parser of their dialect and run on DuckDB.

It shows what a text means, as far as the parser knows: names, precedence, constants, and every function that it
translates. What it does not translate is written down here, once for each engine: functions as macros, and words that
DuckDB has not. It does not show how an engine fails.
"""

import re
from contextlib import contextmanager

import duckdb
import sqlglot

from hedgerow.backends.base import sealed
from hedgerow.backends.results import exact_table, table_of, with_rows
from hedgerow.dialects import DIALECTS

PARSERS = {"mssql": "tsql", "postgres": "postgres", "spark": "spark"}
ENGINES = ("bigquery", "mssql", "mysql", "snowflake", "trino")

MACROS = {
    "bigquery": [
        "IEEE_DIVIDE(a, b) AS a / b",
        "SAFE_ADD(a, b) AS TRY(a + b)",
        "SAFE_SUBTRACT(a, b) AS TRY(a - b)",
        "SAFE_MULTIPLY(a, b) AS TRY(a * b)",
        "SAFE_NEGATE(a) AS TRY(-a)",
        "IS_INF(a) AS isinf(a)",
        "DIV(a, b) AS a // b",
        "DAY_FROM_ONE(a) AS dayofweek(a) + 1",
        "ISO_WEEK(a) AS week(a)",
    ],
    "mssql": [
        "HEX_OF(a, style) AS a",
        "DAY_TEXT(a, style) AS CAST(a AS VARCHAR)",
        "SWITCHOFFSET(a, to_zone) AS a AT TIME ZONE 'UTC'",
        "BETWEEN_TIMES(a, b) AS date_diff('microsecond', a, b)",
    ],
    "mysql": [
        "ISO_WEEK(a, mode) AS week(a)",
        "DAY_FROM_ONE(a) AS dayofweek(a) + 1",
        "DAY_FROM_MONDAY(a) AS isodow(a) - 1",
        "MAKEDATE(a, b) AS make_date(a, 1, b)",
        "TIME_TO_SEC(a) AS CAST(floor(epoch(a)) AS BIGINT)",
        "MICROS_OF_SECOND(a) AS microsecond(a) % 1000000",
        "UNIX_TIMESTAMP(a) AS epoch_us(a) / 1000000",
    ],
    "snowflake": ["DAYOFWEEKISO(a) AS isodow(a)", "WEEKISO(a) AS week(a)"],
    "trino": [
        "day_of_year(a) AS dayofyear(a)",
        "day_of_week(a) AS isodow(a)",
        "is_infinite(a) AS isinf(a)",
        "is_finite(a) AS isfinite(a)",
        "last_day_of_month(a) AS last_day(a)",
        "truncate(a) AS trunc(a)",
        "WHOLE_SECONDS(a) AS make_time(hour(a), minute(a), second(a))",
    ],
}
BEFORE = {
    "bigquery": [
        (r"EXTRACT\(DAYOFWEEK FROM ", "DAY_FROM_ONE("),
        (r"EXTRACT\(ISOWEEK FROM ", "ISO_WEEK("),
        (r"BIGNUMERIC '([^']*)'", r"\1"),
        (r"BIGNUMERIC", "NUMERIC"),
    ],
    "mssql": [
        (r"FLOAT\(53\)", "DOUBLE"),
        (r"\(MAX\)", ""),
        (r"COUNT_BIG\(", "COUNT("),
        (r"DATEDIFF_BIG\(MICROSECOND, (CAST\('00:00:00' AS TIME)", r"BETWEEN_TIMES(\1"),
        (r"DATEDIFF_BIG\(", "DATEDIFF("),
        (r"DATETIME2\(7\)", "DATETIME2(6)"),
        (r"(AS NVARCHAR\)) \+ ", r"\1 || "),
        (r"CONVERT\(VARCHAR\(32\), HASHBYTES\('MD5', ", "HEX_OF(MD5("),
        (r"CONVERT\(VARCHAR\(10\), ", "DAY_TEXT("),
        (r"\bN'", "'"),
    ],
    "mysql": [
        (r"\bWEEK\(", "ISO_WEEK("),
        (r"\bDAYOFWEEK\(", "DAY_FROM_ONE("),
        (r"\bWEEKDAY\(", "DAY_FROM_MONDAY("),
        (r"FLOOR\((TIME_TO_SEC\([^)]*\))\)", r"\1"),
        (r"\bMICROSECOND\(", "MICROS_OF_SECOND("),
    ],
    "snowflake": [(r"'utf8'", "'binary'")],
    "trino": [(r"date_trunc\('second', (CAST\(\S+ AS TIME\(6\)\))\)", r"WHOLE_SECONDS(\1)")],
}
AFTER = {
    "bigquery": [
        (r"DECIMAL(?!\()", "HUGEINT"),
        (r'COLLATE ""', 'COLLATE "binary"'),
        (r"(LIKE '(?:[^']|'')*')", r"\1 ESCAPE '\\'"),
    ],
    "mssql": [(r"COLLATE \w*_BIN2_UTF8", 'COLLATE "binary"')],
    "mysql": [
        (r" CHARACTER SET utf8mb4", ""),
        (r"COLLATE utf8mb4_bin", 'COLLATE "binary"'),
        (r"AS (CHAR|BLOB)\b", "AS TEXT"),
        (r"TIMESTAMPTZ", "TIMESTAMP"),
        (r"// q\b", "// CAST(q AS HUGEINT)"),  # DIV gives a whole number of decimals, too
    ],
    "snowflake": [(r"COLLATE binary", 'COLLATE "binary"')],
    "trino": [
        (r"CAST\((CAST\(\S+ AS TIMESTAMP\(6\)\)) AS TEXT\)", r"strftime(\1, '%H:%M:%S.%f')"),
        (r"CAST\((CAST\(\S+ AS TIME)\) AS TEXT\)", r"strftime(DATE '1970-01-01' + \1), '%H:%M:%S.%f')"),
    ],
}
"""Patterns in the text before it is read, and in what it becomes."""


def parser(name):
    """Return the parser's name of a dialect."""
    return PARSERS.get(name, name)


def translated(sql, name):
    """The statement of an engine as one of DuckDB."""
    for pattern, instead in BEFORE[name]:
        sql = re.sub(pattern, instead, sql)
    [built] = sqlglot.transpile(sql, read=parser(name), write="duckdb")
    for pattern, instead in AFTER[name]:
        built = re.sub(pattern, instead, built)
    return built


class ReadAs:
    """A backend that speaks one engine's dialect and answers from DuckDB."""

    handed_in = True

    def __init__(self, name, connection: duckdb.DuckDBPyConnection, schema):
        self.dialect = DIALECTS[name]()
        self._name, self._connection, self._schema = name, connection, schema
        for macro in MACROS[name]:
            connection.execute(f"CREATE OR REPLACE MACRO {macro}")

    def schema(self):
        return self._schema

    def fetched(self, sql):
        rows = self._connection.execute(translated(sql, self._name)).fetchall()
        return [[value.decode() if isinstance(value, bytes) else value for value in row] for row in rows]

    def public(self, query):
        return table_of(self.fetched(query.sql), query)

    @contextmanager
    def snapshot(self):
        with sealed():
            yield Inline(self)


class Inline:
    """Keys that were selected are written into the statement."""

    def __init__(self, backend):
        self._backend, self._loaded = backend, {}

    def load(self, name, table):
        self._loaded[name] = table

    def run(self, query):
        return exact_table(self._backend.fetched(with_rows(query, self._loaded, self._backend.dialect)), query)
