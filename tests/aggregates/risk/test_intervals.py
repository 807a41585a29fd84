"""Error bars hold: those about the noise over the people counted, those about a population over draws from it."""

import numpy as np
import pytest

both = pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
GROUPS = 300
CONFIDENCE = 0.9
FIRST, SECOND = 0.35, 0.2
TRUE = {
    "RELATIVE_RISK": FIRST / SECOND,
    "LIFT": FIRST / SECOND - 1,
    "RISK_DIFFERENCE": FIRST - SECOND,
    "ODDS_RATIO": (FIRST / (1 - FIRST)) / (SECOND / (1 - SECOND)),
}
ALL = ", ".join(f"{name}(ill, smokes) AS {name}" for name in TRUE)
SLACK = 0.01
"""The largest allowed shortfall of an interval's coverage at the sizes here."""


@both
@pytest.mark.parametrize("size", [40, 400])
def test_noise_intervals_hold_what_was_counted(clinic, ask, chances, ends, mechanism, size):
    db = clinic(GROUPS, size, first=FIRST, second=SECOND)
    options = {"mechanism": mechanism, "confidence": CONFIDENCE, "epsilon": 1.0}
    answer = ask(db, f"SELECT g, {ALL} FROM t GROUP BY g", **options)
    counted = "SELECT g, AVG(ill::INT) FILTER (smokes), AVG(ill::INT) FILTER (NOT smokes) FROM t GROUP BY g"
    rates = {key: pair for key, *pair in db.owner.execute(counted).fetchall()}
    x, y = np.array([rates[key] for key in answer["g"]]).T
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = {"RELATIVE_RISK": x / y, "LIFT": x / y - 1, "RISK_DIFFERENCE": x - y}
        exact["ODDS_RATIO"] = (x * (1 - y)) / ((1 - x) * y)
    for name, values in exact.items():
        lower, upper = ends(answer, name)
        known = np.isfinite(values)
        held = ((lower - 1e-9 <= values) & (values <= upper + 1e-9))[known]
        assert chances.is_as_common_as(held, CONFIDENCE - SLACK), name
    lower, upper = ends(answer, "RISK_DIFFERENCE")
    narrowed = 2 if size == 400 else 10  # in small groups the range of a difference ends most intervals
    holds = np.abs(exact["RISK_DIFFERENCE"] - (lower + upper) / 2) <= (upper - lower) / 2 / narrowed
    assert not chances.is_as_common_as(holds, CONFIDENCE - SLACK)


@both
@pytest.mark.parametrize("size", [60, 400])
def test_population_intervals_hold_the_population(clinic, ask, chances, ends, mechanism, size):
    db = clinic(GROUPS, size, first=FIRST, second=SECOND)
    answer = ask(db, f"SELECT g, {ALL} FROM t GROUP BY g", mechanism=mechanism, confidence=CONFIDENCE, epsilon=2.0)
    for name, value in TRUE.items():
        lower, upper = ends(answer, name, population=True)
        assert chances.is_as_common_as((lower <= value) & (value <= upper), CONFIDENCE - SLACK), name


def test_noise_intervals_are_too_short_for_the_population(clinic, ask, chances, ends):
    db = clinic(GROUPS, 400, first=FIRST, second=SECOND)
    answer = ask(db, f"SELECT g, {ALL} FROM t GROUP BY g", confidence=CONFIDENCE, epsilon=5.0)
    for name, value in TRUE.items():
        lower, upper = ends(answer, name)
        assert not chances.is_as_common_as((lower <= value) & (value <= upper), CONFIDENCE - SLACK), name


@both
@pytest.mark.parametrize("size", [60, 400])
def test_p_values_are_small_as_seldom_as_they_should_be(clinic, ask, chances, mechanism, size):
    db = clinic(GROUPS, size, first=0.3, second=0.3)
    answer = ask(db, "SELECT g, LIFT(ill, smokes) AS l FROM t GROUP BY g", mechanism=mechanism, epsilon=2.0)
    actual = np.array([row["l"].p_value for row in answer.intervals])
    for level in (0.01, 0.05, 0.2, 0.5):
        assert chances.is_as_rare_as(actual <= level, level + SLACK), level
    assert chances.is_as_common_as(actual <= 0.5, 0.4)
    assert chances.is_as_common_as(actual <= 0.2, 0.15)


def test_a_difference_is_seen_in_most_groups(clinic, ask, chances):
    db = clinic(GROUPS, 400, first=0.4, second=0.2)
    answer = ask(db, "SELECT g, LIFT(ill, smokes) AS l FROM t GROUP BY g", epsilon=2.0)
    actual = np.array([row["l"].p_value for row in answer.intervals])
    assert chances.is_as_common_as(actual <= 0.05, 0.95)


def test_p_value_and_population_interval_agree(clinic, ask, ends):
    db = clinic(GROUPS, 100, first=0.35, second=0.25)
    nulls = {"RELATIVE_RISK": 1, "LIFT": 0, "RISK_DIFFERENCE": 0, "ODDS_RATIO": 1}
    answer = ask(db, f"SELECT g, {ALL} FROM t GROUP BY g", confidence=CONFIDENCE, epsilon=2.0)
    for name, null in nulls.items():
        lower, upper = ends(answer, name, population=True)
        p_values = np.array([row[name].p_value for row in answer.intervals])
        clear = np.abs(p_values - (1 - CONFIDENCE)) > 1e-3
        outside = (null < lower) | (null > upper)
        assert np.array_equal((p_values < 1 - CONFIDENCE)[clear], outside[clear]), name
        assert outside.any()
        assert not outside.all()


def test_more_confidence_makes_both_intervals_longer(clinic, ends):
    db = clinic(size=1000)
    query = "SELECT RELATIVE_RISK(ill, smokes) AS r FROM t"
    for population in (False, True):
        (low, high), (lower, higher) = (
            ends(db.sql(query, epsilon=1.0, confidence=level), "r", population=population).T[0] for level in (0.8, 0.99)
        )
        assert lower < low < high < higher
