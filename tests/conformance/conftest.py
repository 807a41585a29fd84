"""One suite for all engines: the same values and the same integers as DuckDB, exactly.

An engine is a file in `engines/` that offers

    why_not() -> str | None                  why the engine cannot run on this machine, or None
    opened(tables) -> context manager        a `Backend` that holds these tables (see `tables.Table`)
    FINITE                                   optional: True where the engine has neither infinity nor NaN
"""

import importlib
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

import pytest

from hedgerow.backends.duckdb import DuckDB

from .tables import everything, finite, merged, reference

ENGINES = sorted(path.stem for path in (Path(__file__).parent / "engines").glob("[a-z]*.py"))


@dataclass
class Pair:
    """An engine beside DuckDB, with the same tables in both."""

    name: str
    engine: object
    duckdb: object
    known: dict = field(default_factory=dict)
    finite: bool = False

    @cached_property
    def schema(self):
        """The engine's columns with DuckDB's constraints: the plans must be of one shape."""
        return merged(self.engine.schema(), self.duckdb_schema)

    @cached_property
    def duckdb_schema(self):
        """DuckDB's own answer."""
        return self.duckdb.schema()

    def expected(self, question, built):
        """DuckDB's answer to a question, asked once."""
        if question not in self.known:
            self.known[question] = built()
        return self.known[question]


LONG = {"test_a_dashboard_is_the_same_everywhere"}
"""Reason of tests that run in `make slow` alone: dashboards put together what the others ask one by one."""

LONG_ON_SPARK = {"test_every_form_of_a_statement_has_the_same_integers"}
"""Likewise: it takes seconds to plan each of the forms, and `tests/backends/spark` compares those of one question."""


def _marks(test, engine):
    return [pytest.mark.slow] if test in LONG or (engine == "spark" and test in LONG_ON_SPARK) else []


def pytest_generate_tests(metafunc):
    if "engine" in metafunc.fixturenames:
        engines = getattr(metafunc.module, "ONLY", ENGINES)
        marked = [pytest.param(name, marks=_marks(metafunc.function.__name__, name)) for name in engines]
        metafunc.parametrize("engine", marked, indirect=True)


@pytest.fixture(scope="session")
def tables():
    return everything()


@pytest.fixture(scope="session")
def duckdb_side(tables):
    """DuckDB with the tables, and what it has given so far."""
    with reference(tables) as connection:
        yield DuckDB(connection, handed_in=True), {}


@pytest.fixture(scope="session")
def pairs(tables, duckdb_side):
    """Engines by name, opened when they are first asked for; a fixture with parameters would close one for another."""
    with ExitStack() as stack:

        @cache
        def opened(name):
            module = importlib.import_module(f"..conformance.engines.{name}", __package__)
            reason = module.why_not()
            if reason is not None:
                return reason
            if not getattr(module, "FINITE", False):
                return Pair(name, stack.enter_context(module.opened(tables)), *duckdb_side)
            some = finite(tables)
            beside = DuckDB(stack.enter_context(reference(some)), handed_in=True)
            return Pair(name, stack.enter_context(module.opened(some)), beside, finite=True)

        yield opened


@pytest.fixture
def engine(request, pairs):
    actual = pairs(request.param)
    if isinstance(actual, str):
        pytest.skip(f"NOT TESTED on {request.param}: {actual}")
    return actual
