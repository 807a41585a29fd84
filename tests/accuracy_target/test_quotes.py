"""A wanted error is priced before it is bought, for nothing and in every detail."""

import math

import pytest

import hedgerow as hr

COUNT = "SELECT COUNT(*) AS n FROM t"


@pytest.mark.parametrize(
    ("query", "within", "basis"),
    [
        (COUNT, ("abs", 100), "any size"),
        (COUNT, (0.01, 20000), "stated size"),
        ("SELECT AVG(x) AS m FROM t", (0.01, 20000), "stated size"),
        ("SELECT g, SUM(x) AS s FROM t GROUP BY g", ("abs", 5000), "any size"),
    ],
)
def test_what_is_quoted_is_what_is_paid(world, query, within, basis):
    db = world()
    quote = db.quote(query, within=within)
    assert quote.offer.basis == basis
    assert quote.offer.estimate is None
    assert quote.offer.epsilon == quote.charge.epsilon
    assert db.sql(query, within=within).receipt.charge == quote.charge


def test_a_stored_answer_is_the_basis_of_a_quote(world):
    db = world()
    db.sql("SELECT SUM(x) AS s FROM t", epsilon=0.1)
    quote = db.quote("SELECT SUM(x) AS s FROM t", within=0.0001, epsilon=50)
    assert quote.offer.basis == "earlier answer"
    assert db.sql("SELECT SUM(x) AS s FROM t", within=0.0001, epsilon=50).receipt.charge == quote.charge


def test_where_a_size_would_be_bought_the_most_is_quoted(world):
    db = world()
    quote = db.quote(COUNT, within=0.01, epsilon=1)
    assert quote.offer.basis == "size estimate"
    assert quote.charge.epsilon == quote.offer.epsilon == 1
    answer = db.sql(COUNT, within=0.01, epsilon=1)
    assert answer.receipt.payments[0].charge.epsilon == quote.offer.estimate
    assert answer.receipt.charge.epsilon <= quote.charge.epsilon
    assert "size estimate" in quote.notes[0]


def test_quotes_spend_nothing(world):
    db = world()
    for within in [("abs", 100), (0.01, 20000), 0.01]:
        db.quote(COUNT, within=within)
    assert db.budget.queries == 0


def test_the_cheapest_is_told_for_every_column_and_size(world):
    query = "SELECT g, COUNT(*) AS n, AVG(y) AS m, AVG(x) AS p FROM t GROUP BY g"
    cheapest = world().quote(query, within=0.05, epsilon=1).offer.cheapest
    assert list(cheapest) == ["n", "m", "p"]
    assert list(cheapest["n"]) == [100, 1000, 10000, 100000]
    assert cheapest["n"][1000] == pytest.approx(cheapest["n"][10000] * 10, rel=0.15)
    assert list(cheapest["p"].values()) == sorted(cheapest["p"].values(), reverse=True)
    assert set(cheapest["m"].values()) == {math.inf}


def test_the_cheapest_of_a_stated_size_is_the_price(world):
    quote = world().quote(COUNT, within=(0.05, 700))
    assert quote.offer.cheapest == {"n": {700: pytest.approx(quote.charge.epsilon, rel=0.005)}}


def test_an_offer_is_plain_json_without_infinities(world):
    offer = world().quote("SELECT AVG(y) AS m FROM t", within=0.05, epsilon=1).to_dict()["within"]
    assert offer["target"] == "5 %"
    assert offer["cheapest"] == {"m": {"100": None, "1000": None, "10000": None, "100000": None}}


def test_a_price_beyond_the_limit_is_quoted_and_does_not_fit(world):
    quote = world().quote(COUNT, within=("abs", 100), epsilon=0.01)
    assert not quote.fits
    assert quote.charge.epsilon > 0.01
    assert "more than epsilon 0.01" in quote.notes[0]


def test_without_a_wanted_error_there_is_no_offer(world):
    quote = world().quote(COUNT)
    assert quote.offer is None
    assert "within" not in quote.to_dict()


@pytest.mark.parametrize("options", [{"within": ("abs", 60)}, {"epsilon": 0.1}, {"within": (0.05, 1500)}])
@pytest.mark.parametrize("query", [COUNT, "SELECT h, COUNT(*) AS n FROM t GROUP BY h"])
def test_as_many_as_a_quote_says_can_be_bought_and_no_more(world, query, options):
    db = world(budget="{epsilon: 0.3, delta: 1e-6}", defaults="delta: 1e-7")
    many = db.quote(query, **options).repeats
    assert 1 < many < 50
    for _ in range(many):
        db.sql(query, reuse=False, mechanism="gaussian", **options)
    assert db.quote(query, **options).repeats == 0
    with pytest.raises(hr.BudgetError):
        db.sql(query, reuse=False, mechanism="gaussian", **options)


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("query", [COUNT, "SELECT g, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY g"])
def test_the_error_that_a_price_reaches_leads_back_to_the_price(world, query, relative):
    db = world()
    reached = db.quote(query, epsilon=0.3, reuse=False).reached_error(2000, relative=relative)
    within = (reached, 2000) if relative else ("abs", reached, 2000)
    price = db.quote(query, within=within, reuse=False).charge.epsilon
    assert 0.27 < price <= 0.301  # a count has an error in whole numbers, which a range of prices reaches


def test_an_error_that_nobody_can_tell_is_infinite(world):
    db = world()
    assert math.isinf(db.quote("SELECT MEDIAN(x) AS m FROM t", epsilon=1).reached_error(1000))
