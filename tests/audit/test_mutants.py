"""The auditor finds planted bugs, and leaves the engine alone that has none.

Each audit of a bug is made so that the bug stays hidden less than once in 10^9 times: the difference between what
the runs show and what is claimed is at least six standard errors. Each audit of the engine as it is blames it less than
once in 10^9 times, by its confidence.
"""

import pytest

from hedgerow.audit import KINDS

from . import mutants
from .conftest import FALSE_ALARM

TOTAL = "SELECT SUM(price) FROM orders"
PEOPLE = "SELECT city, COUNT(DISTINCT customer_id) FROM orders GROUP BY city"
SURE = {"confidence": 1 - FALSE_ALARM}


CASES = {
    "halved_noise": (TOTAL, {"mechanism": "gaussian", "epsilon": 8, "runs": 900, "only": ["high values"]}),
    "counted_twice": (TOTAL, {"mechanism": "gaussian", "epsilon": 8, "runs": 1400, "only": ["many rows"]}),
    "unbounded_rows": (TOTAL, {"mechanism": "laplace", "epsilon": 1, "runs": 160, "only": ["many rows"]}),
    "clamp_after_sum": (TOTAL, {"mechanism": "laplace", "epsilon": 1, "runs": 160, "only": ["high values"]}),
    "wrong_k": (
        PEOPLE,
        {"mechanism": "laplace", "epsilon": 1, "runs": 160, "min_frequency": 40, "only": ["pivotal person"]},
    ),
    "float_noise": (
        "SELECT COUNT(*) FROM customers",
        {"mechanism": "laplace", "epsilon": 1, "runs": 1000, "only": ["alone"]},
    ),
}


@pytest.mark.parametrize("bug", CASES)
def test_a_planted_bug_is_found(audited, monkeypatch, bug):
    query, options = CASES[bug]
    getattr(mutants, bug)(monkeypatch)
    assert not audited(query, **options).passed


@pytest.mark.parametrize("bug", CASES)
def test_the_engine_without_the_bug_passes_the_same_audit(audited, bug):
    query, options = CASES[bug]
    report = audited(query, **{**options, **SURE})
    assert report.passed
    assert len(report.pairs) == 1


DEEP = {
    "unbounded_rows": (TOTAL, {"mechanism": "laplace", "epsilon": 1, "only": ["many rows"]}),
    "clamp_after_sum": (TOTAL, {"mechanism": "laplace", "epsilon": 1, "only": ["high values"]}),
    "wrong_k": (PEOPLE, {"mechanism": "laplace", "epsilon": 1, "min_frequency": 40, "only": ["pivotal person"]}),
}


@pytest.mark.parametrize("bug", DEEP)
def test_a_planted_bug_is_found_through_the_whole_engine(audited, monkeypatch, bug):
    query, options = DEEP[bug]
    getattr(mutants, bug)(monkeypatch)
    assert not audited(query, depth="engine", runs=60, **options).passed


@pytest.mark.slow
@pytest.mark.parametrize("bug", CASES)
def test_a_planted_bug_is_found_through_the_whole_engine_with_all_pairs(audited, monkeypatch, bug):
    query, options = CASES[bug]
    getattr(mutants, bug)(monkeypatch)
    assert not audited(query, **{**options, "depth": "engine", "only": KINDS}).passed


def test_halved_laplace_noise_is_found_by_its_epsilon(audited, monkeypatch):
    mutants.halved_noise(monkeypatch)
    report = audited(
        "SELECT SUM(income) FROM customers", mechanism="laplace", epsilon=1.6, runs=3000, only=["high values"]
    )
    assert report.claim.mu is None
    assert report.epsilon > 1.6


def test_float_noise_is_found_by_its_bits_and_by_what_they_tell(audited, monkeypatch):
    mutants.float_noise(monkeypatch)
    query, options = CASES["float_noise"]
    (pair,) = audited(query, **options).pairs
    assert pair.off_lattice > 0.99 * pair.decided
    assert "lowest bit" in pair.epsilon.event
    assert pair.epsilon_bound > pair.claim.epsilon


def test_a_threshold_for_the_wrong_k_is_found_by_the_group_that_appears(audited, monkeypatch):
    mutants.wrong_k(monkeypatch)
    query, options = CASES["wrong_k"]
    (pair,) = audited(query, **options).pairs
    assert "is shown" in pair.epsilon.event
    assert pair.epsilon.likely_with
    assert pair.people == 39
    assert pair.epsilon.rare == 0


@pytest.mark.parametrize("depth", ["release", "engine"])
def test_a_statement_that_fails_because_of_a_row_is_found(audited, monkeypatch, depth):
    mutants.fails_on_rare_rows(monkeypatch)
    (pair,) = audited(TOTAL, mechanism="laplace", epsilon=1, runs=40, only=["high values"], depth=depth).pairs
    assert "the statement fails" in pair.epsilon.event
    assert (pair.epsilon.likely, pair.epsilon.rare) == (20, 0)
    assert not pair.passed


def test_the_bound_comes_close_to_the_claim(audited):
    """One person among three, Laplace noise: the bound of 2 000 runs is near 0.75 of 1, give or take 0.1."""
    report = audited("SELECT COUNT(*) FROM customers", mechanism="laplace", epsilon=1, runs=2000, only=["high values"])
    assert report.epsilon > 0.1


def test_the_bound_of_mu_comes_close_to_the_claim(audited):
    """Near 0.8 of the claim, give or take 0.08."""
    report = audited(TOTAL, mechanism="gaussian", epsilon=8, runs=1400, only=["many rows"])
    assert report.mu > 0.3 * report.claim.mu
