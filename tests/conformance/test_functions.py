"""Every function of the allow-list gives on every engine what it gives on DuckDB, row by row, on nasty values."""

from functools import partial

import pytest

from hedgerow.compile.scalars import condition, key, plain, scalar
from hedgerow.compiled import Query, arrow_type
from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.functions import allowed
from hedgerow.expressions.nodes import Call, Column, Literal, walk
from hedgerow.expressions.types import Type

from ..expressions.samples import COLUMNS, calls
from .absent import ABSENT
from .tables import NASTY
from .values import same

LIBRARIES = {
    *("ln", "log10", "log2", "exp", "sin", "cos", "tan", "asin", "acos", "atan", "cbrt", "radians", "degrees"),
    *("power", "atan2"),
}
"""Functions that the C library (or Java's) computes."""

PER_STATEMENT = 60

PATTERNS = {
    "like": ("%a%", "_b%", "%\\%", "", "%", "O'N%", "a!%b_c", "%é", "😀_"),
    "ilike": ("%AB%", "_B_C%", "O'n%", "%ß"),
    "like_escape": ("a!%%", "%!%%"),
}


CONSTANTS = {
    "round": [(Type.FLOAT, 0), (Type.FLOAT, 2), (Type.FLOAT, -2), (Type.DECIMAL, 1), (Type.INTEGER, -3)],
    "trunc_places": [(Type.FLOAT, 0), (Type.FLOAT, 2), (Type.DECIMAL, 1), (Type.FLOAT, -1)],
    "trim": [(Type.TEXT,), (Type.TEXT, " b")],
    "ltrim": [(Type.TEXT,), (Type.TEXT, "xé😀")],
    "rtrim": [(Type.TEXT,), (Type.TEXT, " b")],
    "substring": [(Type.TEXT, 2, 3), (Type.TEXT, 1, 1)],
    "left": [(Type.TEXT, 2), (Type.TEXT, 0)],
    "format_time": [(Type.TIMESTAMP, "%Y-%m"), (Type.DATE, "%d/%m/%y %H:%M:%S %j")],
    "shift_month": [(Type.DATE, 1), (Type.TIMESTAMP, -13)],
    "starts_with": [(Type.TEXT, "a")],
    "contains": [(Type.TEXT, "é"), (Type.TEXT, "%")],
    "regexp_matches": [(Type.TEXT, "^[0-9.]+$"), (Type.TEXT, "(?i)AB|é"), (Type.TEXT, "\\s$")],
    "regexp_extract": [(Type.TEXT, "([a-z]+)\\s", 1), (Type.TEXT, "[0-9]+", 0)],
}
"""Arguments after the column, by function: constants as people write them."""


def with_constants(name):
    """Calls in which what is usually a constant is one."""
    column = next(c for c in COLUMNS if c.type is Type.TEXT)
    for kind, *values in CONSTANTS.get(name, ()):
        first = next(c for c in COLUMNS if c.type is kind)
        rest = [Literal(value, Type.INTEGER if isinstance(value, int) else Type.TEXT) for value in values]
        yield Call(name, (first, *rest), next(iter(calls(name))).type)
    for pattern in PATTERNS.get(name, ()):
        tail = (Literal("!", Type.TEXT),) if name == "like_escape" else ()
        yield Call(name, (column, Literal(pattern, Type.TEXT), *tail), Type.BOOLEAN)


def columns(schema):
    """The columns of the table of nasty values as an engine's schema has them."""
    actual = schema.tables["nasty"].columns
    return {
        column.name: Column(column.name, column.type, native=c.native, collated=c.collated)
        for column in COLUMNS
        for c in (actual[column.name],)
    }


def placed(expr, known):
    """The same expression over the columns of another engine."""
    if isinstance(expr, Column):
        return known[expr.name]
    return (
        expr
        if not hasattr(expr, "arguments")
        else type(expr)(expr.function, tuple(placed(a, known) for a in expr.arguments), expr.type)
    )


def shared_columns(engine):
    """The columns as DuckDB has them, without times of day where the engine has none."""
    theirs = engine.schema.tables["nasty"].columns
    every = columns(engine.duckdb_schema).values()
    return [c for c in every if c.type is not Type.TIME or theirs[c.name].type is Type.TIME]


def evaluated(backend, schema, exprs, write=scalar):
    """Each expression on each row."""
    known, actual = columns(schema), []
    for start in range(0, len(exprs), PER_STATEMENT):
        some = [placed(expr, known) for expr in exprs[start : start + PER_STATEMENT]]
        names = tuple(f"c{i}" for i in range(len(some)))
        writes = [key if expr.type.is_temporal or expr.type is Type.TIME else write for expr in some]
        texts = [f"{w(expr, backend.dialect)} AS {n}" for w, expr, n in zip(writes, some, names, strict=True)]
        types = (*(arrow_type(expr) for expr in some), arrow_type(Column("id", Type.INTEGER)))
        sql = f"SELECT {', '.join(texts)}, id FROM {backend.dialect.table('nasty')} ORDER BY id"
        table = backend.public(Query(sql, (*names, "id"), (), types))
        actual += [column.to_pylist() for column in table.columns[:-1]]
    return actual


def unlike(engine, exprs, *, close=False):
    """The first few cells in which the two differ."""
    key = (exprs[0].function, len(exprs), exprs[-1])
    ours = engine.expected(key, lambda: evaluated(engine.duckdb, engine.duckdb_schema, exprs))
    theirs = evaluated(engine.engine, engine.schema, exprs)
    every = list(columns(engine.duckdb_schema).values())
    rows = engine.expected("columns", lambda: evaluated(engine.duckdb, engine.duckdb_schema, every))
    values = dict(zip(columns(engine.duckdb_schema), rows, strict=True))
    return [
        (expr, [values[a.name][row] if isinstance(a, Column) else a for a in expr.arguments], one, other)
        for expr, left, right in zip(exprs, ours, theirs, strict=True)
        for row, (one, other) in enumerate(zip(left, right, strict=True))
        if not same(one, other, close=close, finite=engine.finite)
    ][:5]


def accepted(engine, exprs):
    """The expressions that an engine does not refuse; what it refuses is listed in docs/reference/engines.md."""
    held = {column.name for column in shared_columns(engine)}

    def is_accepted(expr):
        if any(isinstance(part, Column) and part.name not in held for part in walk(expr)):
            return False
        try:
            scalar(placed(expr, columns(engine.schema)), engine.engine.dialect)
        except UnsupportedSQLError as refusal:
            assert refusal.code == "engine-lacks"  # noqa: PT017 - every other refusal is a fault
            return False
        return True

    return [expr for expr in exprs if is_accepted(expr)]


@pytest.mark.parametrize("name", sorted(allowed()))
def test_a_function_is_the_same_everywhere(engine, name):
    exprs = [*calls(name), *with_constants(name)]
    actual = accepted(engine, exprs)
    assert actual or name in ABSENT[engine.name]
    assert not actual or not unlike(engine, actual, close=name in LIBRARIES)


def test_what_is_grouped_by_is_the_same_everywhere(engine):
    known = shared_columns(engine)
    ours = evaluated(engine.duckdb, engine.duckdb_schema, list(known), write=plain)
    theirs = evaluated(engine.engine, engine.schema, list(known), write=plain)
    for column, left, right in zip(known, ours, theirs, strict=True):
        assert all(map(partial(same, finite=engine.finite), left, right)), column.name


@pytest.mark.parametrize("kind", ["boolean_0", "boolean_1"])
def test_a_condition_keeps_the_rows_on_which_it_is_true(engine, kind):
    def kept(backend, schema):
        text = condition(columns(schema)[kind], backend.dialect)
        sql = f"SELECT COUNT(*) AS n FROM {backend.dialect.table('nasty')} WHERE {text}"
        return backend.public(Query(sql, ("n",), (), (arrow_type(Column("n", Type.INTEGER)),))).to_pylist()

    assert kept(engine.engine, engine.schema) == kept(engine.duckdb, engine.duckdb_schema)


@pytest.mark.parametrize("kind", list(NASTY))
def test_a_value_has_one_text_to_be_hashed(engine, kind):
    """Keys are made one zero and byte by byte before they are hashed, so the columns are, too."""

    if not any(column.type is kind for column in shared_columns(engine)):
        pytest.skip(f"{engine.name} has no type for {kind.value}")

    def hashes(backend, schema):
        dialect, actual = backend.dialect, [c for c in columns(schema).values() if c.type is kind]
        texts = [dialect.hashed([dialect.string("nonce"), *_parts(column, dialect)]) for column in actual]
        names = tuple(f"h{i}" for i in range(len(texts)))
        listed = ", ".join(f"{text} AS {name}" for text, name in zip(texts, names, strict=True))
        sql = f"SELECT {listed}, id FROM {dialect.table('nasty')} ORDER BY id"
        types = (*[arrow_type(Column("h", Type.TEXT))] * len(names), arrow_type(Column("id", Type.INTEGER)))
        return backend.public(Query(sql, (*names, "id"), (), types)).to_pylist()

    def _parts(column, dialect):
        return [f"COALESCE({dialect.canonical(plain(column, dialect), column.type)}, {dialect.string('~')})"]

    assert hashes(engine.engine, engine.schema) == hashes(engine.duckdb, engine.duckdb_schema)
