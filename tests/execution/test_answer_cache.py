"""A free repeat is the answer that a new connection would build from the ledger, in every field."""

import json
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.execution.caches import answer_key
from hedgerow.recently_used import RecentlyUsed

from ..internals import session_of

COUNT = "SELECT COUNT(*) AS n FROM people"
BY_REGION = "SELECT region, AVG(income) AS m, COUNT(*) AS n FROM people GROUP BY region"
BY_WARD = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
SHARES = "SELECT ward, 1.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM visits GROUP BY ward"
FEW = "SELECT COUNT(*) AS n FROM people WHERE income < ?"

QUESTIONS = [
    (COUNT, None, {}),
    (COUNT, None, {"confidence": 0.8}),
    (COUNT, None, {"within": ("abs", 300)}),
    (COUNT, None, {"mechanism": "gaussian"}),
    (BY_REGION, None, {}),
    (BY_REGION, None, {"simultaneous": True}),
    (BY_WARD, None, {}),
    (BY_WARD, None, {"epsilon": 0.5}),
    (SHARES, None, {}),
    (FEW, [500], {}),
    (FEW, [500.0], {}),
    (FEW, [20], {}),
]


def fields(answer):
    """Everything that an answer says."""
    return {
        "rows": list(answer),
        "intervals": answer.intervals,
        "columns": answer.columns,
        "noisy": answer.noisy,
        "confidence": answer.confidence,
        "receipt": answer.receipt,
        "notes": answer.notes,
        "json": answer.to_dict(),
        "arrow": answer.arrow(intervals=True),
        "text": repr(answer),
        "html": answer._repr_html_(),
    }


def built_anew(db, text, params, options):
    session_of(db).answers.clear()
    return db.sql(text, params=params, **options)


def test_a_repeat_is_not_built_again(town):
    db = town()
    db.sql(BY_REGION)
    first, second = db.sql(BY_REGION), db.sql(BY_REGION)
    assert second._table is first._table
    assert fields(second) == fields(first)


@pytest.fixture
def rich_town(town):
    """The town with a large budget, and a cap for one analyst."""
    return town(budget="{epsilon: 20000, delta: 1e-2, analysts: {ann: {epsilon: 10000, delta: 1e-3}}}")


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from(QUESTIONS), st.sampled_from(["ann", "bob", None]), st.booleans()),
        min_size=2,
        max_size=6,
    )
)
def test_whatever_is_asked_in_between_repeats_are_those_of_a_session_that_keeps_nothing(rich_town, questions):
    """All examples share one ledger, as the sessions of a long-lived service do."""
    db = rich_town
    for (text, params, options), analyst, paid in questions:
        session = db if analyst is None else db.as_analyst(analyst)
        if paid:
            session.sql(text, params=params, **options, reuse=False)
        first = session.sql(text, params=params, **options)
        charges = db.budget.queries
        for _ in range(2):
            repeat = session.sql(text, params=params, **options)
            assert repeat.receipt.reused
            assert list(repeat) == list(first)
            assert repeat.receipt.remaining == session.budget.remaining
            assert fields(repeat) == fields(built_anew(session, text, params, options))
        assert db.budget.queries == charges


def test_threads_and_analysts_get_the_digits_that_were_released_first(town):
    db = town()
    first = db.sql(BY_REGION)

    def ask(number):
        return (db if number % 3 else db.as_analyst(f"analyst {number % 2}")).sql(BY_REGION)

    with ThreadPoolExecutor(8) as pool:
        repeats = list(pool.map(ask, range(64)))
    assert all(list(repeat) == list(first) and repeat.intervals == first.intervals for repeat in repeats)
    assert {repeat.receipt.id for repeat in repeats} == {first.receipt.id}
    assert db.budget.queries == 1


def test_the_remaining_budget_is_current_after_a_charge_elsewhere(town):
    db, other = town(), town()
    for _ in range(3):
        repeat = db.sql(COUNT)
    other.sql(BY_REGION)
    later = db.sql(COUNT)
    assert later.receipt.remaining == other.budget.remaining != repeat.receipt.remaining
    assert list(later) == list(repeat)


def test_each_analyst_sees_the_rest_of_the_own_cap(town):
    caps = "{ann: {epsilon: 20, delta: 1e-6}, bob: {epsilon: 10, delta: 1e-6}}"
    db = town(budget=f"{{epsilon: 50, delta: 1e-5, analysts: {caps}}}")
    for _ in range(3):
        left = {name: db.as_analyst(name).sql(COUNT).receipt.remaining for name in ("ann", "bob", "carol")}
    assert left == {name: db.as_analyst(name).budget.remaining for name in left}
    assert len(set(left.values())) == 3


def test_a_text_in_another_dialect_is_another_question(town):
    """In DuckDB double quotes are around a name, in Spark around a text."""
    db = town()
    text = "SELECT COUNT(*) AS n FROM people WHERE \"region\" = 'north'"
    for _ in range(3):
        repeat = db.as_analyst("ann").sql(text)
    other = db.as_analyst("ann", dialect="spark").sql(text)
    assert not other.receipt.reused
    assert other.receipt.id != repeat.receipt.id


@pytest.mark.parametrize("options", [{"reuse": False}, {"epsilon": 1.5}, {"min_frequency": 6}])
def test_other_options_are_charged_after_a_repeat_was_kept(town, options):
    db = town()
    for _ in range(3):
        db.sql(BY_WARD)
    assert not db.sql(BY_WARD, **options).receipt.reused
    assert db.budget.queries == 2


def test_a_repeat_that_another_release_answers_is_noted_once(town):
    db = town()
    db.sql("SELECT ward, COUNT(*) AS n, AVG(cost) AS m FROM visits GROUP BY ward")
    for _ in range(3):
        assert db.sql(BY_WARD).receipt.reused
    kinds = [json.loads(line)["kind"] for line in session_of(db).ledger.export()]
    assert kinds == ["opened", "charged", "answered", "reused"]


def test_an_answer_that_its_reader_changed_changes_no_other(town):
    db = town()
    for _ in range(2):
        expected = fields(db.sql(BY_REGION))
    changed = db.sql(BY_REGION)
    changed.intervals[0].clear()
    changed.intervals.clear()
    changed.columns.clear()
    changed.notes = ()
    assert fields(db.sql(BY_REGION)) == expected


def test_a_repeat_can_be_diagnosed(town):
    db = town()
    reports = [db.sql(BY_WARD).diagnostics(epsilon=1) for _ in range(3)]
    assert [entry.of for entry in reports[2]] == [entry.of for entry in reports[0]]
    assert reports[0].payments
    assert reports[2].clipped == reports[0].clipped


def test_a_public_table_is_read_for_each_repeat(tmp_path):
    """Its rows may change while the connection is open."""
    connection = duckdb.connect(str(tmp_path / "shop.duckdb"))
    connection.execute("CREATE TABLE people AS SELECT range AS id, range % 2 AS kind FROM range(5000)")
    connection.execute("CREATE TABLE kinds AS SELECT 0 AS kind, 'old' AS name UNION ALL SELECT 1, 'older'")
    catalog = tmp_path / "shop.yaml"
    catalog.write_text(
        "dataset: shop\nbudget: {epsilon: 10, delta: 1e-5}\ndefaults: {epsilon: 1, delta: 1e-7}\ntables:\n"
        "  people: {unit: id, max_rows: 1, columns: {kind: {values: [0, 1]}}}\n  kinds: {public: true}\n"
    )
    text = (
        "SELECT k.name, c.n FROM (SELECT kind, COUNT(*) AS n FROM people GROUP BY kind) AS c "
        "JOIN kinds AS k ON k.kind = c.kind ORDER BY k.name"
    )
    with hr.connect(connection, catalog=catalog) as db:
        for _ in range(3):
            assert db.sql(text)["name"] == ["old", "older"]
        connection.execute("UPDATE kinds SET name = 'new' WHERE kind = 0")
        assert db.sql(text)["name"] == ["new", "older"]


def test_equal_values_of_different_types_have_keys_of_their_own():
    options = [{}, {"epsilon": 1}, {"epsilon": 1.0}, {"epsilon": True}, {"within": (1, 2)}, {"within": ("1", 2)}]
    keys = [answer_key(COUNT, None, option, "duckdb", "ann") for option in options]
    assert None not in keys
    assert len(set(keys)) == len(keys)
    assert answer_key(COUNT, None, {}, "duckdb", "ann") != answer_key(COUNT, None, {}, "duckdb", None)


@pytest.mark.parametrize(
    ("options", "analyst"),
    [({"bounds": {"income": (0, 1)}}, None), ({"epsilon": object()}, None), ({"within": ((1, 2),)}, None), ({}, ["a"])],
)
def test_what_cannot_be_compared_for_certain_has_no_key(options, analyst):
    assert answer_key(COUNT, None, options, "duckdb", analyst) is None


def test_values_are_dropped_by_weight_the_longest_unused_first():
    kept = RecentlyUsed(10)
    for number in range(5):
        kept.keep(number, f"value {number}", weight=3)
        kept.get(0)
    assert [kept.get(number) for number in range(5)] == ["value 0", None, None, "value 3", "value 4"]
    kept.keep(0, "heavier", weight=4)
    kept.keep(5, "too heavy", weight=11)
    assert [kept.get(number) for number in range(6)] == [None] * 6
    kept.keep(6, "light")
    assert kept.get(6) == "light"
