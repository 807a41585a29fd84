import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hedgerow.error_bars.intervals.arithmetic import (
    OUTSIDE_DOMAIN,
    absolute,
    add,
    divide,
    maximum,
    minimum,
    monotone,
    multiply,
    negate,
    power,
    subtract,
)
from hedgerow.error_bars.intervals.interval import (
    EXACT,
    OUTSIDE,
    ZERO_DENOMINATOR,
    Bounds,
    Interval,
    IntervalKind,
    Reason,
    Status,
)
from hedgerow.errors import InternalError

numbers = st.floats(-1e6, 1e6)
SIMULATED = Status(IntervalKind.APPROXIMATE, Reason.SIMULATED, "simulated")


@st.composite
def around_a_point(draw):
    """A point and bounds that hold it, with infinite ends now and then."""
    point = draw(numbers)
    lower = draw(st.one_of(st.just(-math.inf), st.floats(-1e6, point)))
    upper = draw(st.one_of(st.just(math.inf), st.floats(point, 1e6)))
    return point, of(lower, upper)


def of(lower, upper, status=EXACT):
    return Bounds.of(np.array([lower]), np.array([upper]), status)


def holds(bounds, point):
    return bounds.lower[0] <= point <= bounds.upper[0]


PAIRS = {
    add: lambda x, y: x + y,
    subtract: lambda x, y: x - y,
    multiply: lambda x, y: x * y,
    minimum: min,
    maximum: max,
}


@pytest.mark.parametrize("operation", PAIRS)
@settings(deadline=None)
@given(left=around_a_point(), right=around_a_point())
def test_the_result_for_points_inside_lies_inside(operation, left, right):
    result = operation(left[1], right[1])
    assert holds(result, PAIRS[operation](left[0], right[0]))


@settings(deadline=None)
@given(around_a_point(), around_a_point())
def test_a_quotient_lies_inside_and_is_unbounded_where_the_denominator_may_be_zero(left, right):
    assume(right[0] != 0)
    result = divide(left[1], right[1])
    assert holds(result, left[0] / right[0])
    if holds(right[1], 0.0):
        assert (result.lower[0], result.upper[0]) == (-math.inf, math.inf)
        assert result.statuses == [ZERO_DENOMINATOR]


@settings(deadline=None)
@given(around_a_point(), st.integers(0, 5))
def test_negation_size_and_powers_lie_inside(operand, exponent):
    point, bounds = operand
    repeated = math.prod([point] * exponent)
    assert holds(negate(bounds), -point)
    assert holds(absolute(bounds), abs(point))
    assert holds(power(bounds, exponent), repeated)


@settings(deadline=None)
@given(around_a_point())
def test_monotone_functions_lie_inside(operand):
    point, bounds = operand
    assert holds(monotone(np.floor, bounds), math.floor(point))
    assert holds(monotone(np.negative, bounds, falling=True), -point)
    if point >= 0:
        assert holds(monotone(np.sqrt, bounds, domain=(0, math.inf)), math.sqrt(point))


def test_ends_are_as_close_as_they_can_be():
    assert multiply(of(-2, 3), of(-5, 4)).intervals() == [Interval(-15, 12)]
    assert divide(of(1, 4), of(-4, -2)).intervals() == [Interval(-2, -0.25)]
    assert power(of(-3, 2), 2).intervals() == [Interval(0, 9)]
    assert power(of(-3, 2), 3).intervals() == [Interval(-27, 8)]
    assert absolute(of(-3, 2)).intervals() == [Interval(0, 3)]
    assert absolute(of(-3, -2)).intervals() == [Interval(2, 3)]
    assert multiply(of(0, 0), of(-math.inf, math.inf)).intervals() == [Interval(0, 0)]
    assert divide(of(1, math.inf), of(1, math.inf)).intervals() == [Interval(0, math.inf)]


def test_a_value_where_the_function_is_not_defined_leaves_it_unbounded_and_says_why():
    result = monotone(np.sqrt, of(-3, -1), domain=(0, math.inf))
    assert result.intervals() == [Interval.of(-math.inf, math.inf, OUTSIDE_DOMAIN)]
    assert monotone(np.log, of(0, 1), domain=(0, math.inf)).intervals() == [Interval(-math.inf, 0)]


def test_notes_travel_with_their_group_and_the_first_one_stays():
    left = Bounds.of(np.array([1.0, 1.0]), np.array([2.0, 2.0]), [SIMULATED, EXACT])
    right = Bounds.of(np.array([1.0, -1.0]), np.array([2.0, 2.0]))
    assert divide(left, right).statuses == [SIMULATED, ZERO_DENOMINATOR]


def test_cutting_to_a_public_range_keeps_the_nearer_end():
    cut = Bounds.of(np.array([-5.0, -5.0, 12.0]), np.array([3.0, -2.0, 15.0])).within(0, 10)
    assert cut.intervals() == [Interval(0, 3), Interval.of(0, 0, OUTSIDE), Interval.of(10, 10, OUTSIDE)]


def test_a_negative_power_is_refused():
    with pytest.raises(InternalError):
        power(of(1, 2), -1)
