"""`bounds="auto"`: what is found, what it costs, and what is refused unspent."""

import json
import shutil
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.internals import session_of

import hedgerow as hr
from hedgerow.accounting import gaussian_mu
from hedgerow.answer.captions import percent_above

ROUNDING = 1 + 1e-12
SUM = "SELECT SUM(x) AS s FROM t"


def purposes(answer):
    return [payment.purpose for payment in answer.receipt.payments]


def only(answer):
    (actual,) = answer.receipt.bounds
    return actual.lower, actual.upper


def test_bounds_hold_the_values_and_both_charges_are_on_the_receipt(world, plenty):
    answer = world().sql(SUM, epsilon=plenty, bounds="auto")
    assert only(answer) == (0, 1536)
    assert purposes(answer) == ["bounds", "bounds", "bounds", "answer"]
    assert answer["s"][0] == pytest.approx(60 * 1.5 * 1000 * 999 / 2, rel=1e-3)
    assert answer.receipt.charge.epsilon == sum(p.charge.epsilon for p in answer.receipt.payments) <= plenty
    document = answer.to_dict()
    (bounds,) = document["bounds"]
    assert 0 <= bounds.pop("beyond") < 1e-3
    assert bounds == {"of": "x", "lower": 0, "upper": 1536, "basis": "bought", "warning": None, "clipped": None}
    assert [payment["for"] for payment in document["payments"]] == purposes(answer)


@pytest.mark.parametrize(
    ("expression", "lower", "upper"),
    [
        ("k", 0, 6),
        ("d", 0, 49),
        ("year", 1990, 2020),
        ("-x", -1498.5, 0),
        ("x * (1 - k)", -7492.5, 1498.5),
        ("y", -30, 69),
        ("DATE_DIFF('day', DATE '2020-01-01', day)", 0, 364),
        ("LENGTH(name) * 3 - 2", 4, 4),
    ],
)
def test_the_range_is_that_of_the_expression(large_world, plenty, expression, lower, upper):
    answer = large_world.sql(f"SELECT AVG({expression}) AS a FROM t", epsilon=plenty, bounds="auto")
    actual = only(answer)
    assert actual[0] <= lower
    assert actual[1] >= upper
    assert actual[1] - actual[0] <= 1.5 * (upper - lower) + 1


def test_zeros_alone_and_numbers_that_are_none_have_bounds(large_world, plenty):
    assert only(large_world.sql("SELECT SUM(zero) AS s FROM one", epsilon=plenty, bounds="auto"))[0] == 0
    low, high = only(large_world.sql("SELECT SUM(many) AS s FROM one", epsilon=plenty, bounds="auto"))
    assert low == 0
    assert 39 <= high <= 48


def test_whole_numbers_have_whole_bounds(large_world, plenty):
    (actual,) = large_world.sql("SELECT SUM(k) AS s FROM t", epsilon=plenty, bounds="auto").receipt.bounds
    assert (actual.lower, actual.upper) == (0, 6)


def test_columns_keep_the_names_of_the_text(world, plenty):
    db = world()
    assert db.sql("SELECT SUM(x), k + 1 FROM t GROUP BY k", epsilon=plenty, bounds="auto").columns == [
        "sum(x)",
        "k + 1",
    ]
    assert db.quote("SELECT AVG(d) FROM t", bounds="auto").errors.keys() == {"avg(d)"}


def test_each_value_that_lacks_bounds_is_looked_at_once(world, plenty):
    answer = world().sql(
        "SELECT k, SUM(x) AS a, AVG(x) AS b, SUM(d) FILTER (WHERE k > 2) AS c FROM t GROUP BY k",
        epsilon=plenty,
        bounds="auto",
    )
    assert [actual.of for actual in answer.receipt.bounds] == ["x", "d"]
    assert len(answer) == 7


def test_values_in_steps_and_nested_queries_are_found(world, plenty):
    answer = world().sql(
        "WITH p AS (SELECT id, SUM(x) AS y FROM t GROUP BY id), a AS (SELECT AVG(y) AS m FROM p) SELECT m FROM a",
        epsilon=plenty,
        bounds="auto",
    )
    low, high = only(answer)
    assert low <= 4.5
    assert high >= 4495
    assert answer["m"][0] == pytest.approx(2247.75, rel=1e-2)


def test_declared_bounds_are_used_as_they_are(build, plenty):
    db = build(
        "CREATE TABLE t AS SELECT i AS id, i % 100 AS x FROM range(9000) r(i)",
        "t: {unit: id, max_rows: 1, columns: {x: {lower: 0, upper: 10}}}",
    )
    answer = db.sql("SELECT SUM(x) AS s FROM t", epsilon=plenty, bounds="auto")
    assert answer.receipt.bounds == answer.receipt.payments == ()
    assert answer.receipt.charge.epsilon == plenty


def test_public_questions_are_as_ever(world):
    answer = world().sql("SELECT SUM(a) AS s FROM places", bounds="auto")
    assert answer["s"] == [7]
    assert answer.receipt.id is None


def test_an_unknown_number_of_rows_is_chosen_by_a_race(world, plenty):
    answer = world().sql("SELECT COUNT(*) AS n, AVG(z) AS a FROM free", epsilon=plenty, bounds="auto")
    assert answer.receipt.max_rows == 22
    assert answer.to_dict()["max_rows"] == 22
    assert answer["n"][0] == pytest.approx(100_000, abs=50)
    assert answer["a"][0] == pytest.approx(5, abs=0.1)


def test_a_join_of_which_nobody_knows_the_multiplicity_is_answered(world, plenty):
    db = world()
    query = "SELECT COUNT(*) AS n FROM t JOIN free ON t.id = free.id"
    with pytest.raises(hr.ParameterError) as caught:
        db.sql(query)
    assert caught.value.code == "missing-max-rows"
    answer = db.sql(query, epsilon=plenty, bounds="auto")
    assert answer.receipt.max_rows == 63
    assert answer["n"][0] == pytest.approx(5000 * 3 * 20, rel=0.01)


def test_the_owners_limit_on_rows_is_not_touched(world, plenty):
    answer = world().sql(SUM, epsilon=plenty, bounds="auto", max_rows=2)
    assert answer.receipt.max_rows is None
    assert answer["s"][0] == pytest.approx(60 * 1.5 * 1000 * 999 / 2 * 2 / 3, rel=1e-2)


EPSILONS = st.floats(0.05, 20)
QUERIES = st.sampled_from(
    [
        "SELECT SUM(x) AS s FROM t WHERE k > {}",
        "SELECT AVG(y) AS s FROM t WHERE k <> {}",
        "SELECT SUM(year) AS s, AVG(d) AS a FROM t WHERE k < {}",
        "SELECT z, COUNT(*) AS s FROM free WHERE z > {} GROUP BY z",
        "SELECT AVG(z) AS s FROM free WHERE z > {}",
    ]
)


@pytest.mark.parametrize("ledger", ["large_world", "gaussian_world"])
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(QUERIES, st.integers(0, 5), EPSILONS, st.sampled_from(["gaussian", "auto"]), st.booleans())
def test_it_never_costs_more_than_was_stated(
    request, guaranteed_delta, ledger, query, least, epsilon, mechanism, reuse
):
    db = request.getfixturevalue(ledger)
    before = len(db.budget.history)
    options = {"epsilon": epsilon, "delta": 1e-7, "mechanism": mechanism, "bounds": "auto", "reuse": reuse}
    answer, refused = None, None
    try:
        answer = db.sql(query.format(least), **options)
    except hr.BudgetError as error:
        refused = error.code
    assert (answer is None) == (refused == "bounds-not-found")
    built = [e.charge for e in db.budget.history[before:] if e.status == "answered"]
    delta, mu = guaranteed_delta(built, epsilon * ROUNDING)
    assert delta <= 1e-7
    assert mu <= gaussian_mu(epsilon, 1e-7)
    assert all(charge["epsilon"] <= epsilon and charge["delta"] <= 1e-7 for charge in built)
    if answer is not None:
        assert answer.receipt.charge.epsilon <= epsilon * ROUNDING
        assert answer.receipt.charge.delta <= 1e-7
        assert all(actual.lower < actual.upper for actual in answer.receipt.bounds)


def test_where_epsilons_are_split_they_add_up_to_at_most_the_stated_one(large_world):
    before = len(large_world.budget.history)
    options = {"epsilon": 2.0, "delta": 1e-7, "mechanism": "laplace", "bounds": "auto", "reuse": False}
    answer = large_world.sql("SELECT SUM(x) AS s FROM t", **options)
    built = [e.charge for e in large_world.budget.history[before:]]
    assert answer.receipt.charge.epsilon == pytest.approx(sum(charge["epsilon"] for charge in built), abs=1e-12)
    assert sum(charge["epsilon"] for charge in built) <= 2.0
    assert sum(charge["delta"] for charge in built) <= 1e-7


def test_with_gaussian_noise_the_looks_take_a_share_of_mu_squared(gaussian_world, guaranteed_delta):
    """A fifth of epsilon would buy the first look a twenty-fifth of it, and noise 2.2 times as large."""
    before = len(gaussian_world.budget.history)
    answer = gaussian_world.sql("SELECT SUM(v) AS s FROM one", epsilon=1, delta=1e-7, bounds="auto", reuse=False)
    built = [e.charge for e in gaussian_world.budget.history[before:]]
    mus = [guaranteed_delta([charge], 1.0)[1] for charge in built]
    assert purposes(answer) == ["bounds", "bounds", "answer"]
    assert [mu**2 / gaussian_mu(1, 8e-8) ** 2 for mu in mus] == pytest.approx([0.2, 0.05, 0.75], rel=0.01)
    assert answer.receipt.charge.epsilon == pytest.approx(1, rel=1e-3)
    assert sum(payment.charge.epsilon for payment in answer.receipt.payments) > 1.5
    assert answer.receipt.share == pytest.approx(sum(payment.share for payment in answer.receipt.payments))


def test_a_refusal_says_what_the_looks_cost_on_their_own(build, guaranteed_delta):
    db = build(
        "CREATE TABLE t AS SELECT i AS id, 1000 + i AS x FROM range(8) r(i)",
        "t: {unit: id, max_rows: 1}",
        budget="{epsilon: 10, delta: 1e-5}",
    )
    with pytest.raises(hr.BudgetError) as caught:
        db.sql("SELECT SUM(x) FROM t", epsilon=1, delta=1e-7, bounds="auto")
    [entry] = [entry for entry in db.budget.history if entry.status == "answered"]
    assert f"cost epsilon {entry.charge['epsilon']:.4g}" in str(caught.value)
    assert guaranteed_delta([entry.charge], entry.charge["epsilon"])[0] <= entry.charge["delta"] <= 1e-7


def test_the_same_question_is_free_with_the_same_digits(world, charged, plenty):
    db = world()
    query = "SELECT k, SUM(x) AS s FROM t GROUP BY k"
    first, built = db.sql(query, epsilon=plenty, bounds="auto"), charged(db)
    again = db.sql(query, epsilon=plenty, bounds="auto")
    assert again.receipt.reused
    assert again.receipt.charge.epsilon == 0
    assert list(again) == list(first)
    assert charged(db) == built
    assert again.receipt.bounds[0].basis == "earlier answer"


def test_bounds_that_were_found_serve_other_questions_for_free(world, plenty):
    db = world()
    db.sql(SUM, epsilon=plenty, bounds="auto")
    answer = db.sql("SELECT AVG(x) AS a, k FROM t GROUP BY k", epsilon=plenty, bounds="auto")
    assert answer.receipt.payments == ()
    assert only(answer) == (0, 1536)
    assert db.quote("SELECT AVG(x) AS a, COUNT(*) AS n FROM t", epsilon=plenty, bounds="auto").errors["a"][100] < 1536


def test_what_was_found_for_far_less_is_not_taken(world, plenty):
    db = world()
    db.sql(SUM, epsilon=5, bounds="auto")
    assert purposes(db.sql(SUM, epsilon=plenty, bounds="auto"))[0] == "bounds"


def test_a_quote_says_what_cannot_be_told_before(world, charged):
    db = world()
    offer = db.quote("SELECT SUM(x) AS s, COUNT(*) AS n FROM t", epsilon=1, bounds="auto")
    assert offer.charge.epsilon == 1
    assert set(offer.errors["s"].values()) == {float("inf")}
    assert any("found first" in note for note in offer.notes)
    assert charged(db) == []


def test_with_a_wanted_error_the_bounds_are_paid_from_the_stated_epsilon(world, plenty):
    db = world(defaults="delta: 1e-8")
    answer = db.sql(SUM, within=0.05, epsilon=plenty, bounds="auto")
    assert purposes(answer)[:2] == ["bounds", "bounds"]
    assert answer.receipt.charge.epsilon <= plenty
    with pytest.raises(hr.ParameterError) as caught:
        db.sql(SUM, within=0.05, bounds="auto")
    assert caught.value.code == "missing-epsilon"


def test_with_a_wanted_error_the_owners_default_pays_for_bounds_too(build):
    db = build(
        "CREATE TABLE t AS SELECT i AS id, i % 50 AS x FROM range(5000) r(i)",
        "t: {unit: id, max_rows: 1}",
        budget="{epsilon: 50, delta: 1e-6}",
        defaults="epsilon: 5, delta: 1e-8",
    )
    answer = db.sql("SELECT SUM(x) FROM t", within=0.05, bounds="auto")
    assert "bounds" in purposes(answer)
    assert answer.receipt.charge.epsilon <= 5


def test_too_few_people_are_an_error_that_says_so_and_the_looks_stay_paid(build, charged):
    db = build(
        "CREATE TABLE t AS SELECT i AS id, 1000 + i AS x FROM range(8) r(i)",
        "t: {unit: id, max_rows: 1}",
        min_frequency=10,
    )
    with pytest.raises(hr.BudgetError) as caught:
        db.sql("SELECT SUM(x) FROM t", epsilon=1, bounds="auto")
    assert caught.value.code == "bounds-not-found"
    assert caught.value.receipt is not None
    assert sum(epsilon for epsilon, _ in charged(db)) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("query", "options", "code"),
    [
        ("SELECT SUM(nothing) FROM t", {}, "unknown-column"),
        ("SELECT SUM(name) FROM t", {}, "type-mismatch"),
        ("SELECT SUM(id) FROM t", {}, "unit-shown"),
        ("SELECT SUM(x) FROM t", {"epsilon": -1}, "bad-epsilon"),
        ("SELECT SUM(x) FROM t", {"max_rows": 9}, "looser-limit"),
        ("SELECT SUM(x) FROM t", {"bounds": "all"}, "bad-bounds"),
        ("SELECT SUM(DISTINCT x) FROM t", {}, "distinct-column"),
        ("SELECT x, SUM(x) FROM t", {}, "raw-column"),
    ],
)
def test_what_is_refused_costs_nothing(large_world, query, options, code):
    before = len(large_world.budget.history)
    with pytest.raises(hr.HedgerowError) as caught:
        large_world.sql(query, **{"bounds": "auto", **options})
    assert caught.value.code == code
    assert len(large_world.budget.history) == before


def test_a_statement_that_lacks_bounds_everywhere_is_refused_unspent(large_world):
    before = len(large_world.budget.history)
    many = ", ".join(f"SUM(x + {i}) AS s{i}" for i in range(40))
    with pytest.raises(hr.UnsupportedSQLError) as caught:
        large_world.sql(f"SELECT {many} FROM t", bounds="auto")
    assert caught.value.code == "missing-bounds"
    assert len(large_world.budget.history) == before


def test_two_values_of_one_aggregate_are_bounded_where_they_need_it(build, plenty):
    db = build(
        "CREATE TABLE t AS SELECT i AS id, i % 100 AS x, i % 7 AS y FROM range(9000) r(i)",
        "t: {unit: id, max_rows: 1, columns: {x: {lower: 0, upper: 100}}}",
    )
    answer = db.sql("SELECT COVAR_POP(x, y) AS c FROM t", epsilon=plenty, bounds="auto")
    assert [actual.of for actual in answer.receipt.bounds] == ["y"]
    again = db.sql("SELECT COVAR_POP(y + 1, y) AS c FROM t", epsilon=plenty, bounds="auto")
    assert [actual.of for actual in again.receipt.bounds] == ["(y + 1)", "y"]


def test_without_room_for_all_parts_nothing_is_spent(world, charged):
    db = world(budget="{epsilon: 1, delta: 1e-6}")
    with pytest.raises(hr.BudgetError) as caught:
        db.sql(SUM, epsilon=3, bounds="auto")
    assert caught.value.code == "parts-too-dear"
    assert charged(db) == []


def test_laplace_noise_finds_bounds_without_a_delta(world, charged):
    db = world(defaults="epsilon: 1")
    db.sql(SUM, bounds="auto")
    assert {delta for _, delta in charged(db)} == {0}


def test_a_statement_that_needs_a_delta_spends_nothing_without_one(world, charged):
    db = world(defaults="epsilon: 1")
    with pytest.raises(hr.ParameterError) as caught:
        db.sql("SELECT k, SUM(x) AS s FROM t GROUP BY k", bounds="auto")
    assert caught.value.code == "missing-delta"
    assert charged(db) == []


def test_where_the_catalog_sets_the_price_it_is_not_split(world):
    db = world(budget="{epsilon: 3, delta: 1e-6, queries: 10}", defaults="delta: 1e-8")
    with pytest.raises(hr.PolicyError) as caught:
        db.sql(SUM, bounds="auto")
    assert caught.value.code == "price-is-set"


def test_one_more_person_changes_neither_charges_nor_what_is_refused(world, charged, plenty):
    outlier = ["INSERT INTO t SELECT 999999, 3, 1e15, 5, 2000, DATE '2020-01-01', 'a', 1e300"]
    without, with_ = world(min_frequency=10), world(outlier, min_frequency=10)
    queries = [SUM, "SELECT AVG(y) AS a FROM t", "SELECT k, AVG(x) AS a FROM t GROUP BY k"]
    for query in queries:
        answers = [db.sql(query, epsilon=plenty, bounds="auto", reuse=False) for db in (without, with_)]
        lower, upper = only(answers[0])
        assert only(answers[1]) == pytest.approx((lower, upper), abs=(upper - lower) / 8)
    assert charged(without) == charged(with_)
    refusals = []
    for db in (without, with_):
        with pytest.raises(hr.BudgetError) as caught:
            db.sql(SUM, epsilon=1e-3, bounds="auto", reuse=False)
        refusals.append((caught.value.code, caught.value.message, caught.value.hint))
    assert refusals[0] == refusals[1]


def test_the_noise_of_a_look_is_what_its_share_pays_for(world):
    db = world()
    db.sql(SUM, epsilon=10, mechanism="gaussian", bounds="auto")
    events = [entry.charge["events"] for entry in db.budget.history if entry.status == "answered"]
    first, second = (max(event.get("sigma", 0) for event in charge_events) for charge_events in events[:2])
    assert second == pytest.approx(first * 3**0.5 / 2**0.5, rel=1e-6)


MONEY = """CREATE TABLE money AS SELECT i AS id,
    CASE WHEN i % 5 < 4 THEN 0 ELSE exp(5 + 1.3 * sqrt(-2 * ln((i + 0.5) / 20000)) * cos(i * 2.399963)) END AS dollars,
    CASE WHEN i % 50 < 49 THEN 0 ELSE exp((i // 50) % 12) END AS rare FROM range(20000) r(i)"""
"""Four of five people have no dollars; the others some that are log-normal, on average about 340."""


@pytest.fixture(scope="module", params=["{epsilon: 90, delta: 1e-5, pure_epsilon: 80}", "{epsilon: 90, delta: 1e-5}"])
def insured(build_once, request):
    """People of whom most have no cost at all; with room for either kind of noise."""
    return build_once(MONEY, "money: {unit: id, max_rows: 1}", budget=request.param, min_frequency=10)


def test_bounds_see_the_tail_of_money_that_most_people_have_none_of(insured):
    """At least 200 people have more than 1 024 dollars, which noise hides once in 1e9 looks or less.

    The lower bound is 0, unless an empty bin of negative numbers passes its test, which noise allows now and then.
    """
    answer = insured.sql("SELECT AVG(dollars) AS mean FROM money", epsilon=2, bounds="auto", reuse=False)
    assert only(answer)[0] <= 0
    assert 1024 <= only(answer)[1] <= 1e6
    assert answer["mean"][0] == pytest.approx(67, abs=15)


def test_what_the_bounds_may_cut_off_is_said_in_the_answer(insured):
    answer = insured.sql("SELECT AVG(dollars) AS mean FROM money", epsilon=2, bounds="auto", reuse=False)
    (bounds,) = answer.receipt.bounds
    (note,) = (note.text for note in answer.notes if "dollars was bounded by" in note.text)
    assert f"at most {percent_above(bounds.beyond)} of people have values beyond" in note
    assert ("Warning" in note) == (bounds.warning is not None)
    assert note in repr(answer).replace("\n", " ")
    assert answer.to_dict()["bounds"][0]["beyond"] == bounds.beyond


def test_values_that_too_few_people_share_are_refused_and_not_taken_for_zeros(insured, charged):
    before = len(charged(insured))
    with pytest.raises(hr.BudgetError) as caught:
        insured.sql("SELECT AVG(rare) AS mean FROM money", epsilon=0.2, bounds="auto", reuse=False)
    assert caught.value.code == "bounds-not-found"
    [(epsilon, _)] = charged(insured)[before:]
    assert f"epsilon {epsilon:.4g}" in caught.value.message
    if session_of(insured).catalog.budget.pure_epsilon:
        assert epsilon == pytest.approx(0.04)


def test_the_noise_of_a_look_goes_where_the_ledger_has_room(insured):
    insured.sql("SELECT SUM(dollars) AS s FROM money", epsilon=1, bounds="auto", reuse=False)
    events = [entry.charge["events"] for entry in insured.budget.history if entry.status == "answered"][-2]
    kind = "laplace" if session_of(insured).catalog.budget.pure_epsilon else "gaussian"
    assert [event["kind"] for event in events] == [kind]


def test_values_of_the_sign_that_is_smaller_in_everybody_are_not_cut_off(build):
    """Each person has one value of 100 to 599 and nine of -1 to -30: the largest absolute value is positive."""
    db = build(
        """CREATE TABLE t AS SELECT i // 10 AS id,
        CASE WHEN i % 10 = 0 THEN 100 + i % 500 ELSE -1 - i % 30 END AS x FROM range(200000) r(i)""",
        "t: {unit: id, max_rows: 10}",
        min_frequency=10,
    )
    lower, upper = only(db.sql("SELECT AVG(x) AS a FROM t", epsilon=4, bounds="auto"))
    assert -1100 <= lower <= -25
    assert upper >= 500


def test_an_end_that_is_known_from_the_expression_is_kept(large_world):
    """At this price the octaves below zero would cost nothing but noise: none of them is looked at."""
    answer = large_world.sql("SELECT SUM(ABS(y)) AS s FROM t", epsilon=20, bounds="auto")
    assert only(answer)[0] == 0
    assert 64 <= only(answer)[1] <= 128


@pytest.mark.parametrize("aggregate", ["VAR_POP", "STDDEV", "MEDIAN", "SUM", "AVG"])
def test_every_aggregate_that_needs_bounds_gets_them(large_world, plenty, aggregate):
    answer = large_world.sql(f"SELECT k, {aggregate}(x) AS v FROM t GROUP BY k", epsilon=plenty, bounds="auto")
    assert only(answer) == (0, 1536)
    assert len(answer) == 7


WRITTEN = Path(__file__).parent / "written"
SHOP = Path(__file__).parents[1] / "ledger" / "written"


def test_a_ledger_with_bounds_of_the_older_kind_opens_and_its_looks_are_charged_anew(tmp_path):
    shutil.copy(SHOP / "shop.yaml", tmp_path)
    shutil.copy(WRITTEN / "cells.ledger", tmp_path / "shop.ledger")
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as owner:
        owner.execute((SHOP / "shop.sql").read_text(encoding="utf-8"))
    expected = json.loads((WRITTEN / "cells.json").read_text(encoding="utf-8"))
    with hr.connect(tmp_path / "shop.duckdb", catalog=tmp_path / "shop.yaml") as db:
        assert db.budget.queries == expected["charges"]
        assert dict(db.budget.used) == pytest.approx(expected["used"], rel=1e-12)
        lower, upper = (int(end) for end in expected["bounds"])
        same = f"SELECT SUM(CLIP(LENGTH(segment), {lower}, {upper})) AS s FROM customers"
        assert db.sql(same, epsilon=1.8).arrow().to_pylist() == expected["answer"]
        assert db.budget.queries == expected["charges"]
        anew = db.sql("SELECT SUM(LENGTH(segment)) AS s FROM customers", epsilon=2.0, bounds="auto")
        assert purposes(anew)[0] == "bounds"
        assert db.budget.queries > expected["charges"]
