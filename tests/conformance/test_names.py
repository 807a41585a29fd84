"""Tables and columns of the owner may have any name, those that the compiled SQL uses for its own steps among them.

Every word of the SQL that an engine is sent is taken as the name of a table, and of its columns. The integers must be
those of a table with ordinary names.
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
"""`x2` is no other case than `x1`."""

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
ROWS = [(unit, "xyz"[(unit * place) % 3], (unit * 7 + place) % 5) for unit in range(9) for place in range(1 + unit % 4)]

JOINED = (
    "SELECT a.{key}, COUNT(*), SUM(b.{value_b}) FROM {a} AS a JOIN {b} AS b ON a.{unit} = b.{unit_b} GROUP BY a.{key}"
)
AMONG = "SELECT COUNT(*), SUM({value}) FROM {a} WHERE {unit} IN (SELECT {unit_b} FROM {b} WHERE {value_b} > 2)"
TEXTS = [
    "SELECT a.{key}, COUNT(*), SUM(a.{value}) FROM {a} AS a GROUP BY a.{key}",
    JOINED,
    "SELECT {key}, MEDIAN({value}), COUNT(DISTINCT {value}) FROM {a} GROUP BY {key}",
    AMONG,
    'SELECT {key}, AVG("is") FROM (SELECT {unit}, {key}, COUNT(*) AS "is" FROM {a} GROUP BY 1, 2) GROUP BY {key}',
    "SELECT c.{value_c}, COUNT(*) FROM {a} AS a JOIN {c} AS c ON a.{key} = c.{key_c} GROUP BY c.{value_c}",
]


def words(dialect):
    """Every word that the SQL of a broad corpus has on an engine, outside of texts and the owner's quoted names."""
    found = set(FIXED)
    for plan in _corpus():
        try:
            texts = program(plan, dialect, NONCE).texts()
        except UnsupportedSQLError:
            continue
        for text in texts:
            found |= {word.lower() for word in WORD.findall(QUOTED.sub(" ", text))}
    return sorted(word for word in found if not LATER.fullmatch(word))


@cache
def _corpus():
    asked = [*QUESTIONS, *CLAUSES]
    with tables.reference(tables.shop()) as connection:
        schema = DuckDB(connection, handed_in=True).schema()
        return [plan for text in asked for plan in planned(schema, text)]


def rotated(names, start):
    """The names of three tables, each with those of its columns: unit, key and value."""
    listed = [names[(start + place) % len(names)] for place in range(6)]
    return [(listed[place], listed[place : place + 3]) for place in range(3)]


def held(names):
    """A table under every name, whose columns are called by that name and the next two."""
    kinds = ("BIGINT", "VARCHAR", "BIGINT")
    return {
        name: tables.Table(dict(zip(columns, kinds, strict=True)), ROWS)
        for start in range(len(names))
        for name, columns in [rotated(names, start)[0]]
    }


def asked(text, chosen):
    """The question about three tables, in the default dialect."""
    named = {}
    for (table, columns), letter in zip(chosen, ("", "_b", "_c"), strict=True):
        named[letter.strip("_") or "a"] = f'"{table}"'
        named |= {f"{role}{letter}": f'"{c}"' for role, c in zip(("unit", "key", "value"), columns, strict=True)}
    return text.format(**named)


def catalog_of(chosen):
    """Two private tables and a public one."""
    (a, columns_a), (b, columns_b), (c, _) = chosen
    private = [
        DeclaredTable(name, unit=columns[0], max_rows=3, columns={columns[2]: DeclaredColumn(columns[2], 0.0, 9.0)})
        for name, columns in ((a, columns_a), (b, columns_b))
    ]
    made = {table.name: table for table in [*private, DeclaredTable(c, public=True)]}
    return Catalog("names", BudgetPolicy(1.0, 1e-6), made)


def integers(backend, schema, text, chosen):
    logical = bind(parse(asked(text, chosen)).query, catalog_of(chosen), schema)
    priced = price(logical, Budget(1.0, 1e-8, "gaussian"), REMAINING, min_frequency=1)
    return [measured(backend, replace(part, minimum=1)) for part in priced.parts]


@contextmanager
def duckdb_opened(made):
    with tables.reference(made) as connection:
        yield DuckDB(connection, handed_in=True)


@pytest.fixture(scope="module")
def opened():
    """By the name of an engine, the engine with a table under every word of its SQL, and what it says of them."""
    with ExitStack() as stack:

        @cache
        def named(name):
            if name == "duckdb":
                reason, opener = None, duckdb_opened
            else:
                module = importlib.import_module(f"..conformance.engines.{name}", __package__)
                reason, opener = module.why_not(), module.opened
            if reason:
                return reason
            every = words(DIALECTS[name.removeprefix("ibis_")]())
            backend = stack.enter_context(opener(held(ORDINARY) | held(every)))
            return backend, backend.schema(), every

        yield named


def compared(opened, name, questions):
    """Compare; `questions` says for a number which are asked about the tables from that place on."""
    found = opened(name)
    if isinstance(found, str):
        pytest.skip(f"NOT TESTED on {name}: {found}")
    backend, schema, every = found
    expected = {}
    for start in range(len(every)):
        chosen = rotated(every, start)
        for text in questions(start):
            if text not in expected:
                expected[text] = integers(backend, schema, text, rotated(ORDINARY, 0))
            assert integers(backend, schema, text, chosen) == expected[text], asked(text, chosen)


@pytest.mark.parametrize("name", [*ENGINES, "duckdb"])
def test_a_name_of_ours_can_be_a_name_of_the_owners(opened, name):
    """Of six consecutive places each asks one, so that every name meets every question in some place.

    On Spark and ClickHouse, which take long for a question, every other place asks one about two tables: every name is
    still that of a table, and of a column.
    """
    if name in {"clickhouse", "spark"}:
        compared(opened, name, lambda start: [] if start % 2 else [(JOINED, AMONG)[start // 2 % 2]])
    else:
        compared(opened, name, lambda start: [TEXTS[start % len(TEXTS)]])


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ENGINES, "duckdb"])
def test_a_name_of_ours_can_be_a_name_of_the_owners_in_every_question(opened, name):
    compared(opened, name, lambda _: TEXTS)
