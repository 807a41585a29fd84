"""Statements of every kind pass: measures, noise, keys, joins, several releases."""

import pytest

from .conftest import FALSE_ALARM

SURE = {"confidence": 1 - FALSE_ALARM}

QUERIES = [
    "SELECT COUNT(*), SUM(price), AVG(price) FROM orders",
    "SELECT region, VAR_POP(income), COUNT(DISTINCT id) FROM customers GROUP BY region",
    "SELECT city, MEDIAN(price), MAX(price) FROM orders GROUP BY city",
    "SELECT COUNT(DISTINCT city), CORR(price, price * price) FROM orders",
    "SELECT category, SUM(quantity) FROM lines JOIN products ON id = product GROUP BY category HAVING COUNT(*) > 3",
    "SELECT city, COUNT(*) FROM orders GROUP BY ROLLUP (city)",
    "SELECT (SELECT COUNT(*) FROM customers) * 1.0 / (SELECT COUNT(*) FROM orders) AS share",
    "SELECT HISTOGRAM(price, [0, 100, 500]) FROM orders",
]


@pytest.mark.parametrize(("query", "mechanism"), list(zip(QUERIES, ["laplace", "gaussian"] * 4, strict=True)))
def test_a_statement_that_keeps_its_promise_passes(audited, query, mechanism):
    kinds = ["many rows", "odd rows", "at the threshold"]
    report = audited(query, mechanism=mechanism, epsilon=4, min_frequency=4, runs=24, only=kinds, **SURE)
    assert report.passed
    assert report.pairs


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
@pytest.mark.parametrize("query", QUERIES)
def test_a_statement_that_keeps_its_promise_passes_at_length(audited, query, mechanism):
    report = audited(query, mechanism=mechanism, epsilon=2, min_frequency=4, runs=2000, **SURE)
    assert report.passed


@pytest.mark.slow
@pytest.mark.parametrize("query", QUERIES)
def test_a_statement_that_keeps_its_promise_passes_through_the_whole_engine(audited, query):
    report = audited(query, epsilon=1, min_frequency=10, runs=120, depth="engine", **SURE)
    assert report.passed
