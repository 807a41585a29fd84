"""Equality up to the noise: by a receipt, by error bars, and what is refused."""

import subprocess
import sys
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.answer import Mechanism, Summary
from hedgerow.errors import ConditionNotMet, ParameterError
from hedgerow.testing import approx_private, tolerance

FLAKINESS = 1e-9
SURE = 1 - FLAKINESS


def is_about(noisy, expected):
    """The noisy number stands first, as it does in people's tests."""
    return noisy == expected


def receipt(*mechanisms):
    return Summary("0-1", "SELECT", mechanisms)


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_a_count_is_about_what_it_should_be_by_its_receipt(people, ask, mechanism):
    answer = ask(people, "SELECT COUNT(*) AS n FROM t", mechanism=mechanism)
    assert answer["n"][0] == approx_private(4000, answer.receipt, flakiness=FLAKINESS)
    assert answer["n"][0] != approx_private(4100, answer.receipt, flakiness=FLAKINESS)
    assert answer["n"][0] != approx_private(3900, answer.receipt, flakiness=FLAKINESS)


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize(("measure", "exact"), [("SUM(x)", 18_000.0), ("SUM(i)", 11_994), ("COUNT(*)", 4000)])
def test_a_number_that_is_one_measure_is_about_what_it_should_be(people, ask, mechanism, measure, exact):
    answer = ask(people, f"SELECT {measure} AS n FROM t", mechanism=mechanism)
    assert answer["n"][0] == approx_private(exact, answer.receipt)
    assert answer["n"][0] == approx_private(exact, answer.receipt.mechanisms[0])


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize(
    ("number", "exact"),
    [
        ("AVG(x)", 4.5),
        ("SUM(x) / COUNT(*)", 4.5),
        ("COUNT(*) * 2", 8000),
        ("MEDIAN(x)", 4.5),
        ("SQRT(COUNT(*))", 63.2456),
    ],
)
def test_any_number_is_about_what_it_should_be_by_its_error_bars(people, ask, mechanism, number, exact):
    answer = ask(people, f"SELECT {number} AS m FROM t", mechanism=mechanism, confidence=SURE)
    assert answer["m"][0] == approx_private(exact, answer, flakiness=FLAKINESS)
    assert answer["m"][0] != approx_private(exact * 1.5, answer, flakiness=FLAKINESS)


def test_cells_of_a_table_share_the_flakiness(people, ask):
    answer = ask(people, "SELECT g, AVG(x) AS m, COUNT(*) AS n FROM t GROUP BY g", confidence=1 - 1e-10)
    for value in answer["m"]:
        assert value == approx_private(4.5, answer, column="m", cells=2)
    for value in answer["n"]:
        assert value == approx_private(2000, answer, column="n", cells=2)


def test_the_tolerance_is_that_of_the_noise_to_the_last_bit():
    wide = tolerance.gaussian(10.0, 6)
    for value, within in ((1000 + wide * (1 - 1e-9), True), (1000 - wide * (1 + 1e-9), False)):
        assert (value == approx_private(1000, hr.Gaussian(10.0), flakiness=1e-6)) is within
    wide = tolerance.laplace(10.0, 1.0, 6)
    for value, within in ((1000 + wide * (1 - 1e-9), True), (1000 - wide * (1 + 1e-9), False)):
        assert (value == approx_private(1000, hr.Laplace(10.0), flakiness=1e-6)) is within


def test_whole_numbers_get_a_whole_tolerance():
    """2.6 becomes 3 and 2.4 becomes 2; a sum of whole numbers is on the same grid."""
    wide, narrow = (hr.Laplace(t / tolerance.laplace(1.0, 1.0, 3)) for t in (2.6, 2.4))
    for number in (int, float, Decimal, np.int64, np.float64):
        assert number(13) == approx_private(10, wide, flakiness=1e-3)
        assert number(13) != approx_private(10, narrow, flakiness=1e-3)
        assert number(12) == approx_private(10, narrow, flakiness=1e-3)
    assert is_about(12.5, approx_private(10, wide, flakiness=1e-3))
    assert not is_about(12.5, approx_private(10, narrow, flakiness=1e-3))


def test_a_rounded_number_may_be_half_a_step_further_from_one_that_is_not_whole():
    noise = hr.Laplace(2.4 / tolerance.laplace(1.0, 1.0, 3))
    assert is_about(13, approx_private(10.2, noise, flakiness=1e-3))
    assert not is_about(14, approx_private(10.2, noise, flakiness=1e-3))


def test_noise_on_a_grid_of_its_own_gets_steps_of_it():
    noise = hr.Laplace(2.4 / tolerance.laplace(1.0, 1.0, 3), step=0.5)
    assert is_about(12.5, approx_private(10, noise, flakiness=1e-3))
    assert not is_about(13.0, approx_private(10, noise, flakiness=1e-3))


@pytest.mark.parametrize("other", [None, "1000", True, [1000], float("nan"), float("inf")])
def test_nothing_else_is_equal_to_it(other):
    assert other != approx_private(1000, hr.Gaussian(1.0))
    assert other != approx_private(1, hr.Gaussian(1.0))


def test_numpy_leaves_the_comparison_to_it():
    expected = approx_private(1000, hr.Gaussian(1.0))
    assert np.float64(1000.5) == expected
    assert expected == np.float64(1000.5)
    assert np.int64(1100) != expected


def test_its_words_say_how_far_it_may_be_off(people, ask):
    assert repr(approx_private(1000, hr.Gaussian(10.0), 1e-6)) == "1000 ± 48.9164 (flakiness 1e-06)"
    answer = ask(people, "SELECT AVG(x) AS m FROM t", confidence=SURE)
    assert repr(approx_private(4.5, answer)).startswith("4.5 within the error bar of 'm': ")


def test_several_measures_must_be_told_apart():
    built = receipt(Mechanism("rows", "gaussian", 5.0, 1.0), Mechanism("sum of x", "gaussian", 50.0, 10.0))
    with pytest.raises(ConditionNotMet, match="'rows', 'sum of x'"):
        approx_private(100, built)
    assert not is_about(150.5, approx_private(100, built, measure="rows"))
    assert is_about(150.5, approx_private(100, built, measure="sum of x"))
    with pytest.raises(ParameterError, match="measure must be one of"):
        approx_private(100, built, measure="people")


def test_a_count_that_selected_its_group_is_compared_where_it_is_seen_half_of_the_time():
    selecting = Mechanism("people per group", "gaussian", 10.0, 1.0, threshold=80.0)
    just, beyond = (tolerance.gaussian(10.0, 6 + np.log10(2)) * factor for factor in (1 - 1e-6, 1 + 1e-6))
    assert 100.5 + just == approx_private(100.5, receipt(selecting), 1e-6)
    assert 100.5 + beyond != approx_private(100.5, receipt(selecting), 1e-6)
    with pytest.raises(ConditionNotMet, match="only because its noise happened to be large"):
        approx_private(70, receipt(selecting))


def test_the_count_that_selects_is_not_taken_for_the_measure():
    selecting = Mechanism("people per group", "gaussian", 10.0, 1.0, threshold=80.0)
    built = receipt(selecting, Mechanism("sum of x", "gaussian", 1.0, 1.0))
    assert not is_about(30.5, approx_private(10, built))
    assert is_about(15.5, approx_private(10, built))


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_a_grouped_count_is_about_what_it_should_be_by_its_receipt(people, ask, mechanism):
    answer = ask(people, "SELECT g, COUNT(*) AS n FROM t GROUP BY g", mechanism=mechanism, min_frequency=10)
    assert len(answer) == 2
    for value in answer["n"]:
        assert value == approx_private(2000, answer.receipt, cells=2)


def test_what_was_drawn_by_rank_has_no_tolerance(people, ask):
    answer = ask(people, "SELECT MEDIAN(x) AS m FROM t")
    with pytest.raises(ConditionNotMet, match="one of rank"):
        approx_private(4.5, answer.receipt)


def test_exact_numbers_need_no_tolerance():
    with pytest.raises(ConditionNotMet, match="public data is exact"):
        approx_private(1, Summary(None, "SELECT 1"))


def test_error_bars_that_hold_too_seldom_are_refused(people, ask):
    answer = ask(people, "SELECT AVG(x) AS m FROM t", confidence=0.999)
    with pytest.raises(ConditionNotMet, match=r"hold with confidence 0\.999") as caught:
        approx_private(4.5, answer, flakiness=1e-9)
    assert "confidence=1 - 1e-09" in caught.value.hint
    with pytest.raises(ConditionNotMet, match="hold with confidence"):
        approx_private(4.5, answer, flakiness=1e-3, cells=2)
    assert approx_private(4.5, answer, flakiness=1e-3).flakiness == 1e-3


def test_approximate_error_bars_are_refused():
    bars = [{"v": hr.Interval(1.0, 3.0, kind="approximate")}]
    answer = hr.Answer(pa.table({"v": [1.5]}), bars, SURE, receipt())
    with pytest.raises(ConditionNotMet, match="approximate or open"):
        answer["v"][0] == approx_private(2.0, answer)  # noqa: B015 - it is the comparison that refuses


def test_open_error_bars_are_refused():
    bars = [{"v": hr.Interval(note="the denominator may be zero")}]
    answer = hr.Answer(pa.table({"v": [1.5]}), bars, SURE, receipt())
    with pytest.raises(ConditionNotMet, match="approximate or open"):
        answer["v"][0] == approx_private(1.0, answer)  # noqa: B015


def test_the_column_must_be_a_noisy_one(people, ask):
    answer = ask(people, "SELECT g, COUNT(*) AS n, AVG(x) AS m FROM t GROUP BY g", confidence=SURE)
    for column in (None, "g", "nobody"):
        with pytest.raises(ParameterError, match=r'column must be one of "n", "m"'):
            approx_private(2000, answer, column=column)


def test_something_that_is_no_noise_is_refused():
    with pytest.raises(ParameterError, match="The noise must be that of a receipt"):
        approx_private(1000, 5.0)


def test_a_number_that_the_answer_does_not_hold_is_not_equal(people, ask):
    answer = ask(people, "SELECT AVG(x) AS m FROM t", confidence=SURE)
    assert 4.5 + 1e-7 + answer["m"][0] != approx_private(4.5, answer)


def test_it_has_no_hash():
    with pytest.raises(TypeError, match="unhashable"):
        hash(approx_private(1000, hr.Gaussian(1.0)))


def test_importing_it_needs_no_pytest():
    code = "import sys, hedgerow.testing; sys.exit(any(name.startswith(('pytest', '_pytest')) for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603 - our own arguments
