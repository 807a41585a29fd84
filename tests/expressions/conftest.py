"""Expressions bound against a few columns of known types, and run on an engine of their own."""

from dataclasses import dataclass

import duckdb
import pytest

from hedgerow.compile.scalars import scalar
from hedgerow.dialects import DUCKDB
from hedgerow.expressions.nodes import Column
from hedgerow.expressions.types import Type
from hedgerow.plan import coerce
from hedgerow.plan.scalar import ScalarBinder
from hedgerow.sql.parse import parse

KINDS = {
    **dict.fromkeys("xyz", (Type.FLOAT, "DOUBLE")),
    **dict.fromkeys("ijk", (Type.INTEGER, "BIGINT")),
    **dict.fromkeys("stw", (Type.TEXT, "VARCHAR")),
    **dict.fromkeys("de", (Type.DATE, "DATE")),
    **dict.fromkeys("mn", (Type.TIMESTAMP, "TIMESTAMP")),
    **dict.fromkeys("bc", (Type.BOOLEAN, "BOOLEAN")),
    "q": (Type.DECIMAL, "DECIMAL(38,4)"),
}
ROW = {
    "x": "7.5",
    "y": "-2",
    "z": "NULL",
    "i": "7",
    "j": "2",
    "k": "NULL",
    "s": "'Hello World'",
    "t": "'World'",
    "w": "NULL",
    "d": "'2026-03-15'",
    "e": "'2024-02-29'",
    "m": "'2026-03-15 13:45:30.5'",
    "n": "'2026-03-14 14:00:00'",
    "b": "TRUE",
    "c": "FALSE",
    "q": "12.3456",
}
"""One ordinary row. Its day is a Sunday."""


@dataclass(frozen=True)
class OneTable:
    """A scope of plain columns."""

    columns: dict

    def special(self, node, binder):  # noqa: ARG002
        return None

    def column(self, node):
        return self.columns[node.name.lower()]

    def clip(self, arguments, span):
        return coerce.call("clip", arguments, span)


COLUMNS = {name: Column(name, kind, native=native) for name, (kind, native) in KINDS.items()}


def bind_text(text, dialect="duckdb", params=None, columns=COLUMNS):
    shown = parse(f"SELECT {text} AS v FROM t", dialect).query.expressions[0]
    return ScalarBinder(OneTable(columns), params).bind(shown.this)


def render(expr):
    return scalar(expr, DUCKDB)


def create(connection, rows):
    shape = ", ".join(f"{name} {native}" for name, (_, native) in KINDS.items())
    connection.execute(f"CREATE TABLE t ({shape})")
    for row in rows:
        connection.execute(f"INSERT INTO t VALUES ({', '.join(row[name] for name in KINDS)})")


@pytest.fixture(scope="session")
def ordinary():
    with duckdb.connect(":memory:") as built:
        create(built, [ROW])
        yield built


@pytest.fixture(scope="session")
def value(ordinary):
    """The value of a text in some dialect on the one ordinary row."""

    def run(text, dialect="duckdb", params=None):
        return ordinary.sql(f"SELECT {render(bind_text(text, dialect, params))} FROM t").fetchall()[0][0]

    return run
