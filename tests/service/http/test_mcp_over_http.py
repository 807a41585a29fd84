"""A language model asks over HTTP, through the official client."""

import asyncio
import json
import threading

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from tests.internals import session_of

from hedgerow.cancellation import Cancellation

COUNT = "SELECT COUNT(*) AS n FROM patients"


@pytest.fixture(scope="module")
def several(open_service):
    with open_service("hospital", "elsewhere") as running:
        yield running


def spoken(service, work, *, by="robot"):
    """The result of `work`, given a client that sends the token of somebody."""

    async def run():
        headers = {"Authorization": f"Bearer {service.tokens[by]}"}
        async with (
            httpx2.AsyncClient(headers=headers) as http_client,
            Client(streamable_http_client(f"{service.url}/mcp", http_client=http_client)) as client,
        ):
            return await work(client)

    return asyncio.run(run())


def call(service, *calls, by="robot"):
    async def work(client):
        return [await client.call_tool(name, arguments) for name, arguments in calls]

    return spoken(service, work, by=by)


def test_a_model_finds_its_tools_and_asks_within_its_cap(service):
    async def work(client):
        tools = (await client.list_tools()).tools
        return tools, client.instructions

    tools, instructions = spoken(service, work)
    assert [tool.name for tool in tools] == ["list_tables", "describe", "quote", "query", "budget"]
    assert all("dataset" not in tool.input_schema.get("properties", {}) for tool in tools)
    assert "never grows back" in instructions
    tables, answer, again, refused, dear, left = call(
        service,
        ("list_tables", {}),
        ("query", {"sql": COUNT, "epsilon": 0.5}),
        ("query", {"sql": COUNT, "epsilon": 0.5}),
        ("query", {"sql": "SELECT * FROM patients"}),
        ("query", {"sql": "SELECT AVG(age) AS a FROM patients", "epsilon": 5}),
        ("budget", {}),
    )
    assert len(tables.structured_content["tables"]) == 4
    assert answer.structured_content["rows"] == again.structured_content["rows"]
    assert again.structured_content["reused"]
    assert refused.structured_content["error"]["code"] == "star"
    assert dear.structured_content["error"]["code"] == "budget-analyst"
    assert left.structured_content["queries"] == 1
    history = service.call("GET", "/v1/datasets/hospital/history", by="olive").content["history"]
    assert history[-1]["analyst"] == "robot"


def test_tools_take_a_dataset_where_there_are_several(several):
    async def work(client):
        tools = (await client.list_tools()).tools
        first = await client.call_tool("query", {"dataset": "elsewhere", "sql": COUNT})
        return tools, first, await client.call_tool("query", {"dataset": "nowhere", "sql": COUNT})

    tools, answer, refused = spoken(several, work)
    assert all(tool.input_schema["properties"]["dataset"]["enum"] == ["hospital", "elsewhere"] for tool in tools)
    assert all("dataset" in tool.input_schema["required"] for tool in tools)
    assert not answer.is_error
    assert refused.is_error
    assert several.databases["elsewhere"].budget.queries == 1
    assert several.databases["hospital"].budget.queries == 0


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [("bob", 403, "no-cap"), ("eve", 403, "no-cap"), ("audrey", 403, "not-allowed"), (None, 401, "login-refused")],
)
def test_who_has_no_cap_no_role_or_no_token_is_not_let_in(service, name, status, code):
    refused = service.call("POST", "/mcp", INITIALIZE, by=name, headers=ACCEPT)
    assert (refused.status, refused.content["code"]) == (status, code)


def test_older_clients_are_understood_and_nothing_is_kept_between_messages(service):
    greeting = service.call("POST", "/mcp", INITIALIZE, by="robot", headers=ACCEPT)
    assert greeting.content["result"]["serverInfo"]["name"] == "hedgerow"
    message = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "budget", "arguments": {}}}
    left = service.call("POST", "/mcp", message, by="robot", headers=ACCEPT).content["result"]
    assert json.loads(left["content"][0]["text"])["limit"]["epsilon"] == pytest.approx(1)
    for method in ("GET", "DELETE"):
        assert service.call(method, "/mcp", by="robot", headers=ACCEPT).status == 405


def test_a_call_that_the_client_cancels_cancels_its_statement(service, monkeypatch):
    database = service.databases["hospital"]
    reached, cancelled, charge = threading.Event(), threading.Event(), session_of(database).ledger.charge

    def held(*words, **options):
        receipt = charge(*words, **options)
        reached.set()
        cancelled.wait()
        return receipt

    def request(cancellation, of=Cancellation.request):
        of(cancellation)
        cancelled.set()

    monkeypatch.setattr(session_of(database).ledger, "charge", held)
    monkeypatch.setattr(Cancellation, "request", request)

    async def work(client):
        query = client.call_tool("query", {"sql": "SELECT COUNT(*) AS n FROM patients WHERE age < 77", "epsilon": 0.1})
        task = asyncio.create_task(query)
        await asyncio.to_thread(reached.wait)
        task.cancel()
        await asyncio.wait([task])
        await asyncio.to_thread(cancelled.wait)

    spoken(service, work)
    service.run(service.gateway.admission._queue.idle())
    assert service.call("GET", "/v1/datasets/hospital/history", by="robot").content["history"][-1]["status"] == "failed"
