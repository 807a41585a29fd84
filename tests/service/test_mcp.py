"""A language model asks through the official client: in this process, and a server of its own."""

import asyncio
import json
import os
import sys
import threading

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from tests.internals import session_of

import hedgerow as hr
from hedgerow.cancellation import Cancellation
from hedgerow.cli import app
from hedgerow.service.mcp_server import MOST_ROWS, build_server

STATEMENTS = [
    "CREATE TABLE people AS SELECT i AS id, i % 7 AS x, 'k' || i % 2 AS k, 'secret-' || i AS name FROM range(900) r(i)",
    "CREATE TABLE days AS SELECT i AS day FROM range(300) r(i)",
]
TABLES = """
people: {unit: id, unit_unique: true, comment: members, columns: {x: {lower: 0, upper: 7}, name: {hidden: true}}}
days: {public: true}
"""
BUDGET = "{epsilon: 10, delta: 1e-6, analysts: {model: {epsilon: 1}}}"
GROUPED = "SELECT k, COUNT(*) AS n FROM people WHERE x < :most GROUP BY k"


@pytest.fixture
def db(build):
    return build(
        STATEMENTS, TABLES, budget=BUDGET, min_frequency=5, defaults="epsilon: 0.3, delta: 1e-8", analyst="model"
    )


def call(db, *calls):
    """The results of some tools, called one after the other."""

    async def run():
        async with Client(build_server(hr.AsyncDatabase(db))) as client:
            return [await client.call_tool(name, arguments) for name, arguments in calls]

    return asyncio.run(run())


def test_there_are_five_tools_with_descriptions_and_one_that_costs(db):
    async def run():
        async with Client(build_server(hr.AsyncDatabase(db))) as client:
            return (await client.list_tools()).tools, client.instructions

    tools, instructions = asyncio.run(run())
    assert [tool.name for tool in tools] == ["list_tables", "describe", "quote", "query", "budget"]
    assert all(tool.description and tool.output_schema for tool in tools)
    assert [tool.name for tool in tools if not tool.annotations.read_only_hint] == ["query"]
    assert "never grows back" in instructions


def test_tables_are_listed_with_what_is_declared_and_without_what_is_hidden(db):
    (result,) = call(db, ("list_tables", {}))
    people, days = result.structured_content["tables"]
    assert people["comment"] == "members"
    assert [column["name"] for column in people["columns"]] == ["id", "x", "k"]
    assert people["columns"][0]["person"]
    assert (people["columns"][1]["lower"], people["columns"][1]["upper"]) == (0, 7)
    assert days["public"]


def test_an_answer_has_rows_intervals_notes_and_its_price(db):
    described, quoted, answered, again = call(
        db,
        ("describe", {"sql": GROUPED, "params": {"most": 6}}),
        ("quote", {"sql": GROUPED, "params": {"most": 6}, "epsilon": 0.2}),
        ("query", {"sql": GROUPED, "params": {"most": 6}, "epsilon": 0.3, "confidence": 0.9}),
        ("query", {"sql": GROUPED, "params": {"most": 6}}),
    )
    assert described.structured_content["columns"][1] == {"name": "n", "type": "integer", "noisy": True}
    assert quoted.structured_content["charge"]["epsilon"] == 0.2
    assert quoted.structured_content["fits"]
    answer = answered.structured_content
    assert [row["k"] for row in answer["rows"]] == ["k0", "k1"]
    for row, bars in zip(answer["rows"], answer["intervals"], strict=True):
        assert bars["n"]["lower"] <= row["n"] <= bars["n"]["upper"]
        assert bars["n"]["kind"]
    assert answer["noisy"] == ["n"]
    assert answer["confidence"] == 0.9
    assert answer["notes"]
    assert answer["charge"]["epsilon"] == 0.3
    assert json.loads(answered.content[0].text) == answer
    assert again.structured_content["reused"]
    assert again.structured_content["rows"] == answer["rows"]


def test_the_model_spends_its_own_cap_and_no_more(db):
    used, refused, left = call(
        db,
        ("query", {"sql": "SELECT COUNT(*) AS n FROM people", "epsilon": 0.5}),
        ("query", {"sql": "SELECT SUM(x) AS s FROM people", "epsilon": 3}),
        ("budget", {}),
    )
    assert not used.is_error
    assert refused.is_error
    assert refused.structured_content["error"]["code"] == "budget-analyst"
    assert left.structured_content["limit"]["epsilon"] == pytest.approx(1)
    assert left.structured_content["queries"] == 1
    assert session_of(db).ledger.budget().analysts["model"].queries == 1


def test_a_refusal_is_a_tool_error_with_its_code_hint_and_place(db):
    refused, mistyped = call(
        db, ("query", {"sql": "SELECT nothing FROM people"}), ("query", {"sql": "SELECT 1", "epsilon": "x"})
    )
    assert refused.is_error
    error = refused.structured_content["error"]
    assert error["code"] == "unknown-column"
    assert error["hint"] == "The columns are id, x, k."
    assert error["span"]
    assert not error["charged"]
    assert "1 | SELECT nothing FROM people" in refused.content[0].text
    assert mistyped.is_error
    assert "epsilon" in mistyped.content[0].text


def test_what_fails_inside_tells_nothing_of_its_cause(db, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("secret-42 is in row 7")

    monkeypatch.setattr(db, "submit", fail)
    (result,) = call(db, ("query", {"sql": "SELECT COUNT(*) AS n FROM people"}))
    assert result.is_error
    assert result.structured_content["error"]["code"] == "internal"
    assert "secret-42" not in result.model_dump_json()
    assert "secret-42" in db.owners_log.read_text()


def test_a_long_answer_is_cut_and_says_so(db):
    (result,) = call(db, ("query", {"sql": "SELECT day FROM days"}))
    assert len(result.structured_content["rows"]) == MOST_ROWS
    assert "first 200 of 300 rows" in result.structured_content["notes"][0]


def test_a_call_that_the_client_cancels_cancels_its_statement(db, monkeypatch):
    reached, cancelled, charge = threading.Event(), threading.Event(), session_of(db).ledger.charge

    def held(*words, **options):
        receipt = charge(*words, **options)
        reached.set()
        cancelled.wait()
        return receipt

    def request(cancellation, of=Cancellation.request):
        of(cancellation)
        cancelled.set()

    monkeypatch.setattr(session_of(db).ledger, "charge", held)
    monkeypatch.setattr(Cancellation, "request", request)

    async def run():
        async with Client(build_server(hr.AsyncDatabase(db))) as client:
            query = client.call_tool("query", {"sql": "SELECT COUNT(*) AS n FROM people"})
            call = asyncio.create_task(query)
            await asyncio.to_thread(reached.wait)
            call.cancel()
            await asyncio.wait([call])
            await asyncio.to_thread(cancelled.wait)
            return await client.call_tool("budget", {})

    assert asyncio.run(run()).structured_content["queries"] == 1
    for thread in threading.enumerate():
        if thread.name == "hedgerow-job":
            thread.join()
    assert db.budget.history[-1].status == "failed"


def test_a_server_of_its_own_speaks_on_standard_input_and_output(db):
    place = db.place
    db.close()
    words = ["-m", "hedgerow", "mcp", "--db", str(place / "data.duckdb"), "--catalog", str(place / "data.yaml")]
    parameters = StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))

    async def run():
        async with Client(stdio_client(parameters)) as client:
            return [
                await client.call_tool("list_tables", {}),
                await client.call_tool("query", {"sql": "SELECT COUNT(*) AS n FROM people"}),
                await client.call_tool("query", {"sql": "SELECT * FROM people"}),
            ]

    tables, answer, refused = asyncio.run(run())
    assert len(tables.structured_content["tables"]) == 2
    assert answer.structured_content["charge"]["epsilon"] == 0.3
    assert refused.structured_content["error"]["code"] == "star"


def test_a_model_without_a_cap_is_not_let_in(build, capsys):
    place = build(STATEMENTS, TABLES).place
    words = ["mcp", "--db", str(place / "data.duckdb"), "--catalog", str(place / "data.yaml"), "--analyst", "robot"]
    assert app(words, standalone_mode=False) == 2
    said = capsys.readouterr().err
    assert "error [no-cap]: The analyst robot has no cap" in said
    assert "analysts: {robot: {epsilon: 0.5}}" in " ".join(said.split())


def test_without_the_extra_the_command_says_what_to_install(build, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "hedgerow.service.mcp_server", None)
    place = build(STATEMENTS, TABLES, budget=BUDGET).place
    assert (
        app(["mcp", "--db", str(place / "data.duckdb"), "--catalog", str(place / "data.yaml")], standalone_mode=False)
        == 2
    )
    assert "no-mcp" in capsys.readouterr().err


def test_the_settings_of_a_program_name_files_by_their_whole_paths(build, capsys, monkeypatch):
    place = build(STATEMENTS, TABLES).place
    monkeypatch.chdir(place)
    assert app(["mcp", "--db", "data.duckdb", "--catalog", "data.yaml", "--config"], standalone_mode=False) == 0
    server = json.loads(capsys.readouterr().out)["mcpServers"]["test"]
    assert server["command"] == "hedgerow"
    assert server["args"] == [
        *("mcp", "--db", str(place / "data.duckdb"), "--catalog", str(place / "data.yaml"), "--analyst", "model")
    ]
