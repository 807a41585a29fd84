"""`hedgerow serve` from its first start to its end: one process, which all tests ask in order."""

import asyncio
import json
import signal
import threading
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial

import duckdb
import httpx2
import psycopg
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from typer.testing import CliRunner

import hedgerow as hr
from hedgerow.cli import app

from .serving import CATALOG, ENDLESS, QUESTION, Served, write_project

SECRET = "zyxwvut13579"  # noqa: S105 - a value of a row, not a secret of ours
NUMBER = 86420135
CAP = 0.5
QUESTIONS = 20
YOUNG = "SELECT k, COUNT(*) AS n FROM people WHERE x < 6 GROUP BY k ORDER BY k"
YOUNG_WITH_AVERAGE = "SELECT k, COUNT(*) AS n, AVG(x) AS m FROM people WHERE x < 6 GROUP BY k ORDER BY k"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    write_project(folder)
    with duckdb.connect(str(folder / "people.duckdb")) as connection:
        connection.execute(
            f"CREATE TABLE notes AS SELECT i AS id, {NUMBER} AS x, '{SECRET}' AS note FROM range(900) r(i)"
        )
    notes = "  notes: {unit: id, unit_unique: true, columns: {x: {lower: 0, upper: 100000000}}}\n"
    text = CATALOG.replace("delta: 1e-6}", f"delta: 1e-6, analysts: {{dashboard: {{epsilon: {CAP}}}}}}}")
    (folder / "people.yaml").write_text(text + notes)
    return folder


@pytest.fixture(scope="module")
def served(folder):
    with pytest.MonkeyPatch.context() as environment:
        for name in ("NOTIFY_SOCKET", "INVOCATION_ID", "HEDGEROW_PROJECT"):
            environment.delenv(name, raising=False)
        running = Served(folder)
    yield running
    running.close()


@pytest.fixture(scope="module")
def dashboard(folder, served):
    """Secrets of an analyst with a cap."""
    return command(folder, "analyst", "add", "dashboard")


def command(folder, *words):
    """The JSON of a command."""
    result = CliRunner().invoke(app, [*words, "--config", str(folder / "hedgerow.toml"), "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_first_start_makes_accounts_that_nobody_else_can_read(served, folder):
    assert set(served.started) == {"ready", "datasets", "wire", "http", "console", "accounts"}
    assert set(served.started["accounts"]) == {"owner", "analyst"}
    assert (folder / "people.access").stat().st_mode & 0o777 == 0o600


def ask_http(served, token, sql, **fields):
    return served.http("/v1/datasets/people/query", token, {"sql": sql, **fields})


def ask_wire(served, name, password, sql, params=None):
    with closing(served.connect(name, password)) as connection:
        return connection.execute(sql, params).fetchall()


def ask_model(served, token, sql, **options):
    """The result of the tool `query`, asked by the official client."""

    async def run():
        headers = {"Authorization": f"Bearer {token}"}
        url = f"http://{served.started['http']}/mcp"
        async with (
            httpx2.AsyncClient(headers=headers) as http_client,
            Client(streamable_http_client(url, http_client=http_client)) as client,
        ):
            return await client.call_tool("query", {"sql": sql, **options})

    return asyncio.run(run()).structured_content


def charges(served):
    listed = served.http("/v1/datasets/people/history", served.secrets("owner")["token"])[1]["history"]
    return [entry for entry in listed if entry.get("analyst")]


def test_every_door_gives_the_same_answer(served):
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
    assert [(entry["analyst"], entry["status"]) for entry in charges(served)] == [("analyst", "answered")]
    assert served.http("/ready")[0] == 200
    assert (
        'hedgerow_requests_total{dataset="people",interface="wire",kind="query",outcome="ok"} 2.0'
        in served.http("/metrics")[1]
    )
    with urllib.request.urlopen(f"http://{served.started['console']}/") as page:
        assert page.status == 200
    with pytest.raises(psycopg.OperationalError):
        served.connect("analyst", owner["password"])
    with pytest.raises(psycopg.OperationalError):
        served.connect("analyst", analyst["password"], dataset="other")


def test_a_repeat_keeps_its_digits_whoever_asks_and_whatever_was_asked_in_between(served, dashboard):
    analyst, owner = served.secrets("analyst"), served.secrets("owner")
    before = len(charges(served))
    first = ask_http(served, analyst["token"], YOUNG)[1]
    between = ask_http(served, owner["token"], YOUNG_WITH_AVERAGE)[1]
    again = ask_http(served, owner["token"], YOUNG)[1]
    assert (first["reused"], between["reused"], again["reused"]) == (False, False, True)
    assert (again["rows"], again["intervals"]) == (first["rows"], first["intervals"])
    rows = [tuple(row) for row in first["rows"]]
    assert ask_wire(served, "analyst", analyst["password"], YOUNG) == rows
    model = ask_model(served, dashboard["token"], YOUNG)
    assert ([tuple(row.values()) for row in model["rows"]], model["reused"]) == (rows, True)
    with hr.connect(f"http://{served.started['http']}/people", token=dashboard["token"]) as db:
        assert [tuple(row) for row in db.sql(YOUNG)] == rows
        assert db.quote(YOUNG).reused
    assert [entry["analyst"] for entry in charges(served)[before:]] == ["analyst", "owner"]


def test_a_dashboard_spends_no_more_than_its_cap_over_all_doors_at_once(served, dashboard):
    """Each question alone takes most of the cap, so one is answered and the others are refused as too dear."""

    def question(number):
        return f"SELECT COUNT(*) AS n FROM people WHERE x <= {number / 10}"

    def over_http(sql):
        status, answer = ask_http(served, dashboard["token"], sql, options={"epsilon": 0.9 * CAP})
        assert (status, answer.get("code")) in {(200, None), (402, "budget-analyst"), (429, "too-busy")}, answer
        return status == 200

    def over_wire(sql):
        with closing(served.connect("dashboard", dashboard["password"])) as connection:
            connection.execute(f"SET hedgerow.epsilon = {0.9 * CAP}")
            try:
                connection.execute(sql)
            except psycopg.errors.ConfigurationLimitExceeded:
                return False
            return True

    def over_mcp(sql):
        answer = ask_model(served, dashboard["token"], sql, epsilon=0.9 * CAP)
        assert "rows" in answer or answer["error"]["code"] == "budget-analyst", answer
        return "rows" in answer

    before = len(charges(served))
    interfaces = [over_http, over_wire, over_mcp]
    with ThreadPoolExecutor(QUESTIONS) as clients:
        pending = [clients.submit(interfaces[i % 3], question(i)) for i in range(QUESTIONS)]
        answered = [future.result() for future in pending]
    assert sum(answered) == 1
    own = charges(served)[before:]
    assert [(entry["analyst"], entry["status"]) for entry in own] == [("dashboard", "answered")]
    view = served.http("/v1/datasets/people/budget", dashboard["token"])[1]
    assert view["limit"]["epsilon"] == pytest.approx(CAP)
    assert 0 <= view["remaining"]["epsilon"] < 0.5 * CAP
    assert ask_http(served, dashboard["token"], QUESTION)[0] == 200  # what was paid for stays free


def test_no_value_of_rows_statements_or_parameters_is_in_the_log(served, folder):
    analyst = served.secrets("analyst")
    ask = partial(ask_http, served, analyst["token"])
    literal = f"SELECT COUNT(*) AS n FROM notes WHERE note = '{SECRET}' OR x > {NUMBER}"
    assert ask(literal)[0] == 200
    assert (
        ask("SELECT COUNT(*) AS n FROM notes WHERE note = :a AND x < :b", params={"a": SECRET, "b": NUMBER})[0] == 200
    )
    assert ask("SELECT SUM(x) AS s, MAX(note) AS m FROM notes")[0] == 422
    assert ask(f"SELECT {SECRET} FROM notes")[0] == 422
    assert ask(f"SELECT '{SECRET}")[0] == 422
    assert ask(QUESTION, options={SECRET: 1})[0] == 422
    assert served.http(f"/v1/datasets/{SECRET}/tables", analyst["token"])[0] == 404
    assert served.http("/v1/me", f"hr_{SECRET}")[0] == 401
    assert served.http(f"/v1/analysts/{SECRET}/rotate", served.secrets("owner")["token"], {})[0] == 404
    wire = partial(ask_wire, served, "analyst", analyst["password"])
    assert len(wire("SELECT COUNT(*) FROM notes WHERE note = %s", [SECRET])) == 1
    for sql in (f"SELECT {SECRET} FROM notes", f"SELECT '{SECRET}'::int", f"SELECT x FROM notes WHERE x = {NUMBER}"):
        with pytest.raises(psycopg.Error):
            wire(sql)
    with pytest.raises(psycopg.OperationalError):
        served.connect(SECRET, SECRET)
    assert "rows" in ask_model(served, command(folder, "analyst", "add", "model", "--epsilon", "1")["token"], literal)
    metrics = served.http("/metrics")[1]
    log = "".join(served.lines)
    for text in (log, metrics):
        assert SECRET not in text
        assert str(NUMBER) not in text
        assert "SELECT" not in text
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    assert {"http", "wire", "mcp"} <= {line.get("interface") for line in lines}
    assert {"ok", "unknown-column", "syntax", "login-refused"} <= {line.get("code") for line in lines}


def test_accounts_and_caps_are_seen_at_once_and_catalogs_after_a_signal(served, folder):
    """An account and its cap are seen at once, the rest of a catalog after SIGHUP; of a wrong one the old one stays.

    A connection that is open when its account is removed asks nothing more.
    """
    added = command(folder, "analyst", "add", "ann", "--epsilon", "0.01")
    password, token = added["password"], added["token"]
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
    assert 'interface="wire",kind="login",outcome="login-refused"' in served.http("/metrics")[1]
    assert 'interface="http",kind="login",outcome="login-refused"' in served.http("/metrics")[1]


def test_changes_of_accounts_are_in_the_log(served):
    owner = served.secrets("owner")["token"]
    assert served.http("/v1/analysts", owner, {"name": "zoe"})[0] == 201
    change = served.wait_for("change")
    assert (change["analyst"], change["kind"], change["target"]) == ("owner", "add-account", "zoe")
    assert served.http("/v1/analysts/nobody/rotate", owner, {})[0] == 404
    assert served.http("/v1/analysts/zoe/rotate", owner, {})[0] == 200
    assert served.wait_for("change")["kind"] == "rotate-account"


@pytest.mark.parametrize("interface", ["wire", "http", "mcp", "console"])
def test_a_refused_login_is_counted_and_logged_without_a_name(served, interface):
    if interface == "wire":
        with pytest.raises(psycopg.OperationalError):
            served.connect(SECRET, SECRET)
    elif interface == "console":
        form = urllib.parse.urlencode({"name": SECRET, "password": SECRET}).encode()
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"http://{served.started['console']}/sign-in", form)
        refused.value.close()
    else:
        assert (
            served.http("/mcp" if interface == "mcp" else "/v1/me", SECRET, {} if interface == "mcp" else None)[0]
            == 401
        )
    assert f'interface="{interface}",kind="login",outcome="login-refused"' in served.http("/metrics")[1]
    assert SECRET not in "".join(served.lines)


def comment(served, token):
    return served.http("/v1/datasets/people/tables", token)[1]["tables"][0]["comment"]


def ask_until_refused(connection):
    """Ask again and again: an account that was looked up is known for a second."""
    for _ in range(100_000):
        connection.execute(QUESTION)


def test_a_cancelled_question_stays_charged_and_others_feel_nothing(served):
    """One statement is cancelled: its charge stays, another session feels nothing, and the next question works."""
    analyst = served.secrets("analyst")
    with (
        closing(served.connect("analyst", analyst["password"])) as one,
        closing(served.connect("analyst", analyst["password"])) as other,
    ):
        waiting = run_until_charged(served, one, ENDLESS[0])
        assert len(other.execute(QUESTION).fetchall()) == 2
        one.cancel_safe(timeout=60)
        assert isinstance(waiting(), psycopg.errors.QueryCanceled)
        assert len(one.execute(QUESTION).fetchall()) == 2
        assert len(other.execute(QUESTION).fetchall()) == 2
    last = charges(served)[-1]
    assert (last["analyst"], last["status"]) == ("analyst", "failed")
    assert last["charge"]["epsilon"] == 0.5


def run_until_charged(served, connection, question):
    """Ask an endless question in a thread; return once it is charged, a function that waits for its error."""
    before = len(charges(served))
    errors = []

    def ask():
        try:
            connection.execute(question)
        except psycopg.Error as error:
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    while len(charges(served)) == before:
        assert thread.is_alive(), errors

    def wait():
        thread.join()
        return errors[0]

    return wait


def test_a_service_that_is_killed_in_a_question_shows_its_charge_and_starts_again(served, folder):
    """The last test: it ends the service that the others asked. A statement that runs ends with the second one, too."""
    token = served.secrets("analyst")["token"]
    before = charges(served)
    with ThreadPoolExecutor(1) as client:
        future = client.submit(ask_http, served, token, ENDLESS[2])
        while len(charges(served)) == len(before):
            assert not future.done()
        spent = served.http("/v1/datasets/people/budget", served.secrets("owner")["token"])[1]["spent"]
        served.stop(signal.SIGKILL)
        with pytest.raises(OSError, match=r".*"):
            future.result()
    again = Served(folder)
    try:
        assert again.started["accounts"] == {}
        assert again.http("/ready")[0] == 200
        again.started["accounts"] = served.started["accounts"]
        assert charges(again)[: len(before)] == before
        [left] = charges(again)[len(before) :]
        assert (left["analyst"], left["question"], left["charge"]["epsilon"]) == ("analyst", ENDLESS[2], 0.5)
        assert left["status"] not in {"answered", "reused"}
        assert again.http("/v1/datasets/people/budget", again.secrets("owner")["token"])[1]["spent"] == spent
        assert ask_http(again, token, QUESTION)[1]["reused"]
        assert ask_http(again, token, "SELECT COUNT(*) AS n FROM people WHERE x > 5")[0] == 200
        assert ask_wire(again, "analyst", again.secrets("analyst")["password"], QUESTION)
        check_stop(again, folder)
    finally:
        again.close()


def check_stop(served, folder):
    """SIGTERM ends a statement that goes on for ever, and the process; the log has no text and no secret."""
    analyst, owner = served.secrets("analyst"), served.secrets("owner")
    with closing(served.connect("analyst", analyst["password"])) as connection:
        waiting = run_until_charged(served, connection, ENDLESS[1])
        assert served.stop() == 0
        assert isinstance(waiting(), psycopg.Error)
    log = "".join(served.lines)
    for secret in ("endless_", "SELECT", analyst["password"], analyst["token"], owner["password"], owner["token"]):
        assert secret not in log
    assert '"event": "stopped"' in log
    with hr.connect(folder / "hedgerow.toml") as db:
        assert db.budget.history[-1].status == "failed"
        assert db.sql("SELECT COUNT(*) FROM people")
