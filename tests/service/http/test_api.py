"""The HTTP API as any client sees it: routes, formats, problem details, roles, approvals."""

import io
import json
import socket
import threading

import jsonschema
import openapi_spec_validator
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from tests.internals import session_of

from hedgerow.cancellation import Cancellation
from hedgerow.service.access.model import Role
from hedgerow.service.http.authentication import ROLES
from hedgerow.service.statement_queue import ServiceLimits

COUNT = "SELECT COUNT(*) AS n FROM patients"
BY_REGION = "SELECT region, COUNT(*) AS n, AVG(age) AS age FROM patients GROUP BY region ORDER BY region"
DATASET = "/v1/datasets/hospital"
NAMES = {Role.OWNER: "olive", Role.ANALYST: "ada", Role.AUDITOR: "audrey"}


def test_somebody_learns_who_they_are_and_what_they_may_use(service):
    assert service.call("GET", "/v1/me", by="bob").content == {
        "name": "bob",
        "role": "analyst",
        "datasets": ["hospital"],
    }
    listed = service.call("GET", "/v1/datasets").content["datasets"]
    assert listed == [{"name": "hospital", "analyst": "ada", "dialect": "duckdb"}]
    assert service.call("GET", "/v1/datasets", by="eve").content == {"datasets": []}


def test_tables_have_what_the_owner_declares(service):
    patients = service.call("GET", f"{DATASET}/tables").content["tables"][0]
    assert patients["name"] == "patients"
    assert next(column for column in patients["columns"] if column["name"] == "age")["upper"] == 105


def test_an_answer_has_rows_intervals_and_its_price_and_is_free_again(service):
    first = service.ask(BY_REGION, options={"epsilon": 1.5}).content
    again = service.ask(BY_REGION, options={"epsilon": 1.5})
    assert first["columns"] == ["region", "n", "age"]
    assert first["noisy"] == ["n", "age"]
    assert [row[0] for row in first["rows"]] == sorted(row[0] for row in first["rows"])
    assert all(set(bars) == {"n", "age"} and bars["n"]["kind"] for bars in first["intervals"])
    assert first["intervals"][0]["n"]["lower"] <= first["rows"][0][1] <= first["intervals"][0]["n"]["upper"]
    assert first["charge"]["epsilon"] == 1.5
    assert again.content["rows"] == first["rows"]
    assert again.content["reused"]
    assert again.headers["Hedgerow-Reused"] == "true"


def test_common_options_may_stand_beside_the_question_and_are_stated_once(service):
    within = service.ask(COUNT, route="quote", within=["abs", 200], epsilon=2, confidence=0.9, delta=1e-9).content
    assert (
        within
        == service.ask(
            COUNT, route="quote", options={"within": ["abs", 200], "epsilon": 2, "confidence": 0.9, "delta": 1e-9}
        ).content
    )
    assert within["confidence"] == 0.9
    twice = service.ask(COUNT, route="quote", epsilon=2, options={"epsilon": 1})
    assert (twice.status, twice.content["code"]) == (400, "bad-request")


READERS = {
    "text/csv": lambda content: pa.csv.read_csv(io.BytesIO(content)),
    "application/vnd.apache.arrow.stream": lambda content: pa.ipc.open_stream(content).read_all(),
    "application/vnd.apache.parquet": lambda content: pa.parquet.read_table(io.BytesIO(content)),
}


@pytest.mark.parametrize("kind", READERS)
def test_an_answer_comes_in_the_format_that_the_client_accepts(service, kind):
    rows = service.ask(BY_REGION).content["rows"]
    response = service.ask(BY_REGION, headers={"Accept": f"application/pdf, {kind};q=0.9, application/json;q=0.1"})
    assert response.headers["Content-Type"].startswith(kind)
    table = READERS[kind](response.content)
    assert table.column("n").to_pylist() == [row[1] for row in rows]
    assert {"n_lower", "n_upper", "age_note"} <= set(table.column_names)
    bare = service.call("POST", f"{DATASET}/query?intervals=false", {"sql": BY_REGION}, headers={"Accept": kind})
    assert READERS[kind](bare.content).column_names == ["region", "n", "age"]


def test_an_unknown_format_is_refused_before_anything_is_paid(service):
    before = service.call("GET", f"{DATASET}/budget").content["queries"]
    refused = service.ask("SELECT COUNT(*) AS n FROM patients WHERE age < 9", headers={"Accept": "image/png"})
    assert (refused.status, refused.content["code"]) == (406, "not-acceptable")
    assert service.call("GET", f"{DATASET}/budget").content["queries"] == before


def test_prices_columns_and_plans_are_free(service):
    before = service.call("GET", f"{DATASET}/budget").content["spent"]
    quote = service.ask(COUNT, route="quote", options={"epsilon": 0.7}).content
    assert quote["charge"]["epsilon"] == 0.7
    assert quote["errors"]["n"]["100"] > 0
    at = service.ask(COUNT, route="quote", errors_at=0.7).content["errors_at"]
    assert at["n"]["100"] == pytest.approx(quote["errors"]["n"]["100"])
    described = service.ask(
        "SELECT COUNT(*) AS n FROM patients WHERE age > :age", route="describe", params={"age": 3}
    ).content
    assert described == {
        "columns": [{"name": "n", "type": "integer", "noisy": True}],
        "parameters": [{"name": "age", "type": "integer"}],
    }
    explained = service.ask(COUNT, route="explain").content
    assert "COUNT(*)" in explained["plan"]
    assert explained["quote"]["charge"]
    public = {"queries": ["SELECT name FROM wards"]}
    assert service.call("POST", f"{DATASET}/forecast", public).content["queries"][0]["epsilon"] == 0
    assert service.call("GET", f"{DATASET}/budget").content["spent"] == before


def test_parameters_have_types(service):
    query = "SELECT COUNT(*) AS n FROM visits WHERE admitted >= ? AND cost < ? AND nights < ?"
    params = [{"date": "2020-01-31"}, {"decimal": "99.5"}, 3]
    assert service.ask(query, params=params).status == 200
    for value in (
        {"date": "tomorrow"},
        {"decimal": "1,5"},
        {"money": "3"},
        [1],
        {"date": "2020-01-01", "time": "1:00"},
    ):
        refused = service.ask(query, params=[value, 1, 1])
        assert (refused.status, refused.content["code"]) == (422, "bad-parameter")


def test_a_refusal_is_a_problem_with_code_hint_and_span(service):
    refused = service.ask("SELECT agee FROM patients")
    assert refused.status == 422
    assert refused.headers["Content-Type"] == "application/problem+json"
    problem = refused.content
    assert problem["type"] == "urn:hedgerow:error:unknown-column"
    assert problem["span"] == {"start": 7, "end": 11, "line": 1}
    assert problem["hint"]
    assert "^^^^" in problem["detail"]
    assert problem["charged"] is False


@pytest.mark.parametrize(
    ("options", "status", "code"),
    [
        ({"epsilon": 900}, 402, "budget-analyst"),
        ({"min_frequency": 2}, 403, "looser-min-frequency"),
        ({"epsilon": "x"}, 422, "bad-epsilon"),
        ({"interface": "wire"}, 422, "unknown-option"),
        ({"timeout": 5}, 422, "unknown-option"),
    ],
)
def test_errors_have_their_status(service, options, status, code):
    refused = service.ask("SELECT COUNT(*) AS n FROM patients WHERE age < 8", options=options)
    assert (refused.status, refused.content["code"]) == (status, code)


def test_budget_and_history_are_ones_own_and_everybodys_for_owner_and_auditor(service):
    service.ask("SELECT COUNT(*) AS n FROM patients WHERE age < 7", by="bob")
    service.ask("SELECT COUNT(*) AS n FROM patients WHERE age < 6", by="ada")
    own = service.call("GET", f"{DATASET}/history", by="bob").content["history"]
    assert {entry["analyst"] for entry in own} == {"bob"}
    assert set(service.call("GET", f"{DATASET}/budget", by="bob").content["analysts"]) <= {"bob"}
    for name in ("olive", "audrey"):
        everybody = service.call("GET", f"{DATASET}/history", by=name).content["history"]
        assert {"ada", "bob"} <= {entry["analyst"] for entry in everybody}
        assert {"ada", "bob"} <= set(service.call("GET", f"{DATASET}/budget", by=name).content["analysts"])


def test_owner_and_auditor_verify_and_export_the_ledger(service):
    service.ask(COUNT)
    for name in ("olive", "audrey"):
        verified = service.call("GET", f"{DATASET}/verify", by=name).content
        export = service.call("GET", f"{DATASET}/export", by=name)
        lines = [json.loads(line) for line in export.content.decode().splitlines()]
        assert len(lines) == verified["entries"]
        assert lines[-1]["hash"] == verified["tip"]


def fill(path):
    return path.format(dataset="hospital", statement="none", request_id="none", name="nobody")


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("route", ROLES, ids=" ".join)
def test_every_route_is_open_to_its_roles_and_closed_to_the_others(service, route, role):
    method, path = route
    if path == "/metrics":
        return  # has tests of its own
    body = {} if method == "POST" and not path.endswith(("grant", "deny", "rotate")) else None
    response = service.call(method, fill(path), body, by=NAMES[role])
    forbidden = response.status == 403 and response.content["code"] == "not-allowed"
    assert forbidden == (role not in ROLES[route])


@pytest.mark.parametrize("route", ROLES, ids=" ".join)
def test_no_route_is_open_without_a_token_or_with_a_wrong_one(service, route):
    method, path = route
    if path == "/metrics":
        return
    for token, headers in ((None, {}), ("wrong", {}), (None, {"Authorization": "Basic b2xpdmU6eA=="})):
        response = service.call(method, fill(path), by=None, token=token, headers=headers)
        assert (response.status, response.content["code"]) == (401, "login-refused")
        assert response.headers["WWW-Authenticate"].startswith("Bearer")


def test_every_route_of_the_documentation_is_in_the_table_of_roles(service):
    paths = service.call("GET", "/openapi.json", by=None).content["paths"]
    served = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    assert served - set(ROLES) == {("GET", "/health"), ("GET", "/ready")}
    assert set(ROLES) - served == {("POST", "/mcp")}
    for methods in paths.values():
        for facts in methods.values():
            assert facts["tags"]
            assert facts.get("description") or facts["summary"]


def test_the_openapi_document_is_valid_and_says_how_to_send_the_token(service):
    document = service.call("GET", "/openapi.json", by=None).content
    openapi_spec_validator.validate(document)
    assert document["components"]["securitySchemes"]["token"] == {
        "type": "http",
        "scheme": "bearer",
        "description": "A token of the service or of its provider.",
    }
    for path, methods in document["paths"].items():
        for facts in methods.values():
            assert facts.get("security", []) == ([{"token": []}] if path.startswith("/v1/") else [])
            if path.startswith("/v1/"):
                assert "application/problem+json" in facts["responses"]["default"]["content"]


def test_every_error_has_the_fields_of_the_documented_problem(service):
    document = service.call("GET", "/openapi.json", by=None).content
    schema = document["components"]["schemas"]["Problem"]
    for problem in (
        service.ask("SELECT agee FROM patients"),
        service.call("GET", "/nothing"),
        service.ask("", by=None),
    ):
        jsonschema.validate(problem.content, {**schema, "additionalProperties": False})


def test_the_page_of_the_api_loads_nothing_and_lists_every_route(service):
    page = service.call("GET", "/docs", by=None)
    text = page.content.decode()
    assert page.status == 200
    assert all(path in text for _, path in ROLES if path != "/mcp")
    assert "<script" not in text
    assert "http" not in text.replace("/http", "").replace("https://", "")


def test_an_owner_adds_rotates_and_removes_accounts(service):
    added = service.call("POST", "/v1/analysts", {"name": "carol", "datasets": ["hospital"]}, by="olive")
    assert added.status == 201
    assert service.call("GET", "/v1/me", token=added.content["token"]).content["name"] == "carol"
    again = service.call("POST", "/v1/analysts", {"name": "carol"}, by="olive")
    assert (again.status, again.content["code"]) == (409, "account-exists")
    listed = service.call("GET", "/v1/analysts", by="olive").content["analysts"]
    assert next(one for one in listed if one["name"] == "carol")["datasets"] == ["hospital"]
    assert "token" not in json.dumps(listed)
    rotated = service.call("POST", "/v1/analysts/carol/rotate", by="olive").content["token"]
    assert service.call("GET", "/v1/me", token=added.content["token"]).status == 401
    assert service.call("GET", "/v1/me", token=rotated).status == 200
    assert service.call("DELETE", "/v1/analysts/carol", by="olive").status == 204
    assert service.call("GET", "/v1/me", token=rotated).status == 401
    assert service.call("DELETE", "/v1/analysts/carol", by="olive").status == 404


def test_an_owner_of_some_datasets_grants_nothing_beyond_them(service):
    for datasets in (None, ["hospital"], ["elsewhere", "hospital"]):
        body = {"name": "mallory", "role": "owner", "datasets": datasets}
        refused = service.call("POST", "/v1/analysts", body, by="oscar")
        assert (refused.status, refused.content["code"]) == (403, "not-allowed")
    for method, path in (("POST", "/v1/analysts/olive/rotate"), ("DELETE", "/v1/analysts/ada")):
        refused = service.call(method, path, by="oscar")
        assert (refused.status, refused.content["code"]) == (404, "no-such-account")
    listed = {one["name"] for one in service.call("GET", "/v1/analysts", by="oscar").content["analysts"]}
    assert listed == {"eve", "oscar"}


@pytest.fixture(scope="module")
def approving(open_service):
    with open_service(limits=ServiceLimits(approval_epsilon={"hospital": 1.0})) as running:
        yield running


def test_a_dear_question_waits_for_an_owner_and_is_then_answered_once(approving):
    dear = {"options": {"epsilon": 2, "reuse": False}}
    assert approving.ask(COUNT, options={"epsilon": 1}).status == 200
    refused = approving.ask(COUNT, **dear)
    assert (refused.status, refused.content["code"]) == (403, "approval-needed")
    address = refused.content["request"]
    assert approving.ask(COUNT, **dear).content["request"] == address
    pending = approving.call("GET", address).content
    assert (pending["state"], pending["sql"], pending["analyst"]) == ("pending", COUNT, "ada")
    assert pending["quote"]["charge"]["epsilon"] == 2
    assert approving.call("GET", address, by="bob").status == 404
    assert approving.call("GET", address, by="oscar").status == 404
    assert approving.call("POST", f"{address}/grant", by="oscar").status == 404
    assert approving.call("GET", "/v1/requests", by="bob").content == {"requests": []}
    assert approving.call("GET", "/v1/requests?state=pending", by="olive").content["requests"] == [pending]
    assert approving.call("POST", f"{address}/grant").status == 403
    granted = approving.call("POST", f"{address}/grant", by="olive").content
    assert (granted["state"], granted["decided_by"]) == ("granted", "olive")
    late = approving.call("POST", f"{address}/deny", by="olive")
    assert (late.status, late.content["code"]) == (409, "request-decided")
    assert approving.ask(COUNT, **dear, by="bob").status == 403
    assert approving.ask(COUNT, **dear).status == 200
    assert approving.call("GET", address).content["state"] == "used"
    assert approving.ask(COUNT, **dear).status == 403


def test_a_granted_question_that_is_not_charged_stays_granted(approving):
    dear = {"options": {"epsilon": 9}, "by": "robot"}
    query = "SELECT COUNT(*) AS n FROM patients WHERE age < 33"
    address = approving.ask(query, **dear).content["request"]
    assert approving.call("POST", f"{address}/grant", by="olive").status == 200
    refused = approving.ask(query, **dear)
    assert (refused.status, refused.content["code"], refused.content["charged"]) == (402, "budget-analyst", False)
    assert approving.call("GET", address, by="robot").content["state"] == "granted"


def test_an_analyst_cannot_fill_the_owners_list(approving, monkeypatch):
    waiting = len(approving.call("GET", "/v1/requests?state=pending").content["requests"])
    monkeypatch.setattr("hedgerow.service.approvals.MAXIMUM_PENDING", waiting + 1)
    queries = [f"SELECT COUNT(*) AS n FROM patients WHERE age < {age}" for age in (51, 52)]
    statuses = [approving.ask(query, options={"epsilon": 2}).status for query in queries]
    assert statuses == [403, 429]
    assert approving.ask(queries[0], options={"epsilon": 2}).status == 403  # it waits already


def test_a_denied_question_stays_unanswered_and_uncharged(approving):
    query, options = "SELECT AVG(age) AS a FROM patients", {"epsilon": 3}
    address = approving.ask(query, options=options).content["request"]
    spent = approving.call("GET", f"{DATASET}/budget").content["spent"]
    assert approving.call("POST", f"{address}/deny", by="olive").content["state"] == "denied"
    assert approving.ask(query, options=options).status == 403
    assert approving.call("GET", f"{DATASET}/budget").content["spent"] == spent


def test_the_client_raises_what_names_the_request(approving):
    with approving.connect() as db, pytest.raises(Exception, match="request") as refused:
        db.sql("SELECT SUM(age) AS a FROM patients", epsilon=4)
    assert type(refused.value).__name__ == "ApprovalError"
    assert approving.call("GET", f"/v1/requests/{refused.value.request_id}").status == 200


def test_a_client_that_goes_away_cancels_its_statement(service, monkeypatch):
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
    monkeypatch.setattr("hedgerow.cancellation.Cancellation.request", request)
    body = json.dumps({"sql": "SELECT COUNT(*) AS n FROM patients WHERE age < 5"}).encode()
    head = (
        f"POST {DATASET}/query HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    )
    with socket.create_connection(("127.0.0.1", service.port)) as client:
        client.sendall(f"{head}Authorization: Bearer {service.tokens['ada']}\r\n\r\n".encode() + body)
        reached.wait()
    cancelled.wait()
    service.run(service.gateway.admission._queue.idle())
    assert service.call("GET", f"{DATASET}/history").content["history"][-1]["status"] == "failed"


def test_a_statement_is_cancelled_by_its_name_by_its_analyst_alone(service, monkeypatch):
    database = service.databases["hospital"]
    reached, release, charge = threading.Event(), threading.Event(), session_of(database).ledger.charge

    def held(*words, **options):
        receipt = charge(*words, **options)
        reached.set()
        release.wait()
        return receipt

    monkeypatch.setattr(session_of(database).ledger, "charge", held)
    responses = []
    sent = {"sql": "SELECT COUNT(*) AS n FROM patients WHERE age < 4", "statement_id": "mine"}
    thread = threading.Thread(target=lambda: responses.append(service.call("POST", f"{DATASET}/query", sent)))
    thread.start()
    reached.wait()
    twice = service.ask(COUNT, statement_id="mine")
    assert twice.content["code"] == "statement-exists"
    assert service.call("DELETE", "/v1/statements/mine", by="bob").content["code"] == "no-such-statement"
    assert service.call("DELETE", "/v1/statements/mine").status == 204
    release.set()
    thread.join()
    assert (responses[0].status, responses[0].content["code"]) == (409, "cancelled")
    assert responses[0].content["charged"]


def test_small_responses_are_sent_at_once(service):
    """Otherwise each of them waits for the client's delayed acknowledgement: forty milliseconds on Linux."""
    with service.connect():
        connections = list(service.listener._server.server_state.connections)
        assert connections
        for connection in connections:
            accepted = connection.transport.get_extra_info("socket")
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
