"""That noise is there: one number, several, and where one is too few."""

import pytest

import hedgerow as hr
from hedgerow.errors import ConditionNotMet
from hedgerow.testing import assert_noisy, tolerance


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_a_sum_has_noise(people, ask, mechanism):
    answer = ask(people, "SELECT SUM(x) AS n FROM t", mechanism=mechanism)
    assert_noisy(answer["n"][0], 18_000, answer.receipt)


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_counts_have_noise_where_there_are_enough_of_them(people, ask, mechanism):
    answers = [ask(people, "SELECT COUNT(*) AS n FROM t", mechanism=mechanism, epsilon=0.05) for _ in range(9)]
    assert_noisy([answer["n"][0] for answer in answers], 4000, answers[0].receipt)


@pytest.mark.parametrize("value", [4000, 4000.0, 4001])
def test_one_count_may_be_right_by_chance_so_it_proves_nothing(value):
    with pytest.raises(ConditionNotMet, match="noise is zero") as caught:
        assert_noisy(value, 4000, hr.Gaussian(5.0))
    assert "assert_distribution" in caught.value.hint


def test_a_count_with_very_wide_noise_is_tested_alone():
    assert_noisy(4001, 4000, hr.Gaussian(1001.0), flakiness=1e-3)
    with pytest.raises(AssertionError, match="there is no noise in it"):
        assert_noisy(4000, 4000, hr.Gaussian(1001.0), flakiness=1e-3)


def test_several_exact_counts_are_found_out():
    with pytest.raises(AssertionError, match="Each of 9 numbers is within 0 of 4000"):
        assert_noisy([4000] * 9, 4000, hr.Laplace(11.0))
    assert_noisy([4000] * 8 + [4001], 4000, hr.Laplace(11.0))


@pytest.mark.parametrize("noise", [hr.Gaussian(10.0), hr.Laplace(10.0)])
def test_a_number_without_noise_is_found_out(noise):
    near = 1e-9 * (12.533141 if isinstance(noise, hr.Gaussian) else 10.0)
    with pytest.raises(AssertionError, match="there is no noise in it"):
        assert_noisy(0.5, 0.5, noise)
    with pytest.raises(AssertionError, match="there is no noise in it"):
        assert_noisy(0.5 + 0.99 * near, 0.5, noise)
    assert_noisy(0.5 + 1.01 * near, 0.5, noise)


def test_several_numbers_share_the_flakiness():
    """Three numbers within what one in a thousand is within, which happens once in 1e9."""
    near = tolerance.complementary_gaussian(10.0, 3)
    with pytest.raises(AssertionError, match="Each of 3 numbers"):
        assert_noisy([0.5 + 0.99 * near, 0.5, 0.5 - 0.99 * near], 0.5, hr.Gaussian(10.0))
    assert_noisy([0.5 + 1.01 * near, 0.5, 0.5], 0.5, hr.Gaussian(10.0))


def test_noise_on_a_known_grid_is_held_to_that_grid():
    with pytest.raises(ConditionNotMet, match="noise is zero"):
        assert_noisy(0.5, 0.0, hr.Laplace(10.0, step=0.5))
    assert_noisy([0.0] * 8 + [0.5], 0.0, hr.Laplace(6.0, step=0.5))


def test_an_average_has_noise(people, ask):
    """Its complementary tolerance follows from the noises that the receipt names."""
    answer = ask(people, "SELECT AVG(x) AS m FROM t", mechanism="gaussian")
    count, total = answer.receipt.mechanisms
    part = tolerance.partitions(9, 2)
    near = tolerance.complementary_mean(
        count=4000,
        centred_sum=4000 * -0.5,
        count_tolerance=tolerance.gaussian(count.scale, part),
        sum_complementary=tolerance.complementary_gaussian(total.scale, part),
        half_range=5.0,
    )
    assert_noisy(answer["m"][0], 4.5, near)
    with pytest.raises(AssertionError, match="there is no noise in it"):
        assert_noisy(4.5, 4.5, near)


def test_no_numbers_show_no_noise():
    with pytest.raises(AssertionError, match="no numbers"):
        assert_noisy([], 4.5, hr.Gaussian(10.0))
