"""One suite for all engines: the same values and the same integers as DuckDB, exactly.

An engine is a file in `engines/` that offers

    why_not() -> str | None                  why the engine cannot run on this machine, or None
    opened(tables) -> context manager        a `Backend` that holds these tables (see `tables.Table`)
"""

import importlib
from dataclasses import dataclass
from pathlib import Path

import pytest

from hedgerow.backends.duckdb import DuckDB
from hedgerow.schema import Schema, SchemaTable

from .tables import everything, reference

ENGINES = sorted(path.stem for path in (Path(__file__).parent / "engines").glob("[a-z]*.py"))


@dataclass(frozen=True)
class Pair:
    """An engine beside DuckDB, with the same tables in both."""

    name: str
    engine: object
    duckdb: object

    def schema(self):
        """What the engine says of its columns, and what DuckDB enforces: the plans must be of one shape."""
        theirs, ours = self.engine.schema(), self.duckdb.schema()
        return Schema({name: _merged(theirs.tables[name], table) for name, table in ours.tables.items()})


def _merged(theirs, ours):
    columns = {
        name: type(column)(name, column.type, column.native, ours.columns[name].nullable, column.collated)
        for name, column in theirs.columns.items()
    }
    return SchemaTable(ours.name, columns, ours.unique)


def pytest_generate_tests(metafunc):
    if "engine" in metafunc.fixturenames:
        marked = [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in ENGINES]
        metafunc.parametrize("engine", marked, indirect=True, scope="session")


@pytest.fixture(scope="session")
def tables():
    return everything()


@pytest.fixture(scope="session")
def engine(request, tables):
    module = importlib.import_module(f"..conformance.engines.{request.param}", __package__)
    reason = module.why_not()
    if reason is not None:
        pytest.skip(f"NOT TESTED on {request.param}: {reason}")
    with module.opened(tables) as backend, reference(tables) as connection:
        yield Pair(request.param, backend, DuckDB(connection, handed_in=True))
