"""Two servers on one PostgreSQL, which holds the ledger and the accounts: they keep no state of their own."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from uuid import uuid4

import pytest
from tests.internals import session_of
from typer.testing import CliRunner

import hedgerow as hr
from hedgerow.cli import app
from hedgerow.ledger.limits import Units

from .serving import CATALOG, Served, write_project

HTTP_ALONE = """
[serve.wire]
enabled = false
[serve.console]
enabled = false
[serve.http]
port = 0
[serve.limits]
per_analyst = 8
"""
CLIENTS = 40
QUESTIONS = 2
PRICE = 0.2
CAP = 0.4
BUDGET = 1.0


@pytest.fixture(scope="module")
def nodes(tmp_path_factory, server):
    """Two servers, each with a copy of the database and the catalog in a folder of its own, and one ledger."""
    ledger = f"{server}&schema=nodes_{uuid4().hex}"
    caps = f"{{epsilon: {BUDGET}, delta: 1e-6, analysts: {{dashboard: {{epsilon: {CAP}}}}}}}"
    started = []
    try:
        for name in ("one", "two"):
            folder = tmp_path_factory.mktemp(name)
            write_project(folder, ledger=ledger, settings=HTTP_ALONE)
            (folder / "people.yaml").write_text(CATALOG.replace("{epsilon: 20, delta: 1e-6}", caps))
            started.append(Served(folder))
        yield started
    finally:
        for served in started:
            served.close()


def secrets_of(node, name):
    words = ["analyst", "add", name, "--config", str(node.folder / "hedgerow.toml"), "--json"]
    return json.loads(CliRunner().invoke(app, words).stdout)["token"]


def test_two_servers_and_forty_clients_never_overspend(nodes):
    """Everybody asks questions of their own until the budget ends; the dashboard's cap ends before that."""
    one, two = nodes
    assert two.started["accounts"] == {}  # the first one made them, in the same PostgreSQL
    owner = one.secrets("owner")["token"]
    tokens = [secrets_of(one, "dashboard"), *(secrets_of(two, name) for name in ("ann", "bob", "cy"))]

    def ask(client):
        answered = 0
        for number in range(QUESTIONS):
            sql = f"SELECT COUNT(*) AS n FROM people WHERE x <= {client + number / QUESTIONS:.3f}"
            body = {"sql": sql, "options": {"epsilon": PRICE}}
            status, answer = nodes[(client + number) % 2].http(
                "/v1/datasets/people/query", tokens[client % len(tokens)], body
            )
            assert status in {200, 402, 429}, answer
            answered += status == 200
        return answered

    with ThreadPoolExecutor(CLIENTS) as clients:
        answered = list(clients.map(ask, range(CLIENTS)))
    assert 0 < sum(answered) < CLIENTS * QUESTIONS
    for node in nodes:  # both say the same, and that is what was answered
        _, listed = node.http("/v1/datasets/people/history", owner)
        charged = [entry for entry in listed["history"] if entry.get("analyst")]
        assert [entry["status"] for entry in charged] == ["answered"] * sum(answered)
        assert node.http("/v1/datasets/people/verify", owner)[1]["charges"] == sum(answered)
        by_dashboard = sum(entry["analyst"] == "dashboard" for entry in charged)
        assert by_dashboard == sum(answered[:: len(tokens)])
    with closing(hr.connect(one.folder / "hedgerow.toml", analyst="dashboard")) as db:
        ledger = session_of(db).ledger
        for spent in ledger.position("dashboard").filters:
            assert not spent.overrun_by(Units())  # exact, in the ledger's own units
        with pytest.raises(hr.BudgetError):
            db.sql("SELECT COUNT(*) AS n FROM people WHERE x < 1", epsilon=CAP)


def test_a_token_that_one_server_revokes_is_refused_by_the_other(nodes):
    one, two = nodes
    owner = one.secrets("owner")["token"]
    status, account = one.http("/v1/analysts", owner, {"name": "leaver"})
    assert (status, two.http("/v1/me", account["token"])[0]) == (201, 200)
    status, rotated = two.http("/v1/analysts/leaver/rotate", owner, {})
    assert (status, one.http("/v1/me", rotated["token"])[0]) == (200, 200)
    assert refused_soon(one, account["token"])
    assert one.http("/v1/requests", rotated["token"])[0] == 200
    assert CliRunner().invoke(app, ["analyst", "remove", "leaver", "--config", str(one.folder / "hedgerow.toml")])
    assert refused_soon(two, rotated["token"])
    assert refused_soon(one, rotated["token"])


def refused_soon(node, token):
    """Return True once a token is refused: an account that was read is known for a second."""
    return any(node.http("/v1/me", token)[0] == 401 for _ in range(10_000))


def test_a_question_that_one_server_answered_is_free_on_the_other(nodes):
    one, two = nodes
    owner = one.secrets("owner")["token"]
    entries = one.http("/v1/datasets/people/history", owner)[1]["history"]
    body = {"sql": next(entry["question"] for entry in entries if entry.get("analyst")), "options": {"epsilon": PRICE}}
    answers = [node.http("/v1/datasets/people/query", owner, body)[1] for node in nodes]
    assert [answer["reused"] for answer in answers] == [True, True]
    assert answers[0]["rows"] == answers[1]["rows"]
    assert answers[0]["intervals"] == answers[1]["intervals"]
    assert two.stop() == 0
