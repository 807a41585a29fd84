"""Groups and totals measured side by side: least squares against matrices, and its noise against its covariance."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.release.totals import Measured, adjusted, cells_of, noise


def numbered(values):
    """Cells numbered from zero."""
    return np.unique(np.asarray(values, dtype=np.int64), return_inverse=True)[1]


@st.composite
def measurements(draw):
    """Noisy groups and up to three levels, nested or not, with any noise."""
    groups = draw(st.integers(1, 17))
    numbers = np.random.default_rng(draw(st.integers(0, 2**32)))
    finest = numbered(draw(st.lists(st.integers(0, 5), min_size=groups, max_size=groups)))
    crossed = numbered(np.arange(groups) % 3)
    candidates = [finest, numbered(finest // 2), crossed, np.zeros(groups, np.int64)]
    chosen = draw(st.lists(st.sampled_from(range(4)), max_size=3, unique=True))
    levels = [
        Measured(candidates[i], numbers.normal(size=int(candidates[i].max()) + 1), draw(st.floats(0.1, 10)))
        for i in sorted(chosen)
    ]
    return numbers.normal(size=groups), draw(st.floats(0.1, 10)), levels


def least_squares(values, sigma, levels):
    """The estimates of least variance and their covariance, by normal equations."""
    matrix = np.vstack([np.eye(len(values)), *(np.eye(len(level.values))[:, level.cells] for level in levels)])
    weights = np.concatenate([np.full(len(values), sigma), *(np.full(len(m.values), m.sigma) for m in levels)]) ** -2.0
    covariance = np.linalg.inv(matrix.T @ (weights[:, None] * matrix))
    seen = np.concatenate([values, *(level.values for level in levels)])
    return covariance @ (matrix.T @ (weights * seen)), covariance


@given(measurements())
def test_groups_are_adjusted_by_least_squares(measured):
    values, sigma, levels = measured
    expected, _ = least_squares(values, sigma, levels)
    assert np.allclose(adjusted(values, sigma, levels), expected, rtol=1e-8, atol=1e-8)


@given(measurements())
def test_the_noises_have_the_covariance_of_the_estimates(measured):
    values, sigma, levels = measured
    rows = noise(len(values), sigma, levels).toarray()
    _, covariance = least_squares(values, sigma, levels)
    assert rows.shape == (len(values), len(values))
    assert np.allclose(rows @ rows.T, covariance, rtol=1e-8, atol=1e-8)


def test_many_groups_have_few_noises_each():
    groups = 20_000
    levels = [Measured(np.arange(groups) // 100, np.zeros(200), 1.0), Measured(np.zeros(groups, int), np.zeros(1), 1.0)]
    rows = noise(groups, 1.0, levels)
    assert rows.nnz < groups * (np.log2(groups) + 3)
    total = rows.sum(axis=0)
    assert np.sum(total**2) == pytest.approx(1 / (1 + 1 / (200 * 100 / 101)), rel=1e-9)


def test_cells_are_told_apart_by_their_keys():
    keys = pa.table({"a": ["x", None, "x", "y", None], "b": [1.0, 2.0, float("nan"), 1.0, 2.0]})
    assert cells_of(keys, []).tolist() == [0] * 5
    first = cells_of(keys, ["a"])
    assert first[0] == first[2]
    assert first[1] == first[4]
    assert len(set(first.tolist())) == 3
    assert len(set(cells_of(keys, ["a", "b"]).tolist())) == 4
