"""One suite for all engines: the same values and the same integers as DuckDB, exactly.

An engine is a file in `engines/` that offers

    why_not() -> str | None                  why the engine cannot run on this machine, or None
    opened(tables) -> context manager        a `Backend` that holds these tables (see `tables.Table`)
"""

import importlib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pytest

from hedgerow.backends.duckdb import DuckDB
from hedgerow.schema import Schema, SchemaTable

from .tables import everything, reference

ENGINES = sorted(path.stem for path in (Path(__file__).parent / "engines").glob("[a-z]*.py"))


@dataclass
class Pair:
    """An engine beside DuckDB, with the same tables in both."""

    name: str
    engine: object
    duckdb: object
    known: dict = field(default_factory=dict)

    @cached_property
    def schema(self):
        """What the engine says of its columns, and what DuckDB enforces: the plans must be of one shape."""
        theirs = self.engine.schema()
        return Schema({name: _merged(theirs.tables[name], table) for name, table in self.duckdb_schema.tables.items()})

    @cached_property
    def duckdb_schema(self):
        """What DuckDB says."""
        return self.duckdb.schema()

    def expected(self, question, made):
        """What DuckDB gives for a question, asked once."""
        if question not in self.known:
            self.known[question] = made()
        return self.known[question]


def _merged(theirs, ours):
    columns = {
        name: type(column)(name, column.type, column.native, ours.columns[name].nullable, column.collated, column.loose)
        for name, column in theirs.columns.items()
    }
    return SchemaTable(ours.name, columns, ours.unique)


QUICK = {"test_the_plainest_questions_are_answered_by_every_engine", "test_a_value_has_one_text_to_be_hashed"}
"""What `make test` does on engines that take a second for each statement; the rest is done by `make slow`."""

LONG = {
    "test_a_dashboard_is_the_same_everywhere",
    "test_a_function_is_the_same_everywhere",
    "test_a_construct_is_the_same_everywhere",
}
"""What `make slow` alone does, on every engine, for the time it takes."""

PATIENT = {"spark"}


def _marks(engine, test):
    group = pytest.mark.xdist_group(engine)
    long = test in LONG or (engine in PATIENT and test not in QUICK)
    return [group, pytest.mark.slow] if long else [group]


def pytest_generate_tests(metafunc):
    if "engine" in metafunc.fixturenames:
        marked = [pytest.param(name, marks=_marks(name, metafunc.function.__name__)) for name in ENGINES]
        metafunc.parametrize("engine", marked, indirect=True, scope="session")


@pytest.fixture(scope="session")
def tables():
    return everything()


@pytest.fixture(scope="session")
def duckdb_side(tables):
    """DuckDB with the tables, and what it has given so far."""
    with reference(tables) as connection:
        yield DuckDB(connection, handed_in=True), {}


@pytest.fixture(scope="session")
def engine(request, tables, duckdb_side):
    module = importlib.import_module(f"..conformance.engines.{request.param}", __package__)
    reason = module.why_not()
    if reason is not None:
        pytest.skip(f"NOT TESTED on {request.param}: {reason}")
    with module.opened(tables) as backend:
        yield Pair(request.param, backend, *duckdb_side)
