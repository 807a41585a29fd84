"""Fixtures shared by tests of Spark: one Spark, sessions in it, and a server of Spark Connect.

The Spark may be running already: `tests/conformance` uses the same process.
"""

import socket
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hedgerow.backends import connect_backend
from hedgerow.backends.duckdb import DuckDB
from hedgerow.backends.spark import Spark
from hedgerow.backends.spark.connect import STARTED
from hedgerow.backends.spark.driver import pyspark, remote_sessions
from hedgerow.compiled import Query
from hedgerow.dialects.spark import SPARK
from hedgerow.dialects.statement import Computed, StatementParts, Step
from hedgerow.errors import BackendError

from ...conformance.conftest import Pair
from ...conformance.engines.spark import INTERPRETED, folder_of
from ...conformance.tables import reference, shop

SECRET = "hunter2"  # noqa: S105 - it is to be looked for, and opens nothing
FAR = 60
"""Hundreds of times the noise at the epsilon of these tests."""
QUICK = {"spark.sql.shuffle.partitions": "1", "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}
HOSTILE = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "America/New_York",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.groupByOrdinal": "false",
    "spark.sql.orderByOrdinal": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.shuffle.partitions": "1",
}
MEDIANS = "SELECT channel, MEDIAN(amount) AS v FROM orders GROUP BY channel"
JOINED = "SELECT m.region, SUM(o.amount) AS s FROM orders o JOIN members m ON o.member_id = m.member_id GROUP BY 1"
DIFFERENT = "SELECT channel, COUNT(DISTINCT ordered_at) AS v FROM orders GROUP BY channel"
TEXTS = r"""SELECT DATE_TRUNC('month', ordered_at) AS k, REPLACE(coupon, 'I', '\n''') AS c, COUNT(*) AS n FROM orders
WHERE coupon LIKE '%R%' OR LOWER(channel) = 'web' GROUP BY 1, 2"""
TABLES = ("members", "orders", "regions")
ENDLESS = "SELECT COUNT(*) AS n FROM range(1000000000000000) WHERE id * 7 % 11 = 3"
KEPT_FOREVER = StatementParts((Step("kept", ENDLESS, Computed.ONCE),), "SELECT n FROM kept")
FAILING = StatementParts(
    (Step("kept", "SELECT k FROM gone", Computed.ONCE),), "SELECT COUNT(*) AS n FROM kept JOIN chosen USING (k)"
)
CATALOG = """
dataset: d
budget: {epsilon: 1000, delta: 1e-3}
defaults: {delta: 1e-6, min_frequency: 1}
tables:
  people: {unit: id, max_rows: 2, columns: {k: {values: [a, b]}}}
"""


def whole(sql):
    """A query for n, of a text or of a statement with steps."""
    parts = sql if isinstance(sql, StatementParts) else None
    return Query(sql if parts is None else SPARK.statement_text(parts), ("n",), (), (pa.int64(),), statement=parts)


def counted(backend, sql):
    return backend.public(whole(sql)).column("n").to_pylist()


@pytest.fixture(scope="package")
def owner(tmp_path_factory):
    """The owner's session: one more in the Spark that runs already, or one in a Spark that is started here."""
    sessions = pyspark().SparkSession
    running = sessions._instantiatedSession
    if running is not None:
        before = sessions.getActiveSession() or running
        yield activated(configured(running.newSession(), {"spark.sql.shuffle.partitions": "1"}))
        activated(before)
        return
    place = tmp_path_factory.mktemp("warehouse")
    builder = sessions.builder.master("local[2]")
    for name, value in {**STARTED, "spark.sql.warehouse.dir": str(place), **QUICK}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def configured(session, settings):
    for name, value in settings.items():
        session.conf.set(name, value)
    return session


def activated(session):
    """PySpark takes for the active session whichever last made a frame from rows."""
    session.createDataFrame([(1,)], "n INT")
    return session


@pytest.fixture(scope="package")
def tables():
    return {name: table for name, table in shop().items() if name in TABLES}


@pytest.fixture(scope="package")
def folder(tables):
    with folder_of(tables) as built:
        yield built


@pytest.fixture(scope="package")
def duckdb_side(tables):
    with reference(tables) as connection:
        yield DuckDB(connection, handed_in=True), {}


@pytest.fixture(scope="package")
def hostile(owner, folder):
    """A session whose settings change what almost every expression means."""
    session = configured(owner.newSession(), HOSTILE)
    for name in TABLES:
        session.read.parquet(f"{folder}/{name}.parquet").createTempView(name)
    return session


@pytest.fixture(scope="package")
def pair(hostile, duckdb_side):
    return Pair("spark", Spark(hostile, handed_in=True), *duckdb_side)


@pytest.fixture(scope="module")
def server(owner, folder):
    """Spark Connect, served by the same Spark; its sessions see the tables of the shared catalog."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = owner._jsc.sc().conf()
    settings.set("spark.connect.grpc.binding.address", "127.0.0.1")
    settings.set("spark.connect.grpc.binding.port", str(port))
    served = owner._jvm.org.apache.spark.sql.connect.SparkConnectPlugin().driverPlugin()
    served.init(owner._jsc.sc(), None)
    for name in TABLES:
        owner.sql(f"CREATE TABLE {name} USING parquet LOCATION '{folder}/{name}.parquet'")
    yield f"127.0.0.1:{port}"
    for name in TABLES:
        owner.sql(f"DROP TABLE {name}")
    served.shutdown()


@pytest.fixture(scope="module")
def client(server):
    """A session of Spark Connect that its owner opened."""
    session = remote_sessions()(connection=f"sc://{server}")
    session.conf.set("spark.sql.shuffle.partitions", "1")
    yield session
    session.stop()


@pytest.fixture(params=["classic", "connect"])
def backend(request):
    if request.param == "classic":
        return request.getfixturevalue("pair").engine
    return Spark(request.getfixturevalue("client"), handed_in=True)


@pytest.fixture
def people(tmp_path):
    """A folder with one small table."""
    place = tmp_path / "data"
    place.mkdir()
    pq.write_table(pa.table({"id": range(400), "k": [SECRET[:1], SECRET] * 200}), place / "people.parquet")
    return place


def views(session):
    return {table.name for table in session.catalog.listTables() if table.isTemporary}


def kept(owner):
    """Return the number of steps that Spark still holds in its memory, for all of its sessions."""
    entries = 0 if owner._jsparkSession.sharedState().cacheManager().isEmpty() else 1
    return entries + owner._jsc.getPersistentRDDs().size()


def works(owner):
    """True if tasks run: what Spark still plans has no jobs that could be stopped."""
    tracker = owner.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    return any(stage is not None and stage.numActiveTasks > 0 for stage in stages)


@contextmanager
def interpreting(session):
    """Statements are interpreted: to compile them takes seconds, and is tested on the classic session."""
    before = {name: session.conf.get(name) for name in INTERPRETED}
    configured(session, INTERPRETED)
    try:
        yield
    finally:
        configured(session, before)


@contextmanager
def nothing_left(owner, session):
    before = views(session)
    assert kept(owner) == 0
    yield
    assert views(session) == before
    assert kept(owner) == 0


def chosen(backend, query):
    with backend.snapshot() as snapshot:
        snapshot.load("chosen", pa.table({"k": [SECRET]}))
        return snapshot.run(query)


def refused(code, source):
    with pytest.raises(BackendError) as caught:
        connect_backend(source)
    assert caught.value.code == code
    assert caught.value.__cause__ is None
    return str(caught.value)
