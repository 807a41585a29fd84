"""`hedgerow serve` from its first start to its end, as a process, asked by psycopg and over HTTP."""

import json
import signal
import threading
import urllib.request
from contextlib import closing

import psycopg
import pytest
from typer.testing import CliRunner

import hedgerow as hr
from hedgerow.cli import app

from .serving import ENDLESS, QUESTION, Served, write_project


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("NOTIFY_SOCKET", "INVOCATION_ID", "HEDGEROW_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    write_project(tmp_path)
    return tmp_path


@pytest.fixture
def serve():
    """Starts services, and ends them all."""
    started = []

    def start(folder):
        started.append(Served(folder))
        return started[-1]

    yield start
    for served in started:
        served.close()


def command(folder, *words):
    result = CliRunner().invoke(app, [*words, "--config", str(folder / "hedgerow.toml"), "--json"])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_service_from_its_first_start_to_its_end(folder, serve):
    """One process for everything: a start takes seconds."""
    served = serve(folder)
    assert set(served.started) == {"datasets", "wire", "http", "console", "accounts"}
    assert (folder / "people.access").stat().st_mode & 0o777 == 0o600
    check_doors(served)
    check_reload(served, folder)
    check_cancelled(served)
    check_stop(served, folder)


def check_doors(served):
    """The same question by psycopg, by HTTP and by Python: paid once, with the same digits."""
    analyst, owner = served.secrets("analyst"), served.secrets("owner")
    with closing(served.connect("analyst", analyst["password"])) as connection:
        rows = connection.execute(QUESTION).fetchall()
        assert [key for key, _ in rows] == ["a", "b"]
        assert connection.execute(QUESTION).fetchall() == rows
        with pytest.raises(psycopg.errors.FeatureNotSupported):
            connection.execute("SELECT * FROM people")
        assert connection.execute("SELECT count(*) FROM pg_class WHERE relname = 'people'").fetchone() == (1,)
    status, answer = served.http("/v1/datasets/people/query", analyst["token"], {"sql": QUESTION})
    assert (status, answer["reused"], [tuple(row) for row in answer["rows"]]) == (200, True, rows)
    with hr.connect(f"http://{served.started['http']}/people", token=analyst["token"]) as db:
        assert [tuple(row) for row in db.sql(QUESTION)] == rows
    assert served.http("/v1/datasets/people/query", analyst["token"], {"sql": "SELECT * FROM people"})[0] == 422
    assert served.http("/v1/datasets/people/query", "hr_nobody", {"sql": QUESTION})[0] == 401
    charges = history(served, owner["token"])
    assert [(entry["analyst"], entry["status"]) for entry in charges] == [("analyst", "answered")]
    assert served.http("/ready")[0] == 200
    assert (
        'hedgerow_requests_total{dataset="people",door="wire",kind="query",outcome="ok"} 2.0'
        in served.http("/metrics")[1]
    )
    with urllib.request.urlopen(f"http://{served.started['console']}/") as page:
        assert page.status == 200
    with pytest.raises(psycopg.OperationalError):
        served.connect("analyst", owner["password"])
    with pytest.raises(psycopg.OperationalError):
        served.connect("analyst", analyst["password"], dataset="other")


def history(served, token):
    status, listed = served.http("/v1/datasets/people/history", token)
    assert status == 200
    return [entry for entry in listed["history"] if entry.get("analyst")]


def check_reload(served, folder):
    """An account and its cap are seen at once, the rest of a catalog after SIGHUP; of a wrong one the old one stays.

    A connection that is open when its account is removed asks nothing more.
    """
    added = command(folder, "analyst", "add", "ann", "--epsilon", "0.01")
    password, token = (json.loads(added)[name] for name in ("password", "token"))
    catalog = folder / "people.yaml"
    catalog.write_text(catalog.read_text().replace("people: {unit", "people: {comment: everybody, unit"))
    with closing(served.connect("ann", password)) as connection:
        assert len(connection.execute(QUESTION).fetchall()) == 2
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded):
            connection.execute("SELECT COUNT(*) FROM people")
        assert comment(served, token) is None
        served.process.send_signal(signal.SIGHUP)
        served.wait_for("reloaded")
        assert comment(served, token) == "everybody"
        command(folder, "analyst", "remove", "ann")
        with pytest.raises(psycopg.errors.InvalidPassword):
            ask_until_refused(connection)
    assert served.http("/v1/me", token)[0] == 401
    token = served.secrets("analyst")["token"]
    text = catalog.read_text()
    catalog.write_text(f"{text}\ntypo: 1\n")
    served.process.send_signal(signal.SIGHUP)
    assert served.wait_for("reload-failed")["code"].startswith("catalog")
    assert served.http("/v1/datasets/people/query", token, {"sql": QUESTION})[0] == 200
    catalog.write_text(text)
    assert 'door="wire",kind="login",outcome="login-refused"' in served.http("/metrics")[1]
    assert 'door="http",kind="login",outcome="login-refused"' in served.http("/metrics")[1]


def comment(served, token):
    return served.http("/v1/datasets/people/tables", token)[1]["tables"][0]["comment"]


def ask_until_refused(connection):
    """Ask again and again: an account that was looked up is known for a second."""
    for _ in range(100_000):
        connection.execute(QUESTION)


def check_cancelled(served):
    """One statement is cancelled: its charge stays, another session feels nothing, and the next question works."""
    analyst, owner = served.secrets("analyst"), served.secrets("owner")
    with (
        closing(served.connect("analyst", analyst["password"])) as one,
        closing(served.connect("analyst", analyst["password"])) as other,
    ):
        waiting = run_until_charged(served, one, ENDLESS[0], owner["token"])
        assert len(other.execute(QUESTION).fetchall()) == 2
        one.cancel_safe(timeout=60)
        assert isinstance(waiting(), psycopg.errors.QueryCanceled)
        assert len(one.execute(QUESTION).fetchall()) == 2
        assert len(other.execute(QUESTION).fetchall()) == 2
    last = history(served, owner["token"])[-1]
    assert (last["analyst"], last["status"]) == ("analyst", "failed")
    assert last["charge"]["epsilon"] == 0.5


def run_until_charged(served, connection, question, token):
    """Ask an endless question in a thread; return once it is charged, a function that waits for its error."""
    before = len(history(served, token))
    errors = []

    def ask():
        try:
            connection.execute(question)
        except psycopg.Error as error:
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    while len(history(served, token)) == before:
        assert thread.is_alive(), errors

    def wait():
        thread.join()
        return errors[0]

    return wait


def check_stop(served, folder):
    """SIGTERM ends a statement that goes on for ever, and the process; the log has no text and no secret."""
    analyst, owner = served.secrets("analyst"), served.secrets("owner")
    with closing(served.connect("analyst", analyst["password"])) as connection:
        waiting = run_until_charged(served, connection, ENDLESS[1], owner["token"])
        assert served.stop() == 0
        assert isinstance(waiting(), psycopg.Error)
    log = "".join(served.lines)
    for secret in ("endless_", "SELECT", analyst["password"], analyst["token"], owner["password"], owner["token"]):
        assert secret not in log
    assert '"event": "stopped"' in log
    with hr.connect(folder / "hedgerow.toml") as db:
        assert [entry.status for entry in db.budget.history] == ["opened", "answered", "failed", "failed"]
        assert db.sql("SELECT COUNT(*) FROM people")
