"""Spending without surprise, on one running service: free repeats, caps over all doors, logs without values, a kill."""

import asyncio
import json
import signal
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

from .serving import CATALOG, ENDLESS, QUESTION, SETTINGS, Served, write_project

SECRET = "zyxwvut13579"  # noqa: S105 - a value of a row, not a secret of ours
NUMBER = 86420135
CAP = 0.5
QUESTIONS = 20
WITH_AVERAGE = "SELECT k, COUNT(*) AS n, AVG(x) AS m FROM people GROUP BY k ORDER BY k"
LOG = '[serve.logs]\nfile = "requests.jsonl"\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spending")
    write_project(folder, settings=SETTINGS + LOG)
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
    running = Served(folder)
    yield running
    running.close()


@pytest.fixture(scope="module")
def dashboard(folder, served):
    """Secrets of an analyst with a cap."""
    words = ["analyst", "add", "dashboard", "--config", str(folder / "hedgerow.toml"), "--json"]
    return json.loads(CliRunner().invoke(app, words).stdout)


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


def test_a_repeat_keeps_its_digits_whoever_asks_and_whatever_was_asked_in_between(served, dashboard):
    analyst, owner = served.secrets("analyst"), served.secrets("owner")
    first = ask_http(served, analyst["token"], QUESTION)[1]
    between = ask_http(served, owner["token"], WITH_AVERAGE)[1]
    again = ask_http(served, owner["token"], QUESTION)[1]
    assert (first["reused"], between["reused"], again["reused"]) == (False, False, True)
    assert (again["rows"], again["intervals"]) == (first["rows"], first["intervals"])
    rows = [tuple(row) for row in first["rows"]]
    assert ask_wire(served, "analyst", analyst["password"], QUESTION) == rows
    model = ask_model(served, dashboard["token"], QUESTION)
    assert ([tuple(row.values()) for row in model["rows"]], model["reused"]) == (rows, True)
    with hr.connect(f"http://{served.started['http']}/people", token=dashboard["token"]) as db:
        assert [tuple(row) for row in db.sql(QUESTION)] == rows
        assert db.quote(QUESTION).reused
    charged = [entry["analyst"] for entry in charges(served) if entry["charge"]["epsilon"] > 0]
    assert charged == ["analyst", "owner"]


def charges(served):
    listed = served.http("/v1/datasets/people/history", served.secrets("owner")["token"])[1]["history"]
    return [entry for entry in listed if entry.get("analyst")]


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
    doors = [over_http, over_wire, over_mcp]
    with ThreadPoolExecutor(QUESTIONS) as clients:
        asked = [clients.submit(doors[i % 3], question(i)) for i in range(QUESTIONS)]
        answered = [future.result() for future in asked]
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
    assert "rows" in ask_model(served, analyst_with_cap(folder), literal)
    metrics = served.http("/metrics")[1]
    log = (folder / "requests.jsonl").read_text()
    for text in (log, metrics, "".join(served.lines)):
        assert SECRET not in text
        assert str(NUMBER) not in text
        assert "SELECT" not in text
    lines = [json.loads(line) for line in log.splitlines()]
    assert {"http", "wire", "mcp"} <= {line.get("door") for line in lines}
    assert {"ok", "unknown-column", "syntax", "login-refused"} <= {line.get("code") for line in lines}


def analyst_with_cap(folder):
    words = ["analyst", "add", "model", "--epsilon", "1", "--config", str(folder / "hedgerow.toml"), "--json"]
    return json.loads(CliRunner().invoke(app, words).stdout)["token"]


def test_a_service_that_is_killed_in_a_question_shows_its_charge_and_starts_again(served, folder):
    """The last test of this module: it ends the service that the others ask."""
    token = served.secrets("analyst")["token"]
    before = charges(served)
    with ThreadPoolExecutor(1) as client:
        asking = client.submit(ask_http, served, token, ENDLESS[0])
        while len(charges(served)) == len(before):
            assert not asking.done()
        spent = served.http("/v1/datasets/people/budget", served.secrets("owner")["token"])[1]["spent"]
        served.stop(signal.SIGKILL)
        with pytest.raises(OSError, match=r".*"):
            asking.result()
    again = Served(folder)
    try:
        assert again.started["accounts"] == {}
        assert again.http("/ready")[0] == 200
        again.started["accounts"] = served.started["accounts"]
        assert charges(again)[: len(before)] == before
        [left] = charges(again)[len(before) :]
        assert (left["analyst"], left["question"], left["charge"]["epsilon"]) == ("analyst", ENDLESS[0], 0.5)
        assert left["status"] not in {"answered", "reused"}
        assert again.http("/v1/datasets/people/budget", again.secrets("owner")["token"])[1]["spent"] == spent
        assert ask_http(again, token, QUESTION)[1]["reused"]
        assert ask_http(again, token, "SELECT COUNT(*) AS n FROM people WHERE x > 5")[0] == 200
        assert ask_wire(again, "analyst", again.secrets("analyst")["password"], QUESTION)
        assert again.stop() == 0
    finally:
        again.close()
