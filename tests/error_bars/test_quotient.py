import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.distributions import Gaussian, Laplace
from hedgerow.error_bars.intervals.interval import OUTSIDE, ZERO_DENOMINATOR, Status
from hedgerow.error_bars.intervals.noise_sums import half_width, tail
from hedgerow.error_bars.intervals.quotients import quotient_bounds

LINE = (-math.inf, math.inf)
BETA = 0.05
DRAWS = 8_000


def apart(noise, other=None):
    """One noise above, another below."""
    return [(1.0, 0.0, noise), (0.0, 1.0, other or noise)]


def shared(noise):
    """Numerator A and denominator A + B, as in a proportion or an average on the transformed basis."""
    return [(1.0, 1.0, noise), (0.0, 1.0, noise)]


def bounds(numerator, denominator, terms, support=LINE, beta=BETA):
    return quotient_bounds(np.array([float(numerator)]), np.array([float(denominator)]), terms, beta, support)


def ends(*arguments, **options):
    actual = bounds(*arguments, **options)
    return float(actual.lower[0]), float(actual.upper[0])


def draw(noise, count):
    random = np.random.default_rng()
    if isinstance(noise, Gaussian):
        return random.normal(0, noise.sigma, count)
    if noise.step == 0:
        return random.laplace(0, noise.scale, count)
    success = 1 - math.exp(-noise.step / noise.scale)
    return noise.step * (random.geometric(success, count) - random.geometric(success, count))


def simulate(numerator, denominator, terms, support, *, factor=1.0):
    noises = [factor * draw(noise, DRAWS) for _, _, noise in terms]
    above = numerator + sum(a * x for (a, _, _), x in zip(terms, noises, strict=True))
    below = denominator + sum(b * x for (_, b, _), x in zip(terms, noises, strict=True))
    return quotient_bounds(above, below, terms, BETA, support)


def test_fieller_has_the_vectors_of_the_specification():
    noise = Gaussian(20.0)
    assert ends(300, 1000, apart(noise)) == pytest.approx((0.259502, 0.341421), abs=1e-6)
    assert ends(-20, 50, apart(noise), (-1, 1)) == pytest.approx((-1, 0.464402), abs=1e-6)
    assert ends(120, 1000, shared(noise)) == pytest.approx((0.083941, 0.153716), abs=1e-6)


@pytest.mark.parametrize(
    ("count_epsilon", "count", "lower", "upper"),
    [
        (1e-4, 1e5, 38.86, 72.10),
        (1e-4, 1e6, 49.03, 52.06),
        (1e-4, 1e7, 50.349, 50.652),
        (1e-5, 1e5, 12.64, 100),
        (1e-5, 1e7, 49.03, 52.06),
        (1e-5, 1e9, 50.485, 50.515),
    ],
)
def test_two_laplaces_have_the_vectors_of_the_specification(count_epsilon, count, lower, upper):
    terms = apart(Laplace(100 / 0.02), Laplace(1 / count_epsilon))
    assert ends(50.5 * count, count, terms, (1, 100)) == pytest.approx((lower, upper), abs=0.006)


def test_ages_have_the_interval_of_the_specification():
    assert ends(41_500, 1000, apart(Laplace(65.0), Laplace(10.0)), (18, 65)) == pytest.approx((40.28, 42.79), abs=0.005)


seen = st.floats(-300, 300)


@settings(max_examples=150, deadline=None)
@given(seen, seen, st.floats(1, 50), st.floats(1, 50), st.sampled_from([Gaussian, Laplace]), st.booleans())
def test_the_interval_is_the_hull_of_what_a_fine_scan_accepts(numerator, denominator, first, second, law, together):
    terms = [(1.0, 1.0 if together else 0.0, law(first)), (0.0, 1.0, law(second))]
    lower, upper = ends(numerator, denominator, terms, (-2.0, 3.0))
    grid = np.linspace(-2.0, 3.0, 501)
    chances = [
        tail([(a - r * b, noise) for a, b, noise in terms], abs(numerator - r * denominator)) for r in grid.tolist()
    ]
    accepted = grid[np.array(chances) >= BETA]
    if accepted.size:
        assert lower - 1e-9 <= accepted[0] <= lower + 0.01 + 1e-9
        assert upper - 0.01 - 1e-9 <= accepted[-1] <= upper + 1e-9
    else:
        assert upper - lower <= 0.01


@pytest.mark.parametrize("law", [Gaussian, Laplace])
def test_an_infinite_support_is_the_limit_of_a_wide_one(law):
    for numerator, denominator in [(300, 200), (-300, 200), (300, -200), (5, 100), (0, 100)]:
        open_ends = ends(numerator, denominator, apart(law(10.0)))
        assert open_ends == pytest.approx(ends(numerator, denominator, apart(law(10.0)), (-1e6, 1e6)), abs=1e-6)
        half = tuple(max(end, 0.1) for end in open_ends)
        assert ends(numerator, denominator, apart(law(10.0)), (0.1, math.inf)) == pytest.approx(half)


@pytest.mark.parametrize("law", [Gaussian, Laplace])
def test_a_denominator_that_may_be_zero_leaves_the_quotient_unbounded_and_says_why(law):
    actual = bounds(300, 10, apart(law(10.0)))
    assert (actual.lower[0], actual.upper[0]) == LINE
    assert actual.statuses == [ZERO_DENOMINATOR]
    half = bounds(300, 10, apart(law(10.0)), (0, math.inf))
    assert 0 < half.lower[0] < 30
    assert half.upper[0] == math.inf
    assert half.statuses == [ZERO_DENOMINATOR]


@pytest.mark.parametrize("law", [Gaussian, Laplace])
def test_a_bounded_support_needs_no_excuse(law):
    actual = bounds(3, 1, apart(law(10.0)), (0, 1))
    assert (actual.lower[0], actual.upper[0], actual.statuses) == (0, 1, [Status()])


@pytest.mark.parametrize("law", [Gaussian, Laplace])
@pytest.mark.parametrize(("numerator", "end"), [(-4000, -1.0), (4000, 1.0), (-1e9, -1.0), (1e9, 1.0)])
def test_a_quotient_outside_the_support_gives_the_nearer_end_with_a_note(law, numerator, end):
    actual = bounds(numerator, 1000, apart(law(10.0)), (-1, 1))
    assert (actual.lower[0], actual.upper[0], actual.statuses) == (end, end, [OUTSIDE])
    open_end = (-math.inf, 1) if end == 1 else (-1, math.inf)
    assert ends(numerator, 1000, apart(law(10.0)), open_end) == (end, end)


def test_the_outside_of_an_interval_is_cut_to_the_side_that_the_support_allows():
    terms = apart(Gaussian(1.0), Gaussian(10.0))
    whole = ends(100, 10, terms, (0, math.inf))
    assert 3 < whole[0] < 4
    assert whole[1] == math.inf
    mirrored = ends(100, 10, terms, (-math.inf, 0))
    assert mirrored[0] == -math.inf
    assert -12 < mirrored[1] < -10


@pytest.mark.parametrize("terms", [apart(Gaussian(0.0)), [], [(1.0, 0.0, Gaussian(5.0))], [(1.0, 0.0, Laplace(5.0))]])
@pytest.mark.parametrize(("numerator", "denominator"), [(10, 0), (0, 0), (0, 10), (-10, 10)])
def test_exact_and_zero_parts_never_give_nan(terms, numerator, denominator):
    actual = bounds(numerator, denominator, terms)
    assert actual.lower[0] <= actual.upper[0]
    if denominator:
        assert actual.lower[0] <= numerator / denominator <= actual.upper[0]


EXACT = [
    (150, 500, apart(Gaussian(20.0))),
    (150, 500, shared(Gaussian(20.0))),
    (100, 200, apart(Laplace(10.0))),
    (100, 200, apart(Laplace(3.0), Laplace(15.0))),
    (25, 50, shared(Laplace(5.0))),
    (450, 500, shared(Laplace(10.0))),
]


@pytest.mark.parametrize(("numerator", "denominator", "terms"), EXACT)
def test_intervals_hold_as_often_as_promised(numerator, denominator, terms, coverage):
    _, enough, close = coverage(simulate(numerator, denominator, terms, LINE), numerator / denominator, BETA)
    assert enough
    assert close


@pytest.mark.parametrize(("numerator", "denominator", "terms"), EXACT)
def test_the_same_test_rejects_noise_that_is_30_percent_larger_than_stated(numerator, denominator, terms, coverage):
    off = simulate(numerator, denominator, terms, LINE, factor=1.3)
    assert not coverage(off, numerator / denominator, BETA)[1]


@pytest.mark.parametrize("law", [Gaussian, Laplace])
@pytest.mark.parametrize("layout", [apart, shared])
@pytest.mark.parametrize("denominator", [5.0, 50.0, 0.001])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_small_denominators_and_ends_of_the_range_are_covered_too(law, layout, denominator, share, coverage):
    actual = simulate(share * denominator, denominator, layout(law(20.0)), (0, 1))
    assert coverage(actual, share, BETA)[1]
    assert not np.isnan(actual.lower).any()


def test_the_independent_formula_on_the_transformed_basis_falls_short(coverage):
    mean, centred = 500.0, 400.0
    first, second = draw(Laplace(10.0), DRAWS), draw(Laplace(10.0), DRAWS)
    above, below = centred + first - second, mean + first + second
    right = quotient_bounds(above, below, [(1, 1, Laplace(10.0)), (-1, 1, Laplace(10.0))], BETA, LINE)
    wrong = quotient_bounds(above, below, apart(Laplace(10.0)), BETA, LINE)
    assert coverage(right, centred / mean, BETA)[1:] == (True, True)
    assert not coverage(wrong, centred / mean, BETA)[1]


@pytest.mark.parametrize(
    "terms",
    [
        apart(Laplace(10.0), Gaussian(10.0)),
        [*apart(Laplace(10.0)), (0.0, 1.0, Laplace(5.0))],
        [*shared(Gaussian(10.0)), (1.0, 1.0, Laplace(5.0, 1.0))],
        apart(Laplace(10.0, 1.0)),
        [(1.0, 1.0, Laplace(4.0, 1.0)), (0.0, 1.0, Laplace(4.0, 1.0))],
    ],
)
def test_mixtures_and_lattices_are_never_short(terms, coverage):
    for denominator in (5, 60, 500):
        assert coverage(simulate(0.5 * denominator, denominator, terms, (0, 1)), 0.5, BETA)[1]


def test_many_normal_noises_are_the_same_as_two():
    many = [(1.0, 1.0, Gaussian(3.0)), *[(0.0, 1.0, Gaussian(1.0))] * 16]
    two = [(1.0, 1.0, Gaussian(3.0)), (0.0, 1.0, Gaussian(4.0))]
    assert ends(40, 100, many) == pytest.approx(ends(40, 100, two), rel=1e-12)


@pytest.mark.parametrize("law", [Gaussian, Laplace])
def test_groups_do_not_influence_each_other(law):
    above, below = np.array([10.0, -400.0, 3.0, 0.0]), np.array([100.0, 200.0, 0.0, -50.0])
    together = quotient_bounds(above, below, apart(law(10.0)), BETA, (-1, 1))
    alone = [bounds(a, b, apart(law(10.0)), (-1, 1)) for a, b in zip(above, below, strict=True)]
    assert together.lower == pytest.approx([group.lower[0] for group in alone], abs=1e-12)
    assert together.upper == pytest.approx([group.upper[0] for group in alone], abs=1e-12)
    assert together.notes == [group.notes[0] for group in alone]


@settings(deadline=None)
@given(
    st.floats(-100, 100),
    st.floats(-100, 100),
    st.floats(-50, 50),
    st.floats(0.01, 50),
    st.sampled_from([Gaussian(1.0), Gaussian(20.0), Laplace(1.0), Laplace(20.0)]),
    st.sampled_from([apart, shared]),
)
def test_an_interval_never_leaves_what_is_publicly_known(numerator, denominator, lowest, width, noise, terms):
    support = (lowest, lowest + width)
    lower, upper = ends(numerator, denominator, terms(noise), support=support)
    assert support[0] - 1e-9 <= lower <= upper <= support[1] + 1e-9


@pytest.mark.parametrize("scale", [0.1, 0.2, 0.24, 0.26, 0.5, 1.0])
@pytest.mark.parametrize("terms", [apart, shared])
def test_on_a_coarse_lattice_the_interval_holds_and_is_not_much_longer_than_what_each_part_allows(scale, terms):
    noises = terms(Laplace(scale, 1.0))
    steps = np.arange(-60, 61)
    chances = np.tanh(0.5 / scale) * np.exp(-np.abs(steps) / scale)
    first, second = (grid.ravel() for grid in np.meshgrid(steps, steps))
    weights = np.outer(chances, chances).ravel()
    (a, b, _), (c, d, _) = noises
    actual = quotient_bounds(30.0 + a * first + c * second, 100.0 + b * first + d * second, noises, BETA, (0, 1))
    covered = weights[(actual.lower <= 0.3) & (actual.upper >= 0.3)].sum() / weights.sum()
    assert covered >= 1 - BETA
    lower, upper = ends(30, 100, noises, (0, 1))
    reach = [half_width([(term[side], term[2]) for term in noises], BETA / 2) for side in (0, 1)]
    box = (30 + reach[0]) / (100 - reach[1]) - (30 - reach[0]) / (100 + reach[1])
    assert upper - lower <= box * 1.5 + 1e-12
