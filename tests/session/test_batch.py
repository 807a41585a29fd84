"""Questions that are asked together: one charge, shared releases, and answers that each can be asked again."""

import json

import numpy as np
import pytest
from tests.internals import session_of

import hedgerow as hr
from hedgerow.accounting import gaussian_epsilon
from hedgerow.answer import Batch

QUERIES = {
    "visits": "SELECT place, COUNT(*) AS visits FROM visits GROUP BY place",
    "cost": "SELECT place, AVG(cost) AS cost FROM visits GROUP BY place",
    "both": "SELECT place, SUM(cost) AS total, COUNT(*) AS visits FROM visits GROUP BY place",
    "people": "SELECT COUNT(*) AS people FROM people",
    "towns": "SELECT name FROM towns ORDER BY name",
}


@pytest.fixture
def batch(shop_of):
    db = shop_of()
    return db, db.batch(QUERIES, epsilon=50.0)


def test_a_batch_is_one_charge(batch):
    db, answers = batch
    assert db.budget.queries == 1
    assert answers.receipt.charge.epsilon == 50.0
    [entry] = [line for line in db.budget.history if line.status == "answered"]
    assert all(sql in entry.question for sql in QUERIES.values())


def test_answers_are_found_by_name_and_by_number(batch):
    _, answers = batch
    assert answers.names == tuple(answers.keys()) == tuple(QUERIES)
    assert answers["people"] is answers[3]
    assert list(answers) == list(answers.values()) == [answer for _, answer in answers.items()]
    assert answers[1:3] == [answers["cost"], answers["both"]]
    assert "people" in answers
    assert "nobody" not in answers
    assert len(answers) == 5


def test_equal_measures_are_measured_once(batch):
    _, answers = batch
    assert answers["visits"]["visits"] == answers["both"]["visits"]
    labels = [mechanism.measure for mechanism in answers.receipt.mechanisms]
    assert labels == ["people per group", "rows", "rows with cost", "centred sum of cost", "people per group"]


def test_the_answers_are_about_the_data(batch):
    _, answers = batch
    assert answers["people"]["people"][0] == pytest.approx(400, abs=20)
    assert answers["visits"]["place"] == [f"place {i}" for i in range(5)]
    assert answers["towns"]["name"] == ["town 0", "town 1", "town 2"]
    for total, bar in zip(answers["both"]["visits"], answers["both"].intervals, strict=True):
        assert bar["visits"].lower <= total <= bar["visits"].upper


def test_each_answer_alone_is_free_and_repeats_its_digits(batch):
    db, answers = batch
    for name, sql in QUERIES.items():
        again = db.sql(sql, epsilon=50.0)
        assert list(again) == list(answers[name])
        assert again.intervals == answers[name].intervals
        assert again.receipt.reused or name == "towns"
    assert db.budget.queries == 1


def test_a_batch_asked_again_is_free_and_repeats_its_digits(batch):
    db, answers = batch
    again = db.batch(QUERIES, epsilon=50.0)
    assert [list(answer) for answer in again] == [list(answer) for answer in answers]
    assert again.receipt.reused
    assert again.receipt.id == answers.receipt.id
    assert db.budget.queries == 1


def test_a_question_alone_that_may_cost_more_is_asked_anew(batch):
    db, answers = batch
    again = db.sql(QUERIES["people"], epsilon=500.0)
    assert not again.receipt.reused
    assert db.budget.queries == 2
    assert list(answers["people"])


def test_the_ledger_verifies_and_the_events_add_up_to_the_charge(batch):
    db, answers = batch
    session_of(db).ledger.verify()
    caps = session_of(db).ledger.caps
    gaussian = sum((event.cost.gaussian for event in session_of(db).ledger.events()), 0)
    assert float(gaussian / caps.gaussian) <= answers.receipt.share * (1 + 1e-9)
    assert gaussian_epsilon(float(gaussian) ** 0.5, 1e-8) <= 50.0


def test_each_answer_says_what_it_would_have_cost_alone(batch):
    _, answers = batch
    alone = [answer.receipt.alone.epsilon for name, answer in answers.items() if name != "towns"]
    assert all(0 < epsilon < 50.0 for epsilon in alone)
    assert answers.savings.apart.epsilon == pytest.approx(sum(alone))
    assert answers.savings.apart.epsilon > 50.0
    assert answers["towns"].receipt.alone is None


def test_alone_at_the_stated_price_an_answer_is_as_accurate(shop_of):
    db = shop_of()
    quoted = db.quote_batch(QUERIES, epsilon=5.0)
    for name in ("visits", "people"):
        alone = db.quote(QUERIES[name], epsilon=quoted.alone[name].epsilon, mechanism="gaussian")
        for column, by_size in quoted.errors[name].items():
            assert alone.errors[column][100_000] == pytest.approx(by_size[100_000], rel=0.01)


def test_a_sum_beside_a_count_says_what_it_would_have_cost_as_a_sum_by_itself(shop_of):
    db = shop_of(min_frequency=1)
    total = "SELECT place, SUM(cost) AS total FROM visits GROUP BY place"
    quoted = db.quote_batch({"total": total, "cost": QUERIES["cost"]}, epsilon=5.0)
    alone = db.quote(total, epsilon=quoted.alone["total"].epsilon, mechanism="gaussian")
    assert alone.errors["total"][1000] == pytest.approx(quoted.errors["total"]["total"][1000], rel=0.01)


def test_a_quote_is_free_and_predicts_the_errors_of_the_answers(shop_of, free):
    db = shop_of()
    with free(db):
        quoted = db.quote_batch(QUERIES, epsilon=20.0)
    assert quoted.releases == 2
    assert quoted.fits
    answers = db.batch(QUERIES, epsilon=20.0)
    [bar] = [row["people"] for row in answers["people"].intervals]
    assert (bar.upper - bar.lower) / 2 == pytest.approx(quoted.errors["people"]["people"][100_000], rel=0.2)
    assert answers.receipt.share == pytest.approx(quoted.share)
    assert db.quote_batch(QUERIES, epsilon=20.0).reused


def test_a_weight_buys_accuracy_at_the_expense_of_the_others(shop_of):
    db = shop_of()
    plain = db.quote_batch(QUERIES, epsilon=5.0)
    weighty = db.quote_batch(QUERIES, epsilon=5.0, weights={"people": 16})
    assert weighty.errors["people"]["people"][1000] < 0.8 * plain.errors["people"]["people"][1000]
    assert weighty.errors["visits"]["visits"][100_000] > plain.errors["visits"]["visits"][100_000]
    assert weighty.charge == plain.charge


def test_the_split_is_the_best_of_all_splits(shop_of):
    """The weighted sum of relative variances at the chosen shares is the least on a grid of all shares."""
    db = shop_of()
    two = {"visits": QUERIES["visits"], "cost": QUERIES["cost"], "people": QUERIES["people"]}
    quoted = db.quote_batch(two, epsilon=5.0)
    alone = {name: db.quote(sql, epsilon=5.0, mechanism="gaussian") for name, sql in two.items()}
    ratio = {name: (quoted.errors[name][name][100_000] / alone[name].errors[name][100_000]) ** 2 for name in two}
    first = ratio["visits"] + ratio["cost"]
    second = ratio["people"]
    shares = np.linspace(0.02, 0.98, 97)
    chosen = _first_share(db, two)
    sums = first * chosen / shares + second * (1 - chosen) / (1 - shares)
    assert first + second <= float(sums.min()) * 1.02


def _first_share(db, queries):
    """Share of mu squared of the first release, from the events of the charge."""
    sigmas = db.batch(queries, epsilon=5.0).receipt.mechanisms
    costs = [(mechanism.sensitivity / mechanism.scale) ** 2 for mechanism in sigmas]
    last = [i for i, mechanism in enumerate(sigmas) if mechanism.measure == "people per group"][-1]
    return sum(costs[:last]) / sum(costs)


def test_the_worst_is_better_if_that_is_asked_for(shop_of):
    db = shop_of()

    def worst(minimise):
        quoted = db.quote_batch(QUERIES, epsilon=5.0, weights={"people": 30}, minimise=minimise)
        alone = {name: db.quote(QUERIES[name], epsilon=5.0, mechanism="gaussian") for name in ("visits", "people")}
        return max(
            weight * (quoted.errors[name][name][100_000] / alone[name].errors[name][100_000]) ** 2
            for name, weight in (("visits", 1), ("people", 30))
        )

    assert worst("worst") <= worst("mean")


def test_wanted_errors_are_reached_for_the_least_price(shop_of):
    db = shop_of(min_frequency=1)
    report = hr.Report.parse(
        "-- name: people\n-- within abs:30\nSELECT COUNT(*) AS people FROM people;\n"
        "-- name: north\n-- within abs:60\nSELECT COUNT(*) AS people FROM people WHERE region = 'north';"
    )
    quoted = db.quote_batch(report)
    assert quoted.errors["people"]["people"][1000] == pytest.approx(30, rel=0.01)
    assert quoted.errors["north"]["people"][1000] == pytest.approx(60, rel=0.01)
    answers = db.batch(report)
    assert answers.receipt.charge.epsilon == pytest.approx(quoted.charge.epsilon)
    assert not any(bar.missed for answer in answers for row in answer.intervals for bar in row.values())


@pytest.mark.parametrize(("within", "charges"), [("20%", 1), ("0.5%", 2)])
def test_sizes_that_nobody_knows_are_estimated_first(shop_of, within, charges):
    """Nothing more is bought if the estimate is accurate enough."""
    db = shop_of(min_frequency=1)
    queries = ["SELECT COUNT(*) AS n FROM people", "SELECT COUNT(*) AS n FROM visits"]
    answers = db.batch(queries, within=within, epsilon=60.0)
    purposes = [payment.purpose for payment in answers.receipt.payments]
    assert purposes == ["size estimate", "answers"][:charges]
    assert db.budget.queries == charges
    assert 0 < answers.receipt.charge.epsilon <= 60.0
    assert answers.receipt.charge.delta <= 1e-8 * (1 + 1e-9)
    for answer, truth in zip(answers, (400, 900), strict=True):
        [bar] = [row["n"] for row in answer.intervals]
        assert (bar.upper - bar.lower) / 2 <= 1.3 * float(within.rstrip("%")) / 100 * truth


def test_wanted_errors_of_tables_that_share_nothing_cost_what_they_cost_apart(shop_of):
    """The maximum is far above the price, where a statement would test its groups with another part of its budget."""
    report = hr.Report.parse(
        "-- name: age\n-- within abs:8@1000\n"
        "SELECT region, AVG(CLIP(age, 0, 99)) AS age FROM people GROUP BY region;\n"
        "-- name: people\n-- within abs:500@1000\nSELECT COUNT(*) AS people FROM people;"
    )
    quoted = shop_of().quote_batch(report, epsilon=50.0)
    assert quoted.savings.share_apart == pytest.approx(quoted.share, rel=0.01)
    assert quoted.charge.epsilon < quoted.savings.apart.epsilon


def test_a_wanted_error_of_a_sum_beside_a_count_costs_no_more_than_it_needs(shop_of):
    report = hr.Report.parse(
        "-- name: total\n-- within abs:9000@1000\nSELECT place, SUM(cost) AS total FROM visits GROUP BY place;\n"
        "-- name: cost\nSELECT place, AVG(cost) AS cost FROM visits GROUP BY place;"
    )
    quoted = shop_of(min_frequency=1).quote_batch(report, epsilon=50.0)
    assert quoted.errors["total"]["total"][1000] == pytest.approx(9000, rel=0.01)


def test_a_wanted_error_beyond_the_price_is_refused(shop_of, free):
    db = shop_of(min_frequency=1)
    with free(db), pytest.raises(hr.BudgetError):
        db.batch(["SELECT COUNT(*) FROM people", "SELECT COUNT(*) FROM visits"], within="abs:2", epsilon=0.01)


def test_it_is_shown_for_people_and_programs(batch):
    _, answers = batch
    assert isinstance(answers, Batch)
    text = repr(answers)
    assert all(name in text for name in QUERIES)
    assert "one by one" in text
    assert "<h4>people</h4>" in answers._repr_html_()
    document = json.loads(json.dumps(answers.to_dict()))
    assert list(document["answers"]) == list(QUERIES)
    assert document["charge"]["epsilon"] == 50.0
    assert document["answers"]["people"]["alone"]["epsilon"] > 0
    assert "one by one" in str(answers.savings)


@pytest.mark.parametrize(
    ("queries", "options", "code"),
    [
        ("SELECT COUNT(*) FROM people", {}, "bad-batch"),
        ([], {}, "report-empty"),
        ([1], {}, "not-text"),
        ({"no name": "SELECT COUNT(*) FROM people"}, {}, "report-name"),
        ({"a": "SELECT COUNT(*) FROM people", "A": "SELECT COUNT(*) FROM people"}, {}, "report-name"),
        (["SELECT COUNT(*) FROM people"], {"weights": [1, 2]}, "bad-weight"),
        (["SELECT COUNT(*) FROM people"], {"weights": {"x": 2}}, "bad-weight"),
        (["SELECT COUNT(*) FROM people"], {"weights": [-1]}, "bad-weight"),
        (["SELECT COUNT(*) FROM people"], {"minimise": "most"}, "bad-choice"),
        (["SELECT COUNT(*) FROM people"], {"add_up": 1}, "bad-flag"),
        (["SELECT COUNT(*) FROM people"], {"epsilon": True}, "bad-epsilon"),
        (["SELECT COUNT(*) FROM people"], {"size": 3}, "unknown-option"),
    ],
)
def test_what_is_no_batch_is_refused(shop, free, queries, options, code):
    with free(shop), pytest.raises(hr.QueryError) as refused:
        shop.batch(queries, **{"epsilon": 1.0, **options})
    assert refused.value.code == code


def test_a_refusal_names_the_query_and_the_line_of_the_report(shop, free):
    text = "-- name: fine\nSELECT COUNT(*) FROM people;\n\n-- name: broken\nSELECT COUNT(*)\nFROM nowhere;"
    with free(shop), pytest.raises(hr.UnknownNameError) as refused:
        shop.batch(hr.Report.parse(text), epsilon=1.0)
    assert refused.value.message.startswith("broken (line 5): ")
    assert refused.value.span.line == 6
    assert "6 | FROM nowhere" in str(refused.value)


def test_a_budget_that_is_too_small_refuses_the_whole_batch(shop_of):
    db = shop_of(budget="{epsilon: 1, delta: 1e-6}")
    with pytest.raises(hr.BudgetError):
        db.batch(QUERIES, epsilon=5.0, delta=1e-7)
    assert db.budget.queries == 0


def test_with_pure_epsilon_alone_the_noise_is_laplace(shop_of):
    db = shop_of(budget="{epsilon: 10, delta: 1e-6, pure_epsilon: 10}")
    answers = db.batch(QUERIES, epsilon=5.0)
    assert {mechanism.kind for mechanism in answers.receipt.mechanisms} == {"laplace"}
    assert db.budget.queries == 1


def test_laplace_noise_is_shared_out_although_it_is_charged_as_gaussian_noise(shop_of):
    """No pure epsilon is kept: each step is charged as the Gaussian noise that dominates it."""
    quoted = shop_of(budget="{epsilon: 1000, delta: 1e-3}").quote_batch(QUERIES, epsilon=2.0, mechanism="laplace")
    assert quoted.charge.epsilon == 2.0
    assert 0 < quoted.alone["people"].epsilon < 2.0


def test_a_quote_says_that_the_price_of_a_wanted_error_depends_on_unknown_sums(shop_of):
    report = hr.Report.parse(
        "-- name: total\n-- within 5%@50\nSELECT place, SUM(cost) AS total FROM visits GROUP BY place;\n"
        "-- name: people\nSELECT COUNT(*) AS people FROM people;"
    )
    with pytest.raises(hr.ParameterError, match=r"total .line 3.*sums in the groups"):
        shop_of().quote_batch(report, epsilon=0.5)


@pytest.mark.parametrize(("stated", "better"), [("abs:9", "within abs:9@1000"), ("5%", "within 5%@1000")])
def test_a_quote_says_how_to_state_an_error_that_depends_on_unknown_sizes(shop_of, stated, better):
    """A count that is also the test of its group has another interval in small groups."""
    db = shop_of()
    query = "SELECT place, COUNT(*) AS visits FROM visits GROUP BY place"
    with pytest.raises(hr.errors.ParameterError) as refused:
        db.quote_batch([query], epsilon=50.0, within=stated)
    assert (refused.value.code, better in refused.value.hint) == ("batch-sizes", True)
    assert db.quote_batch([query], epsilon=50.0, within=better.removeprefix("within ")).charge.epsilon <= 50.0


def test_every_answer_names_the_estimate_that_was_paid_for_first(shop_of):
    report = hr.Report.parse(
        "-- name: total\n-- within 20%\nSELECT place, SUM(cost) AS total FROM visits GROUP BY place;\n"
        "-- name: people\nSELECT COUNT(*) AS people FROM people;"
    )
    answers = shop_of().batch(report, epsilon=100.0)
    assert [payment.purpose for payment in answers.receipt.payments] == ["size estimate", "answers"]
    assert all(answer.receipt.payments == answers.receipt.payments for answer in answers)
    assert all(answer.receipt.charge == answers.receipt.charge for answer in answers)
