"""Conditions over intervals never say more than is sure."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.error_bars.intervals import Bounds
from hedgerow.error_bars.intervals.arithmetic import COMPARISONS, Verdict, both, chosen, compared, either, undecided

TRUTHS = [True, False, None]
SAYS = {
    "less": lambda a, b: a < b,
    "less_or_equal": lambda a, b: a <= b,
    "greater": lambda a, b: a > b,
    "greater_or_equal": lambda a, b: a >= b,
    "equal": lambda a, b: a == b,
    "unequal": lambda a, b: a != b,
}
ends = st.tuples(st.integers(-3, 3), st.integers(0, 3)).map(lambda pair: (pair[0], pair[0] + pair[1]))


def bounds(lower, upper):
    return Bounds.of(np.array([float(lower)]), np.array([float(upper)]))


def verdict(truth):
    return Verdict(*(np.array([truth is value]) for value in TRUTHS))


def says(actual):
    return next(
        (value for value, flag in zip(TRUTHS, (actual.true, actual.false, actual.null), strict=True) if flag), ...
    )


@given(st.sampled_from(sorted(COMPARISONS)), ends, ends)
def test_a_comparison_is_decided_just_where_all_points_agree(name, left, right):
    actual = compared(name, bounds(*left), bounds(*right), np.array([False]))
    values = {SAYS[name](a, b) for a in np.linspace(*left, 13) for b in np.linspace(*right, 13)}
    assert says(actual) == (values.pop() if len(values) == 1 else ...)


def test_a_missing_side_is_null_whatever_the_other_is():
    assert says(compared("less", bounds(0, 1), bounds(2, 3), np.array([True]))) is None


def test_an_unknown_function_is_undecided():
    assert says(compared("like", bounds(0, 1), bounds(2, 3), np.array([False]))) is ...


@pytest.mark.parametrize("left", TRUTHS)
@pytest.mark.parametrize("right", TRUTHS)
def test_and_or_not_follow_three_valued_logic(left, right):
    conjunction = False if False in (left, right) else None if None in (left, right) else True
    disjunction = True if True in (left, right) else None if None in (left, right) else False
    assert says(both(verdict(left), verdict(right))) is conjunction
    assert says(either(verdict(left), verdict(right))) is disjunction
    assert says(verdict(left).inverted()) is (None if left is None else not left)


@pytest.mark.parametrize(("sure", "joined"), [(False, both), (True, either)])
def test_one_sure_side_is_enough(sure, joined):
    assert says(joined(verdict(sure), undecided(1))) is sure
    assert says(joined(verdict(not sure), undecided(1))) is ...


@pytest.mark.parametrize(
    ("condition", "expected"),
    [(True, (1, 2)), (False, (8, 9)), (None, (8, 9)), (..., (1, 9))],
)
def test_a_case_is_the_hull_of_the_branches_left_open(condition, expected):
    lower, upper = chosen([undecided(1) if condition is ... else verdict(condition)], [bounds(1, 2), bounds(8, 9)])
    assert (lower[0], upper[0]) == expected
