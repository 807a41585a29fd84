"""The amount that an edge cuts off, estimated from noisy counts: against counts whose continuation is known."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hedgerow.calibration.tail import RUNS, CountedCells, detectable, total_margin
from hedgerow.distributions import Gaussian, Laplace

FALSE_ALARM = 1e-9
NOISES = st.one_of(
    st.floats(1e-3, 1e4).map(Laplace),
    st.floats(1e-3, 1e4).map(Gaussian),
    st.floats(1, 1e3).map(lambda b: Laplace(b, 1)),
)
EDGES = np.exp2(np.arange(0, 31.0))


def octaves(counts, noise=5.0):
    """Octaves from 1 on; those that are not listed are empty."""
    people = np.append(np.asarray(counts, dtype=float), np.zeros(30 - len(counts)))
    return CountedCells(EDGES, people, Laplace(noise), 19 * noise)


def of_values(values, noise=5.0):
    return octaves(np.histogram(values, EDGES)[0], noise)


@given(NOISES, st.integers(1, 1000), st.floats(1e-9, 1e-2))
def test_empty_cells_seldom_count_as_occupied(noise, cells, ghosts):
    threshold = detectable(noise, cells, ghosts)
    law = stats.norm(scale=noise.sigma) if isinstance(noise, Gaussian) else stats.laplace(scale=noise.scale)
    assert cells * law.sf(threshold) <= ghosts * (1 + 1e-9)
    assert cells * law.sf(0.9 * threshold) > ghosts


@pytest.mark.parametrize("noise", [Laplace(5.0), Gaussian(20.0)])
def test_the_noise_of_many_cells_seldom_exceeds_its_margin(noise):
    trials, cells, beta = 20_000, 40, 0.05
    generator = np.random.default_rng()
    draw = generator.normal if isinstance(noise, Gaussian) else generator.laplace
    sums = draw(0.0, noise.size, size=(trials, cells)).sum(axis=1)
    beyond = int((sums > total_margin(noise, cells, beta)).sum())
    assert stats.binom.ppf(FALSE_ALARM, trials, 0.8 * beta) <= beyond <= stats.binom.isf(FALSE_ALARM, trials, beta)
    assert total_margin(noise, 0, beta) == 0


def test_without_noise_what_is_seen_is_all_there_is():
    cells = octaves([100, 200, 300], noise=1e-9)
    assert cells.last == 2
    assert cells.clipped(np.array([8.0, 9.0])) == pytest.approx([0, 0])
    mean = 4 / math.log(2)
    assert cells.clipped(np.array([4.0])) == pytest.approx([300 * (mean - 4)], rel=1e-6)
    assert cells.people_above(1) == pytest.approx(300)
    assert cells.people_above(-1) == pytest.approx(600)


@given(st.lists(st.floats(-50, 1e4), min_size=1, max_size=20), st.sampled_from([1, 4]))
def test_a_larger_edge_never_cuts_off_more(counts, parts):
    edges = np.exp2(np.arange(0, len(counts) + 1.0) / parts)
    cells = CountedCells(edges, np.array(counts), Laplace(5.0), 90.0, parts)
    clipped = cells.clipped(np.exp2(np.arange(-1, 30, 0.25)))
    assert (clipped >= 0).all()
    assert (np.diff(clipped) <= 1e-9 * clipped[0] + 1e-9).all()
    assert cells.clipped_at_most(4.0, 0.5) <= cells.clipped_at_most(4.0, 0.05) + 1e-9
    assert cells.last is not None or not clipped.any()


def test_octaves_that_are_occupied_only_together_end_with_the_last_notable_one():
    people = np.append([3000.0, 20, 45, 60, 55, 30, 4], np.zeros(23))
    alone = CountedCells(EDGES, people, Gaussian(11.0), 75.0)
    together = CountedCells(EDGES, people, Gaussian(11.0), 75.0, runs=((2, 110.0), (4, 150.0)))
    assert (alone.last, together.last) == (0, 5)
    assert together.clipped(np.array([8.0]))[0] > 10 * alone.clipped(np.array([8.0]))[0]
    even = CountedCells(EDGES, np.full(30, 20.0), Gaussian(11.0), 75.0, runs=((4, 60.0),))
    assert even.last is None


@pytest.mark.parametrize("noise", [Laplace(5.0), Gaussian(11.0)])
def test_noise_alone_seldom_occupies_a_run(noise):
    """All runs of a look together: as seldom as the cells."""
    trials, ghosts, generator = 2_000, 0.01, np.random.default_rng()
    draw = generator.normal if isinstance(noise, Gaussian) else generator.laplace
    runs = tuple((size, total_margin(noise, size, ghosts / 30)) for size in RUNS)
    looks = draw(0.0, noise.size, size=(trials, 30))
    seen = sum(CountedCells(EDGES, look, noise, math.inf, runs=runs).last is not None for look in looks)
    assert seen <= stats.binom.isf(FALSE_ALARM, trials, len(RUNS) * ghosts)


def test_nothing_seen_is_nothing_cut_off():
    cells = octaves([10, 20])
    assert cells.last is None
    assert not cells.clipped(EDGES).any()
    assert cells.people_above(3) == cells.clipped_at_most(1.0, 0.05) == 0


def test_a_tail_is_continued_as_it_began():
    pareto = of_values(10 * (np.arange(0.5, 5000) / 5000) ** (-1 / 1.5))
    exponential = of_values(40 * -np.log(np.arange(0.5, 5000) / 5000))
    assert 60 <= pareto.people_above(pareto.last) <= 200
    assert exponential.people_above(exponential.last) <= 30
    exact = np.maximum(10 * (np.arange(0.5, 5000) / 5000) ** (-1 / 1.5) - 512, 0).sum()
    assert exact / 4 <= pareto.clipped(np.array([512.0]))[0] <= exact


def test_values_that_end_with_a_full_cell_end_there():
    uniform = of_values(np.arange(0.5, 5000) / 50)
    assert uniform.people_above(uniform.last) <= 5
    equal = CountedCells(np.arange(33.0), np.where(np.arange(32) == 20, 5000.0, 0.0), Laplace(20.0), 190.0, parts=0)
    assert equal.clipped(np.array([21.0]))[0] <= 1
    assert equal.mirrored().clipped(np.array([-20.0]))[0] <= 1


def test_equal_cells_are_mirrored_on_the_way_down():
    cells = CountedCells(np.arange(5.0), np.array([0.0, 300.0, 300.0, 0.0]), Laplace(1e-9), 1.0, parts=0)
    assert cells.clipped(np.array([2.0])) == pytest.approx([150])
    assert cells.mirrored().clipped(np.array([-2.0])) == pytest.approx([150])
    assert cells.mirrored().last == 2
