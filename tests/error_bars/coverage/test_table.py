"""The table of `benchmarks/coverage.py`: every interval holds as often as it says, and is not longer than its limit."""

import importlib.util
import sys
from pathlib import Path

import pytest
from scipy.stats import binom

PATH = Path(__file__).parents[3] / "benchmarks" / "coverage.py"
SPECIFICATION = importlib.util.spec_from_file_location("coverage_table", PATH)
TABLE = importlib.util.module_from_spec(SPECIFICATION)
sys.modules["coverage_table"] = TABLE
SPECIFICATION.loader.exec_module(TABLE)

FALSE_ALARM = 1e-9 / 1000
"""Rate at which one of the verdicts may fail although its intervals hold: all of them together once in 10^9."""

FEW, MANY = 2_000, 20_000
SHORT = ("COUNT", "SUM", "AVG", "SUM / SUM")
ROWS = [pytest.param(*row, id=f"{row[0].name}-{row[1]}-{row[2]}") for row in TABLE.settings()]


def holds(setting, mode, confidence, draws, **options):
    """True unless intervals that hold as often as they say would hold this seldom once in a trillion tables."""
    held, of = TABLE.hits(setting, mode, confidence, draws, **options)
    return binom.cdf(held, of, confidence) > FALSE_ALARM


def check_coverage(case, noise, size, draws, modes):
    setting = case.setting(noise, size)
    missed = [
        (mode, confidence)
        for mode in modes
        for confidence in TABLE.CONFIDENCES
        if not holds(setting, mode, confidence, draws)
    ]
    assert missed == []


def modes_in_turn(case, noise, size):
    """All modes of a quick estimator. Of one that takes seconds another mode for each size: together all of them."""
    if case.kind in {"linear", "quotient"} or case.name.startswith("COUNT"):
        return TABLE.MODES
    turn = TABLE.SIZES.index(size) + TABLE.NOISES.index(noise)
    return [TABLE.MODES[turn % len(TABLE.MODES)]]


@pytest.mark.parametrize(("case", "noise", "size"), ROWS)
def test_intervals_hold_as_often_as_they_say(case, noise, size):
    check_coverage(case, noise, size, FEW, modes_in_turn(case, noise, size))


@pytest.mark.slow
@pytest.mark.parametrize(("case", "noise", "size"), ROWS)
def test_intervals_hold_as_often_as_they_say_in_many_draws(case, noise, size):
    check_coverage(case, noise, size, MANY, TABLE.MODES)


@pytest.mark.parametrize(("case", "noise", "size"), ROWS)
def test_intervals_are_no_longer_than_their_limit(case, noise, size):
    """A quantile that is above the median with the probability of a false alarm must be within the limit."""
    draws = FEW // 8
    ratios = TABLE.widths(case.setting(noise, size), draws, binom.ppf(FALSE_ALARM, draws, 0.5) / draws)
    limits = [TABLE.limit(case, noise, size, confidence) for confidence in TABLE.CONFIDENCES]
    assert [ratio for ratio, limit in zip(ratios, limits, strict=True) if ratio > limit] == []


@pytest.mark.parametrize("noise", TABLE.NOISES)
@pytest.mark.parametrize("name", [*SHORT, "VAR_POP", "COVAR_POP"])
def test_intervals_that_are_30_percent_too_short_are_rejected(name, noise):
    [case] = [case for case in TABLE.CASES if case.name == name]
    assert not holds(case.setting(noise, 1000), "plain", 0.95, FEW, factor=0.7)


@pytest.mark.parametrize("name", SHORT)
def test_picked_rows_without_their_own_level_are_rejected(name):
    """The largest of fifty with a plain interval: what a selection that is ignored would look like."""
    [case] = [case for case in TABLE.CASES if case.name == name]
    setting = case.setting("gaussian", 250)
    draws, groups = FEW, TABLE.PICKED_FROM
    noisy = setting.draw(groups * draws, 0.05)
    largest = setting.values(noisy).reshape(draws, groups).argmax(axis=1)
    lower, upper = setting.interval(noisy[:, largest + groups * TABLE.np.arange(draws)], 0.05)
    held = int(((lower <= setting.truth) & (setting.truth <= upper)).sum())
    assert binom.cdf(held, draws, 0.95) < FALSE_ALARM


def test_every_exception_is_a_row_of_the_table_and_has_a_reason():
    rows = {(case.name, noise, size) for case, noise, size in TABLE.settings()}
    assert set(TABLE.EXCEPTIONS) <= rows
    assert all(reason for _, reason in TABLE.EXCEPTIONS.values())
