"""The kind of an interval says what is true of it."""

from dataclasses import replace

import numpy as np
import pytest

from hedgerow.distributions import Gaussian, Laplace
from hedgerow.error_bars.intervals import Bounds, quotient_bounds
from hedgerow.error_bars.intervals.interval import EXACT, Interval, IntervalKind

EVERYWHERE = (-np.inf, np.inf)


@pytest.mark.parametrize("noise", [Gaussian(5.0), Laplace(5.0)])
@pytest.mark.parametrize("terms", [[(1, 0), (0, 1)], [(1, 0), (0, 1), (0, 0)], [(1, 1), (0, 2)], [(0, 0), (1, 0.5)]])
def test_a_quotient_of_two_noises_is_exact_whatever_stands_beside_them_with_a_zero(noise, terms):
    bounds = quotient_bounds(np.array([300.0]), np.array([1000.0]), [(a, b, noise) for a, b in terms], 0.05, EVERYWHERE)
    assert [interval.kind for interval in bounds.intervals()] == ["exact"]


@pytest.mark.parametrize("terms", [[(1, 0), (0, 1)], [(1, 0), (0, 1), (1, 1)]])
@pytest.mark.parametrize("noise", [Gaussian(5.0), Laplace(5.0)])
@pytest.mark.parametrize("support", [EVERYWHERE, (0.0, np.inf)])
def test_an_interval_with_an_open_end_is_never_exact(noise, terms, support):
    bounds = quotient_bounds(np.array([300.0]), np.array([1.0]), [(a, b, noise) for a, b in terms], 0.05, support)
    [interval] = bounds.intervals()
    assert np.isinf(interval.upper)
    assert interval.kind == ("none" if np.isinf(interval.lower) else "conservative")


def test_bounds_that_are_called_exact_are_so_only_between_two_ends():
    bounds = Bounds.of(np.array([0.0, -np.inf, 0.0]), np.array([1.0, 1.0, np.inf]), EXACT)
    assert [interval.kind for interval in bounds.intervals()] == ["exact", "conservative", "conservative"]


@pytest.mark.parametrize("kind", IntervalKind)
@pytest.mark.parametrize(("lower", "upper"), [(-np.inf, 1.0), (0.0, np.inf), EVERYWHERE, (np.nan, 1.0)])
def test_no_interval_with_an_open_end_can_be_made_exact(lower, upper, kind):
    interval = Interval(lower, upper, kind=kind)
    assert interval.kind is not IntervalKind.EXACT
    assert interval.kind.rank >= kind.rank
    assert replace(interval, kind=IntervalKind.EXACT).kind is not IntervalKind.EXACT


@pytest.mark.parametrize("kind", IntervalKind)
def test_an_interval_between_two_ends_keeps_its_kind(kind):
    assert Interval(0.0, 1.0, kind=kind).kind is kind
