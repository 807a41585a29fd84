"""Tables and columns of the owner may have any name, including those that the compiled SQL uses for its own steps.

Every word of the SQL sent to an engine is used as the name of a table and of columns. The integers must be those of
tables with ordinary names.
"""

import importlib
import re
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache

import pytest

from hedgerow.accounting.budget import Budget
from hedgerow.backends.duckdb import DuckDB
from hedgerow.catalog import Catalog
from hedgerow.catalog.model import BudgetPolicy, DeclaredColumn, DeclaredTable
from hedgerow.compile import program
from hedgerow.compiled import BUCKET, DRAW, DRAWS, KEY_INDEX, OWNER, ROW, SELECTED, VALUE, WEIGHT
from hedgerow.dialects import DIALECTS
from hedgerow.errors import UnsupportedSQLError
from hedgerow.plan.bind import bind
from hedgerow.privacy.price import price
from hedgerow.sql.parse import parse

from . import tables
from .conftest import ENGINES
from .questions import CLAUSES, QUESTIONS
from .test_queries import NONCE, REMAINING, measured, planned

QUOTED = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|\[[^\]]*\]")
WORD = re.compile(r"\b[a-z_]\w*\b")
LATER = re.compile(r"[a-z][2-9]")
"""Names such as `x2`, which are no other case than `x1`."""

FIXED = {
    *(SELECTED, KEY_INDEX, BUCKET, OWNER, VALUE, WEIGHT, ROW, DRAWS, DRAW, "hedgerow_released_0", "hedgerow_public_0"),
    *(
        "hedgerow_frame_0",
        "hedgerow_frame_1",
        "shown",
        "given",
        "drawn",
        "every_draw",
        "c0",
        "a0",
        "k0",
        "main",
        "temp",
    ),
}
ORDINARY = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")
ROWS = [(unit, "xyz"[(unit * row) % 3], (unit * 7 + row) % 5) for unit in range(9) for row in range(1 + unit % 4)]

JOINED = (
    "SELECT a.{key}, COUNT(*), SUM(b.{value_b}) FROM {a} AS a JOIN {b} AS b ON a.{unit} = b.{unit_b} GROUP BY a.{key}"
)
AMONG = (
    "SELECT COUNT(*), SUM(a.{value}) FROM {a} AS a "
    "WHERE a.{unit} IN (SELECT b.{unit_b} FROM {b} AS b WHERE b.{value_b} > 2)"
)
TEXTS = [
    "SELECT a.{key}, COUNT(*), SUM(a.{value}) FROM {a} AS a GROUP BY a.{key}",
    JOINED,
    "SELECT {key}, MEDIAN({value}), COUNT(DISTINCT {value}) FROM {a} GROUP BY {key}",
    AMONG,
    'SELECT {key}, AVG("is") FROM (SELECT {unit}, {key}, COUNT(*) AS "is" FROM {a} GROUP BY 1, 2) GROUP BY {key}',
    "SELECT c.{value_c}, COUNT(*) FROM {a} AS a JOIN {c} AS c ON a.{key} = c.{key_c} GROUP BY c.{value_c}",
]
SLOW_ENGINES = ("clickhouse", "spark")
TOGETHER = 4
"""Tables on either side of a question on slow engines, where every statement takes most of a second."""


def words(dialect):
    """Every word in the SQL of a broad corpus on an engine, except texts and quoted names."""
    names = set(FIXED)
    for plan in _corpus():
        try:
            texts = program(plan, dialect, NONCE).texts()
        except UnsupportedSQLError:
            continue
        for text in texts:
            names |= {word.lower() for word in WORD.findall(QUOTED.sub(" ", text))}
    return sorted(word for word in names if not LATER.fullmatch(word))


@cache
def _corpus():
    texts = [*QUESTIONS, *CLAUSES]
    with tables.reference(tables.shop()) as connection:
        schema = DuckDB(connection, handed_in=True).schema()
        return [plan for text in texts for plan in planned(schema, text)]


def rotated(names, start):
    """The names of three tables, each with those of its columns: unit, key and value."""
    return [named(names, start + index) for index in range(3)]


def named(names, start):
    """The name of a table, and those of its columns, which are the same name and the next two."""
    columns = [names[(start + index) % len(names)] for index in range(3)]
    return columns[0], columns


def held(names):
    """A table under every name, whose columns are called by that name and the next two."""
    kinds = ("BIGINT", "VARCHAR", "BIGINT")
    return {
        name: tables.Table(dict(zip(columns, kinds, strict=True)), ROWS)
        for name, columns in (named(names, start) for start in range(len(names)))
    }


def question_of(text, chosen):
    """The question about three tables, in the default dialect."""
    parts = {}
    for (table, columns), letter in zip(chosen, ("", "_b", "_c"), strict=True):
        parts |= {letter.strip("_") or "a": f'"{table}"', **roles(columns, letter)}
    return text.format(**parts)


def roles(columns, letter):
    return {f"{role}{letter}": f'"{c}"' for role, c in zip(("unit", "key", "value"), columns, strict=True)}


def question_of_unions(text, left, right):
    """The question about two unions of tables; their columns are called as those of the first."""
    sides = {}
    for side, letter in ((left, ""), (right, "_b")):
        selects = [f'SELECT {", ".join(roles(columns, "").values())} FROM "{table}"' for table, columns in side]
        sides |= {letter.strip("_") or "a": f"({' UNION ALL '.join(selects)})", **roles(side[0][1], letter)}
    return text.format(**sides)


def catalog_of(private, public=()):
    """Tables in which everybody has at most three rows, and public ones."""
    declared = [
        DeclaredTable(name, unit=columns[0], max_rows=3, columns={columns[2]: DeclaredColumn(columns[2], 0.0, 9.0)})
        for name, columns in private
    ]
    declared += [DeclaredTable(name, public=True) for name, _ in public]
    return Catalog("names", BudgetPolicy(1.0, 1e-6), {table.name: table for table in declared})


def integers(backend, schema, query, catalog):
    logical = bind(parse(query).query, catalog, schema)
    priced = price(logical, Budget(1.0, 1e-8, "gaussian"), REMAINING, min_frequency=1)
    return [measured(backend, replace(part, minimum=1)) for part in priced.parts]


@contextmanager
def duckdb_opened(held_tables):
    with tables.reference(held_tables) as connection:
        yield DuckDB(connection, handed_in=True)


@pytest.fixture(scope="module")
def opened():
    """Open engines by name, with a table under every word of their SQL: backend, schema and words, or why not."""
    with ExitStack() as stack:

        @cache
        def opened_engine(name):
            if name == "duckdb":
                reason, opener = None, duckdb_opened
            else:
                module = importlib.import_module(f"..conformance.engines.{name}", __package__)
                reason, opener = module.why_not(), getattr(module, "opened_alike", module.opened)
            if reason:
                return reason
            every = words(DIALECTS[name.removeprefix("ibis_")]())
            backend = stack.enter_context(opener(held(ORDINARY) | held(every)))
            return backend, backend.schema(), every

        yield opened_engine


def engine_of(opened, name):
    engine = opened(name)
    if isinstance(engine, str):
        pytest.skip(f"NOT TESTED on {name}: {engine}")
    return engine


def compared(opened, name, questions):
    """Compare; `questions` returns those that are asked about the tables from an index on."""
    backend, schema, every = engine_of(opened, name)

    def of(text, chosen):
        return integers(backend, schema, question_of(text, chosen), catalog_of(chosen[:2], chosen[2:]))

    expected = {}
    for start in range(len(every)):
        chosen = rotated(every, start)
        for text in questions(start):
            if text not in expected:
                expected[text] = of(text, rotated(ORDINARY, 0))
            assert of(text, chosen) == expected[text], question_of(text, chosen)


def compared_together(opened, name):
    """Compare with few statements: unions of several tables are joined, or looked up, in turns."""
    backend, schema, every = engine_of(opened, name)

    def of(text, names, start):
        left, right = (
            [named(names, start + side * TOGETHER + index) for index in range(TOGETHER)] for side in range(2)
        )
        return integers(backend, schema, question_of_unions(text, left, right), catalog_of([*left, *right]))

    expected = {text: of(text, ORDINARY, 0) for text in (JOINED, AMONG)}
    for turn, start in enumerate(range(0, len(every), 2 * TOGETHER)):
        text = (JOINED, AMONG)[turn % 2]
        assert of(text, every, start) == expected[text], (text, every[start : start + 2 * TOGETHER])


SLOWER = {"clickhouse", "spark"}
QUICK = [pytest.param(name, marks=[pytest.mark.slow] if name in SLOWER else []) for name in [*ENGINES, "duckdb"]]


@pytest.mark.parametrize("name", QUICK)
def test_a_name_of_ours_can_be_a_name_of_the_owners(opened, name):
    """Every name is that of a table and of columns, in one of six questions; on slow engines in one of two."""
    if name in SLOW_ENGINES:
        compared_together(opened, name)
    else:
        compared(opened, name, lambda start: [TEXTS[start % len(TEXTS)]])


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ENGINES, "duckdb"])
def test_a_name_of_ours_can_be_a_name_of_the_owners_in_every_question(opened, name):
    compared(opened, name, lambda _: TEXTS)
