"""Batches over a service: one statement, one charge, one request for approval."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.internals import session_of

import hedgerow as hr
from hedgerow.service.statement_queue import ServiceLimits

QUERIES = {
    "regions": "SELECT region, COUNT(*) AS n FROM patients GROUP BY region",
    "all": "SELECT COUNT(*) AS n FROM patients",
}
REPORT = """-- title: The hospital
-- name: regions
-- within abs:300
-- title: Regions
SELECT region, COUNT(*) AS n FROM patients GROUP BY region;
-- name: all
-- weight 2
SELECT COUNT(*) AS n FROM patients;
"""
BATCH, QUOTE = "/v1/datasets/hospital/batch", "/v1/datasets/hospital/quote-batch"


@pytest.fixture(scope="module")
def running(open_service):
    events = []
    limits = ServiceLimits(approval_epsilon={"hospital": 1.0})
    with open_service(limits=limits) as service:
        service.events, service.gateway.admission._observe = events, events.append
        yield service


def body(**fields):
    return {"queries": QUERIES, "options": {"epsilon": 0.5}, **fields}


def test_a_batch_is_one_charge_and_free_when_it_is_asked_again(running):
    quoted = running.call("POST", QUOTE, body()).content
    first = running.call("POST", BATCH, body()).content
    again = running.call("POST", BATCH, body()).content
    assert quoted["charge"]["epsilon"] == first["charge"]["epsilon"] == 0.5
    assert quoted["fits"]
    assert list(first["answers"]) == list(QUERIES)
    assert first["savings"]["epsilon"] > 0
    assert again["reused"]
    assert [answer["rows"] for answer in again["answers"].values()] == [
        answer["rows"] for answer in first["answers"].values()
    ]
    [entry] = running.call("GET", "/v1/datasets/hospital/history").content["history"]
    assert all(sql in entry["question"] for sql in QUERIES.values())


def test_the_client_gets_what_a_database_returns(running):
    ours = running.databases["hospital"].as_analyst("ada")
    with running.connect() as remote:
        for queries, options in (
            (QUERIES, {"epsilon": 0.5}),
            (hr.Report.parse(REPORT), {"epsilon": 0.9}),
            (hr.Report(hr.Report.parse(REPORT).queries), {"epsilon": 0.9, "weights": {"all": 3.0}}),
        ):
            remote.batch(queries, **options)
            theirs, own = remote.batch(queries, **options), ours.batch(queries, **options)
            assert theirs.receipt == own.receipt
            assert [list(answer) for answer in theirs] == [list(answer) for answer in own]
            assert [answer.intervals for answer in theirs] == [answer.intervals for answer in own]
            assert repr(theirs) == repr(own)
            assert remote.quote_batch(queries, **options) == ours.quote_batch(queries, **options)
            assert str(remote.quote_batch(queries, **options)) == str(ours.quote_batch(queries, **options))


def test_tables_that_cannot_add_up_are_refused_over_http_and_by_the_client(running):
    laplace = body(options={"epsilon": 0.5, "mechanism": "laplace"}, add_up=True)
    assert {running.call("POST", path, laplace).content["code"] for path in (QUOTE, BATCH)} == {"cannot-add-up"}
    with running.connect() as remote:
        for ask in (remote.quote_batch, remote.batch):
            with pytest.raises(hr.ParameterError, match="cannot be made to add up"):
                ask(QUERIES, epsilon=0.5, mechanism="laplace", add_up=True)


def test_a_dear_batch_becomes_one_request_and_is_answered_once(running):
    dear = body(options={"epsilon": 2})
    refused = running.call("POST", BATCH, dear)
    assert (refused.status, refused.content["code"], refused.content["charged"]) == (403, "approval-needed", False)
    address = refused.content["request"]
    assert running.call("POST", BATCH, dear).content["request"] == address
    pending = running.call("GET", address).content
    assert all(sql in pending["sql"] for sql in QUERIES.values())
    assert pending["quote"]["charge"]["epsilon"] == 2
    assert running.call("POST", BATCH, body(options={"epsilon": 2}, minimise="worst")).content["request"] != address
    running.call("POST", f"{address}/grant", by="olive")
    assert running.call("POST", BATCH, dear, by="bob").status == 403
    assert running.call("POST", BATCH, dear).content["charge"]["epsilon"] == 2
    assert running.call("GET", address).content["state"] == "used"


def test_caps_and_roles_hold_for_batches(running):
    robot = body(options={"epsilon": 0.9, "reuse": False})
    statuses = [running.call("POST", BATCH, robot, by="robot").status for _ in range(12)]
    assert statuses[0] == 200
    assert statuses[-1] == 402
    assert running.call("POST", BATCH, body(), by="audrey").status == 403
    assert running.call("POST", QUOTE, body(), by="audrey").status == 403


def test_a_batch_that_is_cancelled_before_it_arrives_is_refused(running):
    running.call("DELETE", "/v1/statements/early")
    refused = running.call("POST", BATCH, body(statement_id="early"))
    assert (refused.status, refused.content["code"]) == (409, "cancelled")


def test_a_running_batch_is_cancelled_and_its_charge_stays(running, monkeypatch):
    ledger = session_of(running.databases["hospital"]).ledger
    reached, release, charge = threading.Event(), threading.Event(), ledger.charge

    def charging(*words, **options):
        receipt = charge(*words, **options)
        reached.set()
        release.wait()
        return receipt

    monkeypatch.setattr(ledger, "charge", charging)
    with running.connect() as remote, ThreadPoolExecutor(1) as thread:
        future = thread.submit(remote.batch, QUERIES, epsilon=0.125, reuse=False)
        assert reached.wait(60)
        remote.cancel()
        release.set()
        with pytest.raises(hr.BackendError) as cancelled:
            future.result()
        assert cancelled.value.code == "cancelled"
        assert (remote.budget.history[-1].status, remote.budget.history[-1].charge["epsilon"]) == ("failed", 0.125)


@pytest.mark.parametrize("wrong", [{"queries": None}, {"report": "SELECT 1;"}, {"minimise": "x" * 30}, {"colour": 1}])
def test_a_body_that_is_no_batch_is_refused(running, wrong):
    assert running.call("POST", BATCH, body(**wrong)).status in {400, 422}


def test_a_refusal_names_the_query(running):
    refused = running.call("POST", BATCH, body(report="-- name: wrong\nSELECT AVG(agee) FROM patients;", queries=None))
    assert (refused.status, refused.content["code"]) == (422, "unknown-column")
    assert "wrong (line 2)" in refused.content["detail"]


def test_events_have_the_price_and_no_values(running):
    running.call("POST", BATCH, body(options={"epsilon": 0.25, "reuse": False}))
    event = running.events[-1]
    assert (event.kind, event.outcome, event.epsilon, event.reused) == ("batch", "ok", 0.25, False)
    assert set(event.__slots__) == {
        "interface",
        "dataset",
        "analyst",
        "kind",
        "outcome",
        "seconds",
        "epsilon",
        "reused",
    }
