import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from flint import arb, ctx
from scipy import stats
from scipy.special import ndtr, ndtri

from hedgerow.noise import source
from hedgerow.noise.discrete import discrete_gaussian
from hedgerow.noise.rounded import (
    CELLS,
    CELLS_PER_UNIT,
    REACH,
    TailBits,
    _brackets,
    _magnitudes,
    _tail,
    refine,
    rounded_gaussian,
    tail_table,
)

FALSE_ALARM = 1e-9
SCALES = [0.7, 1.0, 5.0, 1000.0]
FINE_SCALES = [2.0**20, 2.0**30 + 0.1, 2.0**44]


def law(scale):
    """P(X <= k) of the rounded Gaussian."""
    return lambda k: ndtr((k + 0.5) / scale)


def heads(count):
    """Leading bits of tail probabilities: random ones, and some in each binade down to the extreme tail."""
    random = source.words(count) >> np.uint64(1)
    shifts = np.repeat(np.arange(30, dtype=np.uint64), 10)
    return np.concatenate([random, (source.words(len(shifts)) >> np.uint64(1)) >> shifts])


def signed(magnitudes):
    return np.where(source.words(len(magnitudes)) >> np.uint64(63), -1, 1) * magnitudes


@pytest.mark.parametrize("scale", SCALES + FINE_SCALES)
def test_draws_follow_the_rounded_normal_law(scale, p_value):
    assert p_value(rounded_gaussian(scale, 400_000), law(scale), scale) > FALSE_ALARM


@pytest.mark.parametrize("wrong", [1 / 1.3, 1.3])
@pytest.mark.parametrize("scale", SCALES + FINE_SCALES)
def test_the_same_test_rejects_a_scale_30_percent_off(scale, wrong, p_value):
    assert p_value(rounded_gaussian(wrong * scale, 10_000), law(scale), scale) < FALSE_ALARM


@pytest.mark.parametrize("scale", SCALES)
def test_refinement_alone_follows_the_same_law(scale, p_value):
    drawn = signed(np.array([refine(TailBits(source.bits(63)), scale) for _ in range(3000)]))
    assert p_value(drawn, law(scale), scale) > FALSE_ALARM
    assert p_value(drawn, law(1.3 * scale), scale) < FALSE_ALARM


@pytest.mark.parametrize("scale", [0.7, 5.0])
def test_refinement_follows_the_law_when_it_starts_without_a_single_bit(scale, p_value):
    drawn = signed(np.array([refine(TailBits(0, length=1), scale) for _ in range(2000)]))
    assert p_value(drawn, law(scale), scale) > FALSE_ALARM


@pytest.mark.parametrize("scale", [0.7, 1000.0, *FINE_SCALES])
def test_the_quick_path_agrees_with_refinement_wherever_the_first_64_bits_decide(scale):
    sample = heads(500)
    bits = [TailBits(int(head)) for head in sample]
    refined = np.array([refine(tail, scale) for tail in bits])
    decided = np.array([tail.length == 64 for tail in bits])
    assert np.count_nonzero(decided) > 500
    assert np.array_equal(_magnitudes(sample, scale)[decided], refined[decided])


@pytest.mark.parametrize("scale", [1.0, 1000.0, *FINE_SCALES])
def test_bits_that_straddle_a_rounding_boundary_are_never_settled_in_floats(scale):
    magnitudes = np.unique((scale * np.linspace(0.6, 5.9, 200)).astype(int) + 1)
    magnitudes = magnitudes[magnitudes < 5.9 * scale]
    with ctx.workprec(256):
        tails = [(arb(2 * int(m) - 1) / (arb(scale) * arb(8).sqrt())).erfc() * arb(2) ** 63 for m in magnitudes]
        straddling = np.array([int(tail.floor().unique_fmpz()) for tail in tails], dtype=np.uint64)
    table = tail_table()
    low, high = _brackets(straddling, CELLS - np.searchsorted(table.borders, straddling, side="right"), table, scale)
    assert np.all((low < magnitudes) & (magnitudes <= high))


def test_the_exact_quantile_of_every_probability_in_a_cell_lies_within_the_widening():
    table = tail_table()
    sample = np.concatenate([heads(2000), table.borders[:-1], table.borders[1:] - np.uint64(1)])
    sample = sample[sample >= table.borders[0]]
    cell = CELLS - np.searchsorted(table.borders, sample, side="right")
    offset = (table.tails[cell] - sample.astype(np.int64)) * table.unit[cell]
    computed = table.centres[cell] + sum(c[cell] * offset ** (n + 1) for n, c in enumerate(table.coefficients))
    with ctx.workprec(192):
        for head, z, error in zip(sample.tolist(), computed.tolist(), table.errors[cell].tolist(), strict=True):
            tails = [((arb(z) + sign * arb(error)) / arb(2).sqrt()).erfc() * arb(2) ** 63 for sign in (1, -1)]
            assert tails[0] <= arb(head)
            assert arb(head + 1) <= tails[1] or z < error


def test_rounding_the_cell_borders_carries_no_probability_beyond_the_reach_of_its_cell():
    borders = tail_table().borders[::-1]
    with ctx.workprec(192):
        for i in range(CELLS):
            far = arb(i + 1) / CELLS_PER_UNIT + arb(REACH)
            assert (far / arb(2).sqrt()).erfc() * arb(2) ** 63 < arb(int(borders[i + 1]))
            near, centre, beyond = _tail(i, 1), _tail(2 * i + 1, 2), (far / arb(2).sqrt()).erfc() * arb(2) ** 63
            assert centre - beyond < near - centre


def test_the_extreme_tail_is_always_refined_and_right():
    scale = 2.0**20
    extreme = np.array([1, 2, 1000, 10**6, 10**9], dtype=np.uint64)
    middle = -ndtri((extreme + 0.5) * 2.0**-64) * scale
    spacing = scale * (-ndtri(extreme * 2.0**-64) + ndtri((extreme + 1) * 2.0**-64)) + 1
    assert np.all(np.abs(_magnitudes(extreme, scale) - middle) <= spacing)
    assert _magnitudes(np.zeros(1, dtype=np.uint64), scale)[0] >= np.floor(-ndtri(2.0**-64) * scale)


def test_few_draws_need_refinement_on_the_grids_that_are_used():
    table = tail_table()
    sample = source.words(100_000) >> np.uint64(1)
    cell = CELLS - np.searchsorted(table.borders, sample, side="right")
    low, high = _brackets(sample, np.minimum(cell, CELLS - 1), table, 2.0**30)
    assert np.count_nonzero(low != high) <= stats.binom.isf(FALSE_ALARM, len(sample), 1e-5)


def test_rounded_and_discrete_noise_on_a_fine_grid_are_alike():
    edges = 1000 * np.linspace(-2.5, 2.5, 31)
    both = [
        np.searchsorted(edges, draws) for draws in (rounded_gaussian(1000.0, 20_000), discrete_gaussian(1000.0, 20_000))
    ]
    table = [np.bincount(cells, minlength=32) for cells in both]
    assert stats.chi2_contingency(table).pvalue > FALSE_ALARM


def test_threads_do_not_disturb_each_others_precision():
    """FLINT has one precision for the whole process; a table that lost its own half way could not be made."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            tables = list(threads.map(lambda _: tail_table.__wrapped__(), range(8)))
    finally:
        sys.setswitchinterval(interval)
    assert all(np.array_equal(table.errors, tables[0].errors) for table in tables)
