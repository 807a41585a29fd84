"""The Python client: the face of a `Database`, and the same objects."""

import asyncio
import inspect
import math
import threading
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from tests.internals import session_of

import hedgerow as hr
from hedgerow.demo import REFUSED, STORY
from hedgerow.errors import AccessError
from hedgerow.session.remote import RemoteDatabase

UNKNOWN = "x" * 40
COUNT = "SELECT COUNT(*) AS n FROM patients"
DATES = """
SELECT MAKE_DATE(EXTRACT(YEAR FROM admitted)::INTEGER, 1, 1) AS first_day, COUNT(*) AS visits, SUM(cost) AS cost
FROM visits WHERE admitted >= :first AND cost < :dear GROUP BY 1"""
PARAMS = {"first": date(2020, 1, 31), "dear": Decimal("5000.50")}


@pytest.fixture(scope="module")
def remote(service):
    with service.connect() as database:
        yield database


@pytest.fixture(scope="module")
def local(service):
    return service.databases["hospital"].as_analyst("ada")


def assert_same_answer(theirs, ours):
    assert theirs._table.equals(ours._table, check_metadata=True)
    for name in ("columns", "confidence", "receipt", "notes", "intervals", "noisy"):
        assert getattr(theirs, name) == getattr(ours, name)
    assert list(theirs) == list(ours)
    assert [[type(value) for value in row] for row in theirs] == [[type(value) for value in row] for row in ours]
    assert repr(theirs) == repr(ours)
    assert theirs._repr_html_() == ours._repr_html_()
    assert theirs.df(intervals=True).equals(ours.df(intervals=True))


@pytest.mark.parametrize("chapter", STORY, ids=lambda chapter: chapter.title)
def test_every_question_of_the_story_has_the_same_answer_quote_and_explanation(remote, local, chapter):
    options = {} if chapter.epsilon is None else {"epsilon": chapter.epsilon}
    remote.sql(chapter.query, **options)
    assert_same_answer(remote.sql(chapter.query, **options), local.sql(chapter.query, **options))
    for method in ("quote", "explain", "describe"):
        ours, theirs = (getattr(database, method)(chapter.query, **options) for database in (local, remote))
        assert theirs == ours
        assert str(theirs) == str(ours)
        assert theirs._repr_html_() == ours._repr_html_()


def test_dates_and_decimals_come_and_go_with_their_types(remote, local):
    answer = remote.sql(DATES, params=PARAMS, epsilon=2)
    assert type(answer["first_day"][0]) is date
    assert_same_answer(remote.sql(DATES, params=PARAMS, epsilon=2), local.sql(DATES, params=PARAMS, epsilon=2))
    assert remote.describe(DATES, PARAMS) == local.describe(DATES, PARAMS)
    assert local.budget.history[-1].params == {"first": "2020-01-31", "dear": "5000.50"}


def test_a_price_for_an_error_is_the_same(remote, local):
    options = {"within": ("abs", 50), "epsilon": 3}
    ours, theirs = (database.quote(COUNT, **options) for database in (local, remote))
    assert theirs == ours
    assert str(theirs) == str(ours)


def test_public_data_is_free_and_exact(remote, local):
    query = "SELECT name, beds FROM wards ORDER BY name"
    assert_same_answer(remote.sql(query), local.sql(query))
    assert remote.quote(query) == local.quote(query)
    assert remote.quote(query).errors_at(1) == {}


def test_a_quote_can_be_priced_anew_and_drawn(remote, local):
    ours, theirs = (database.quote(COUNT, epsilon=0.37) for database in (local, remote))
    assert theirs.errors_at(2.5) == ours.errors_at(2.5)
    assert theirs.plot().to_dict() == ours.plot().to_dict()
    with pytest.raises(hr.ParameterError, match="epsilon"):
        theirs.errors_at(-1)


def test_budget_history_and_tables_are_the_same(remote, local):
    remote.sql(COUNT)
    ours, theirs = local.budget, remote.budget
    assert theirs == ours
    assert theirs.history == ours.history
    assert theirs.questions_left == ours.questions_left
    assert (theirs.caps, theirs.number_left) == (ours.caps, ours.number_left)
    assert str(theirs) == str(ours)
    assert repr(theirs) == repr(ours)
    assert theirs._repr_html_() == ours._repr_html_()
    assert remote.tables == local.tables
    assert type(remote.tables) is type(local.tables)
    assert str(remote.tables) == str(local.tables)
    assert remote._repr_html_() == local._repr_html_()
    assert (remote.dataset, remote.analyst, remote.dialect) == (local.dataset, local.analyst, local.dialect)


def test_a_forecast_is_the_same(remote, local):
    queries = [COUNT, "SELECT AVG(age) AS a FROM patients"]
    assert remote.forecast(queries, epsilon=0.3) == local.forecast(queries, epsilon=0.3)


REFUSALS = [
    (REFUSED, {}),
    ("SELECT agee FROM patients", {}),
    ("SELECT (", {}),
    (COUNT, {"epsilon": -1}),
    (COUNT, {"epsilons": 1}),
    (COUNT, {"epsilon": 900}),
    (COUNT, {"min_frequency": 2}),
    ("SELECT COUNT(*) AS n FROM patients WHERE age > :age", {}),
    (COUNT, {"within": "zero"}),
]


@pytest.mark.parametrize(("query", "options"), REFUSALS, ids=[str(number) for number in range(len(REFUSALS))])
def test_a_refusal_is_the_same_error(remote, local, query, options):
    with pytest.raises(hr.HedgerowError) as ours:
        local.sql(query, **options)
    with pytest.raises(hr.HedgerowError) as theirs:
        remote.sql(query, **options)
    assert type(theirs.value) is type(ours.value)
    assert theirs.value.to_dict() == ours.value.to_dict()
    assert str(theirs.value) == str(ours.value)
    assert theirs.value._repr_html_() == ours.value._repr_html_()
    assert theirs.value.text == ours.value.text
    for name in ("asked", "left", "condition", "incident"):
        assert getattr(theirs.value, name, None) == getattr(ours.value, name, None)


@pytest.mark.parametrize("value", [b"1", object(), math.inf, [1]])
def test_a_parameter_that_json_cannot_hold_is_refused_before_it_is_sent(remote, value):
    with pytest.raises(hr.ParameterError) as refused:
        remote.sql("SELECT COUNT(*) AS n FROM patients WHERE age > ?", params=[value])
    assert refused.value.code == "bad-parameter"


def test_every_public_part_of_a_database_is_the_clients_own():
    inherited = {"submit"}  # it runs `sql` in a thread, wherever that asks
    public = {name for name, _ in inspect.getmembers(hr.Database) if not name.startswith("_")}
    assert public - set(vars(RemoteDatabase)) == inherited


REFUSED_REMOTELY = {"plan", "publish", "as_analyst", "calibrate"}


def test_every_method_takes_the_same_arguments():
    def arguments(owner, name):
        return [
            (one.name, one.kind, one.default) for one in inspect.signature(getattr(owner, name)).parameters.values()
        ]

    methods = [name for name, _ in inspect.getmembers(hr.Database, inspect.isfunction) if not name.startswith("_")]
    for name in methods:
        if name not in REFUSED_REMOTELY:
            assert arguments(RemoteDatabase, name) == arguments(hr.Database, name), name


def test_the_page_names_what_only_the_owners_machine_does():
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "use-the-http-api.md").read_text()
    assert all(f"`db.{name}`" in page for name in REFUSED_REMOTELY)


def test_what_needs_the_owners_machine_says_so(remote):
    with pytest.raises(hr.PolicyError) as refused:
        remote.as_analyst("bob")
    assert refused.value.code == "remote-analyst"
    with pytest.raises(hr.PolicyError) as refused:
        remote.calibrate("patients")
    assert refused.value.code == "remote-calibrate"
    for ask in (
        lambda: remote.plan("year.toml"),
        lambda: remote.publish([COUNT], "x"),
    ):
        with pytest.raises(hr.HedgerowError) as refused:
            ask()
        assert refused.value.hint
    with pytest.raises(hr.ConditionNotMet, match="where the database is"):
        remote.sql(COUNT).diagnostics()


def held(monkeypatch, database):
    """Hold the next charge until its statement is cancelled: events for both."""
    reached, release = threading.Event(), threading.Event()
    charge = session_of(database).ledger.charge

    def charging(*words, **options):
        receipt = charge(*words, **options)
        reached.set()
        release.wait()
        return receipt

    monkeypatch.setattr(session_of(database).ledger, "charge", charging)
    return reached, release


def test_a_job_is_cancelled_by_itself_and_its_charge_stays(remote, service, monkeypatch):
    reached, release = held(monkeypatch, service.databases["hospital"])
    job = remote.submit("SELECT COUNT(*) AS n FROM patients WHERE age < 31")
    reached.wait()
    stop = remote._transport.call

    def stopped(method, *words, **options):
        try:
            return stop(method, *words, **options)
        finally:
            release.set()

    monkeypatch.setattr(remote._transport, "call", stopped)
    job.cancel()
    with pytest.raises(hr.BackendError) as cancelled:
        job.result()
    assert cancelled.value.code == "cancelled"
    assert cancelled.value.receipt.id.endswith(f"-{remote.budget.history[-1].sequence}")
    assert "stays charged" in str(cancelled.value)
    assert remote.budget.history[-1].status == "failed"


def test_cancel_stops_the_statements_of_one_client(remote, service, monkeypatch):
    reached, release = held(monkeypatch, service.databases["hospital"])
    job = remote.submit("SELECT COUNT(*) AS n FROM patients WHERE age < 32")
    reached.wait()
    with service.connect("bob") as other:
        other.cancel()
    assert not job.done()
    remote.cancel()
    release.set()
    with pytest.raises(hr.BackendError) as cancelled:
        job.result()
    assert cancelled.value.code == "cancelled"


def test_a_statement_that_is_cancelled_before_it_arrives_is_refused(service):
    service.call("DELETE", "/v1/statements/early")
    refused = service.ask(COUNT, statement_id="early")
    assert (refused.status, refused.content["code"]) == (409, "cancelled")
    assert service.ask(COUNT, statement_id="early").status == 200


def test_asyncio_has_the_same_client(service):
    async def run():
        address = f"{service.url}/hospital"
        async with hr.aconnect(address, token=service.tokens["ada"]) as db:
            answers = await asyncio.gather(*(db.sql(COUNT) for _ in range(4)))
            return [list(answer) for answer in answers], await db.quote(COUNT), await db.budget(), db.tables

    answers, quote, budget, tables = asyncio.run(run())
    assert answers.count(answers[0]) == 4
    assert quote.reused
    assert budget.queries > 0
    assert tables["patients"]["age"].upper == 105


def test_many_threads_share_one_client(remote):
    expected, answers = list(remote.sql(COUNT)), []
    threads = [threading.Thread(target=lambda: answers.append(list(remote.sql(COUNT)))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [expected] * 6
    assert 1 <= len(remote._transport._idle) <= 8


def test_a_connection_that_the_service_closed_is_replaced(remote):
    remote.sql(COUNT)
    for connection in remote._transport._idle:
        connection.sock.shutdown(2)
    assert list(remote.sql(COUNT))


def test_the_token_comes_from_the_environment_and_is_never_shown(service, monkeypatch):
    monkeypatch.setenv("HEDGEROW_TOKEN", service.tokens["bob"])
    with hr.connect(f"{service.url}/hospital") as db:
        assert db.analyst == "bob"
        assert service.tokens["bob"] not in repr(db) + db._repr_html_() + repr(vars(db))
    monkeypatch.delenv("HEDGEROW_TOKEN")
    with pytest.raises(hr.ParameterError) as refused:
        hr.connect(f"{service.url}/hospital")
    assert refused.value.code == "no-token"


def test_the_only_dataset_needs_no_name(service):
    with hr.connect(service.url, token=service.tokens["ada"]) as db:
        assert db.dataset == "hospital"
    with pytest.raises(hr.ParameterError) as refused:
        hr.connect(service.url, token=service.tokens["eve"])
    assert refused.value.code == "which-dataset"


def test_a_project_file_may_name_a_service(service, tmp_path, monkeypatch):
    (tmp_path / "hedgerow.toml").write_text(f'[project]\ndatabase = "{service.url}/hospital"\n')
    monkeypatch.chdir(tmp_path)
    with hr.connect(token=service.tokens["ada"]) as db:
        assert db.dataset == "hospital"


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("http://example.org/hospital", "bad-address"),
        ("https://ada:secret@localhost/hospital", "bad-address"),
        ("https:///hospital", "bad-address"),
        ("https://localhost:99999/hospital", "bad-address"),
        ("https://localhost/hospital?x=1", "bad-address"),
        ("http://127.0.0.1:1/hospital", "service-unreachable"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused(address, code):
    with pytest.raises(hr.HedgerowError) as refused:
        hr.connect(address, token=UNKNOWN)
    assert refused.value.code == code
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("token", ["a b", "a\r\nX-Evil: 1", "ä", "\x00"])
def test_a_token_cannot_hold_another_header(service, token):
    with pytest.raises(hr.ParameterError) as refused:
        hr.connect(f"{service.url}/hospital", token=token)
    assert refused.value.code == "bad-token"


@pytest.mark.parametrize("option", [{"catalog": "x.yaml"}, {"ledger": "x.ledger"}, {"analyst": "bob"}])
def test_what_a_service_decides_cannot_be_passed(service, option):
    with pytest.raises(hr.ParameterError) as refused:
        service.connect(**option)
    assert refused.value.code == "remote-option"


def test_tokens_are_for_services(tmp_path):
    with pytest.raises(hr.ParameterError) as refused:
        hr.connect(tmp_path / "x.duckdb", catalog=tmp_path / "x.yaml", token=UNKNOWN)
    assert refused.value.code == "remote-option"


def test_a_wrong_token_and_an_unknown_dataset_are_refused_alike(service):
    with pytest.raises(AccessError) as refused:
        hr.connect(f"{service.url}/hospital", token=UNKNOWN)
    assert refused.value.code == "login-refused"
    for name in ("ada", "eve"):
        with pytest.raises(AccessError) as refused:
            service.connect(name, "nowhere")
        assert refused.value.code == "no-such-dataset"


def test_a_closed_client_says_so(service):
    db = service.connect()
    db.close()
    with pytest.raises(hr.BackendError) as refused:
        db.sql(COUNT)
    assert refused.value.code == "closed"


def test_numbers_that_json_does_not_have_survive(remote, local):
    query = "SELECT SUM(age) / (COUNT(*) - COUNT(*)) AS x FROM patients"
    remote.sql(query, epsilon=0.2)
    ours, theirs = local.sql(query, epsilon=0.2), remote.sql(query, epsilon=0.2)
    assert_same_answer(theirs, ours)
    assert any(math.isinf(bar.upper) for row in theirs.intervals for bar in row.values())
