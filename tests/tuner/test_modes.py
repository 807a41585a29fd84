"""The three modes of the tuner: what they suggest is enough, and hardly more than enough."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from hedgerow.accuracy import average_error, gaussian_sigma, laplace_error, quotient_error
from hedgerow.arguments import MECHANISMS
from hedgerow.errors import ConditionNotMet, ParameterError
from hedgerow.tuner import known_size, split_budget, unknown_size

FALSE_ALARM = 1e-9
TRIALS = 40_000
chance = st.floats(1e-6, 0.45)


def delta(mechanism, whole=1e-6):
    return 0.0 if mechanism == "laplace" else whole


@settings(deadline=None)
@given(
    epsilon=st.floats(1e-4, 0.02),
    beta=chance,
    low=st.floats(0.1, 100),
    ratio=st.floats(1, 5),
    gamma=st.floats(0.001, 0.8),
)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_what_mode_two_suggests_makes_the_prediction_valid_and_less_does_not(
    mechanism, epsilon, beta, low, ratio, gamma
):
    shared = {
        "lower": low,
        "upper": low * ratio,
        "gamma": gamma,
        "delta": delta(mechanism),
        "mechanism": mechanism,
        "epsilon_count": epsilon,
    }
    count = unknown_size(beta=beta, **shared).min_count
    actual = known_size(count, beta=beta, **shared)
    enough = average_error(count, epsilon_sum=actual.epsilon_sum, beta=2 * beta, **shared)
    assert enough.valid
    assert math.isfinite(enough.error)
    less = average_error(count, epsilon_sum=actual.epsilon_sum * 0.999, beta=2 * beta, **shared)
    assert [condition.name for condition in less.conditions if not condition.holds] == [
        "budget"
    ] or actual.epsilon_sum == 0


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_with_so_many_rows_the_count_is_precise_enough_as_often_as_promised(mechanism):
    shared = {"epsilon_count": 0.01, "beta": 0.05, "lower": 1, "upper": 2, "delta": delta(mechanism)}
    size = unknown_size(mechanism=mechanism, **shared).min_count
    generator = np.random.default_rng()
    if mechanism == "laplace":
        counts, bound = size + generator.laplace(0, 100, TRIALS), laplace_error(1, 0.01, 0.05)
    else:
        sigma = gaussian_sigma(0.01, 1e-6, method="classic" if mechanism == "gaussian" else "analytic")
        counts, bound = size + generator.normal(0, sigma, TRIALS), size * 0.1 / 1.1
    assert np.sum(bound / counts > 0.1) <= binom.isf(FALSE_ALARM, TRIALS, 0.05)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_quotient_gets_a_pair(mechanism):
    shared = {"epsilon_count": 0.05, "beta": 0.01, "delta": delta(mechanism), "mechanism": mechanism}
    actual = unknown_size(lower=(1, 2), upper=(4, 5), **shared)
    first, second = (unknown_size(lower=low, upper=high, **shared) for low, high in ((1, 4), (2, 5)))
    assert actual.epsilon_sum == (first.epsilon_sum, second.epsilon_sum)
    assert actual.min_count == first.min_count == second.min_count
    predicted = quotient_error(
        actual.min_count,
        lowers=(1, 2),
        uppers=(4, 5),
        epsilon_count=0.05,
        epsilon_sums=actual.epsilon_sum,
        beta=0.03,
        delta=delta(mechanism),
        mechanism=mechanism,
    )
    assert predicted.valid


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("gamma", [0.01, 0.1, 0.5])
def test_for_a_range_with_zero_in_it_the_error_is_small_beside_the_largest_value(mechanism, gamma):
    shared = {"lower": -3, "upper": 8, "epsilon_count": 0.05, "gamma": gamma, "delta": delta(mechanism)}
    actual = unknown_size(beta=0.025, mechanism=mechanism, **shared)
    bound = laplace_error(1, 0.05, 0.025) if mechanism == "laplace" else actual.min_count * gamma / (1 + gamma)
    predicted = average_error(bound / gamma, epsilon_sum=actual.epsilon_sum, beta=0.05, mechanism=mechanism, **shared)
    assert predicted.valid
    assert predicted.error <= 2 * gamma * 8 / (1 + gamma)


def test_the_mirror_image_of_a_range_needs_the_same():
    shared = {"epsilon_count": 0.05, "beta": 0.05}
    assert unknown_size(lower=-10, upper=-1, **shared) == unknown_size(lower=1, upper=10, **shared)


def test_a_count_that_is_too_small_is_not_met():
    shared = {"epsilon_count": 0.001, "beta": 0.05, "lower": 1, "upper": 100}
    for count in (8899, 0, -99_937):
        with pytest.raises(ConditionNotMet) as caught:
            known_size(count, **shared)
        assert caught.value.condition == "alpha_count / noisy_count <= gamma"
        assert "29,958" in caught.value.hint
    assert known_size(29_958, **shared).epsilon_sum == pytest.approx(0.12222, abs=1e-5)


def test_the_classic_mechanism_is_not_suggested_where_it_is_not_proved():
    shared = {"epsilon_count": 0.5, "beta": 0.05, "lower": 1, "upper": 10, "delta": 1e-6}
    with pytest.raises(ConditionNotMet) as caught:
        unknown_size(mechanism="gaussian", **shared)
    assert caught.value.condition == "epsilon_sum < 1"
    assert unknown_size(mechanism="analytic", **shared).epsilon_sum > 1
    table = split_budget([50], [100.0], beta=0.05, lower=1, upper=10, delta=1e-6, mechanism="gaussian")
    assert table["epsilon_total"][0].as_py() < 100
    assert table["feasible"].to_pylist() == [False]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_what_mode_three_suggests_makes_the_prediction_valid_at_that_size(mechanism):
    table = split_budget(
        [3_000, 30_000], [0.5, 5.0], beta=0.05, lower=1, upper=4, delta=delta(mechanism), mechanism=mechanism
    )
    assert table.num_rows == 4
    assert table["feasible"].to_pylist() == [a <= b for a, b in zip(*_columns(table), strict=True)]
    for row in table.to_pylist():
        assert row["epsilon_total"] == pytest.approx(row["epsilon_count"] + row["epsilon_sum"])
        predicted = average_error(
            row["size"],
            lower=1,
            upper=4,
            epsilon_count=row["epsilon_count"],
            epsilon_sum=row["epsilon_sum"],
            beta=0.05,
            delta=delta(mechanism, 5e-7),
            mechanism=mechanism,
        )
        assert predicted.valid


def _columns(table):
    return table["epsilon_total"].to_pylist(), table["epsilon_max"].to_pylist()


@pytest.mark.parametrize("mechanism", ["gaussian", "analytic"])
@pytest.mark.parametrize(("lower", "upper", "parts"), [(1, 4, 2), ((1, 2), (4, 5), 3)])
def test_mode_three_shares_out_beta_and_delta_over_all_releases(mechanism, lower, upper, parts):
    table = split_budget([20_000], [1.0], beta=0.06, lower=lower, upper=upper, delta=6e-6, mechanism=mechanism)
    epsilon = table["epsilon_count"][0].as_py()
    tuned = unknown_size(
        epsilon_count=epsilon, beta=0.06 / parts, lower=lower, upper=upper, delta=6e-6 / parts, mechanism=mechanism
    )
    assert tuned.min_count in {20_000, 20_001}
    assert table["epsilon_sum"][0].as_py() == pytest.approx(
        list(tuned.epsilon_sum) if parts == 3 else tuned.epsilon_sum, rel=1e-9
    )


def test_the_table_of_mode_three_is_an_arrow_table_with_the_promised_columns():
    table = split_budget([1e4, 1e5, 1e6], 0.041, beta=0.05, lower=1, upper=10)
    assert isinstance(table, pa.Table)
    names = ["epsilon_max", "size", "epsilon_count", "epsilon_sum", "epsilon_total", "feasible"]
    assert table.column_names == names
    pairs = split_budget([1e4], [1.0, 2.0], beta=0.05, lower=(1, 1), upper=(10, 2))
    assert pairs.schema.field("epsilon_sum").type == pa.list_(pa.float64(), 2)
    assert pairs.num_rows == 2


def test_grids_give_arrays():
    actual = unknown_size(epsilon_count=np.array([0.25, 0.75]), beta=0.025, lower=1, upper=np.array([[2], [10]]))
    assert actual.min_count.tolist() == [163, 55]
    assert actual.epsilon_sum.shape == (2, 2)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: unknown_size(epsilon_count=0, beta=0.05, lower=1, upper=2), "parameter-positive"),
        (lambda: unknown_size(epsilon_count=1, beta=0.05, lower=(1, 1), upper=2), "parameter-pair"),
        (lambda: unknown_size(epsilon_count=1, beta=0.05, lower=(1, 1, 1), upper=(2, 2, 2)), "parameter-pair"),
        (lambda: unknown_size(epsilon_count=1, beta=0.05, lower=(1, -1), upper=(2, 2)), "parameter-range"),
        (lambda: unknown_size(epsilon_count=1, beta=0.05, lower=1, upper=2, delta=1e-6), "parameter-delta"),
        (lambda: known_size([1, 2], epsilon_count=1, beta=0.05, lower=1, upper=2), "parameter-number"),
        (lambda: split_budget([], [1.0], beta=0.05, lower=1, upper=2), "parameter-number"),
        (lambda: split_budget([[1, 2]], [1.0], beta=0.05, lower=1, upper=2), "parameter-number"),
        (lambda: split_budget([0], [1.0], beta=0.05, lower=1, upper=2), "parameter-positive"),
        (lambda: split_budget([10], [1.0], beta=0.05, lower=1, upper=2, delta=1e-6), "parameter-delta"),
        (lambda: split_budget([10], [1.0], beta=0.05, lower=1, upper=np.array([2, 3])), "parameter-number"),
        (lambda: split_budget([10], [1.0], beta=0.05, lower=1, upper=2, mechanism="none"), "parameter-choice"),
    ],
)
def test_what_cannot_be_is_refused_by_its_code(call, code):
    with pytest.raises(ParameterError) as caught:
        call()
    assert caught.value.code == code
