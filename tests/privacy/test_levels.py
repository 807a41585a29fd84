"""Shares of the levels of totals: the predicted error against matrices, and the choice against all others."""

from itertools import product

import numpy as np
import pytest

from hedgerow.privacy.bounding import Bounding
from hedgerow.privacy.keys import KeyRule, Keys
from hedgerow.privacy.levels import level_bounding, level_shares

ONE_ROW = Bounding(1, 1, 1, weighted=False, size=1000)


def declared(*sizes):
    return Keys(KeyRule.DECLARED, tuple(product(*(range(size) for size in sizes))))


def variances(levels, domain, shares, costs):
    """The variance of every cell of some levels, where groups and levels are measured with shares of one budget."""
    matrices = {}
    for level in levels:
        cells = sorted({tuple(key[i] for i in level) for key in domain})
        matrices[level] = np.array([[tuple(key[i] for i in level) == cell for key in domain] for cell in cells], float)
    precision = sum(shares[level] / costs[level] * matrices[level].T @ matrices[level] for level in shares)
    covariance = np.linalg.inv(precision)
    return {level: np.diag(matrix @ covariance @ matrix.T) for level, matrix in matrices.items()}


def shares_of(levels, keys, count, bounding):
    """The shares that were chosen, with what is left for the groups."""
    actual = {share.keys: share.share for share in level_shares(levels, keys, count, bounding)}
    finest = tuple(range(count))
    costs = {level: float(bounding.l1**2) for level in actual} | {finest: float(bounding.l2_squared)}
    return {finest: 1 - sum(actual.values()), **actual}, costs


@pytest.mark.parametrize(
    ("sizes", "levels", "bounding"),
    [
        ((100,), ((0,), ()), ONE_ROW),
        ((4, 5), ((0, 1), (0,), ()), ONE_ROW),
        ((4, 5), ((0, 1), (0,), (1,), ()), ONE_ROW),
        ((6, 7), ((0, 1), (1,)), ONE_ROW),
        ((40,), ((0,), ()), Bounding(4, 1, 4, weighted=True, size=1000)),
    ],
)
def test_no_other_shares_have_a_smaller_sum_of_variances(sizes, levels, bounding):
    keys = declared(*sizes)
    shares, costs = shares_of(levels, keys, len(sizes), bounding)
    assert len(shares) > 1
    least = sum(actual.sum() for actual in variances(levels, keys.domain, shares, costs).values())
    for level in shares:
        for factor in (0.8, 1.25):
            moved = {other: share * (factor if other == level else 1) for other, share in shares.items()}
            moved = {other: share / sum(moved.values()) for other, share in moved.items()}
            assert least <= sum(actual.sum() for actual in variances(levels, keys.domain, moved, costs).values()) + 1e-9


def test_the_total_of_a_hundred_groups_has_a_third_of_the_error():
    levels = ((0,), ())
    keys = declared(100)
    shares, costs = shares_of(levels, keys, 1, ONE_ROW)
    actual = variances(levels, keys.domain, shares, costs)
    assert np.sqrt(actual[()][0]) <= 10 / 3
    assert np.sqrt(actual[(0,)].max()) <= 1.05


def test_levels_that_one_person_moves_far_are_not_measured():
    """A person in all of five groups moves their total by five: no share of the budget is worth it."""
    assert level_shares(((0,), ()), declared(5), 1, Bounding(5, 1, 5, weighted=True, size=1000)) == ()


def test_without_totals_there_is_no_level():
    assert level_shares((), declared(5), 1, ONE_ROW) == ()
    assert level_shares(((0,),), declared(5), 1, ONE_ROW) == ()


def test_groups_that_are_not_shown_keep_a_little():
    shares, _ = shares_of(((0,), (1,)), declared(10, 10), 2, ONE_ROW)
    assert shares[0, 1] == pytest.approx(0.01)
    assert shares[0,] == pytest.approx(shares[1,]) == pytest.approx(0.495)


@pytest.mark.parametrize("keys", [Keys(KeyRule.SELECTED), declared(10, 10, 11)])
def test_levels_of_many_groups_or_of_unknown_ones_are_nested(keys):
    every = ((0, 1, 2), (0, 1), (0, 2), (1, 2), (0,), (1,), (2,), ())
    actual = [share.keys for share in level_shares(every, keys, 3, ONE_ROW)]
    assert actual == [(0, 1), (0,), ()]


@pytest.mark.parametrize(("limits", "l1"), [((9, 4, 3), 9), ((9, 2, 3), 6), ((9, 9, 1), 9), ((1, 1, 1), 1)])
def test_a_level_has_the_sensitivity_of_all_rows_in_one_cell(limits, l1):
    bounding = Bounding(*limits, weighted=True, size=1000)
    assert level_bounding(bounding).l2_squared == l1**2
    assert level_bounding(bounding).keys_touched == bounding.keys_touched
