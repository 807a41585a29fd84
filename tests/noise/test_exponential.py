from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from scipy import stats

from hedgerow.errors import InternalError
from hedgerow.noise import exponential
from hedgerow.noise.exponential import _decide, _draw, _settle, _sums, _weights, choose, choose_many, uniform_below

FALSE_ALARM = 1e-9
DRAWS = 20_000
CASES = [
    ([0, 0, 0, 0], [1, 2, 3, 4], Fraction(1)),
    ([5, 3, 0, 2, 9], [1, 1, 1, 1, 1], Fraction(1, 3)),
    ([7, 0, 12], [10**9, 3, 10**12], Fraction(2)),
    ([-4, -6, -5], [1, 1, 1], Fraction(7, 10)),
    ([10**15, 10**15 + 10**6, 10**15 + 2 * 10**6], [2, 1, 2], Fraction(1, 10**6)),
    ([1, 0, 1, 0], [5, 0, 2, 3], Fraction(3, 2)),
]


def exact_probabilities(scores, lengths, rate):
    with ctx.workprec(200):
        weights = [
            n * (-arb(fmpq((s - min(scores)) * rate.numerator, rate.denominator))).exp()
            for s, n in zip(scores, lengths, strict=True)
        ]
        total = sum(weights, arb(0))
        return np.array([float((weight / total).mid()) for weight in weights])


def p_value(drawn, probabilities):
    """The chi-square p-value over the choices that are expected at least five times, the others taken together."""
    seen = np.bincount(drawn, minlength=len(probabilities))
    expected = probabilities * len(drawn)
    assert not np.any(seen[probabilities == 0])
    common = expected >= 5
    seen = np.append(seen[common], seen[~common].sum())
    expected = np.append(expected[common], expected[~common].sum())
    keep = expected > 1e-6
    assert np.count_nonzero(keep) >= 2
    return stats.chi2.sf(np.sum((seen[keep] - expected[keep]) ** 2 / expected[keep]), np.count_nonzero(keep) - 1)


@pytest.mark.parametrize(("scores", "lengths", "rate"), CASES)
def test_choices_follow_the_exact_probabilities(scores, lengths, rate):
    drawn = choose_many(np.tile(scores, (DRAWS, 1)), lengths, rate)
    assert p_value(drawn, exact_probabilities(scores, lengths, rate)) > FALSE_ALARM


@pytest.mark.parametrize("wrong", [Fraction(10, 13), Fraction(13, 10)])
@pytest.mark.parametrize(("scores", "lengths", "rate"), CASES[1:])
def test_the_same_test_rejects_a_rate_30_percent_off(scores, lengths, rate, wrong):
    drawn = choose_many(np.tile(scores, (DRAWS, 1)), lengths, rate * wrong)
    assert p_value(drawn, exact_probabilities(scores, lengths, rate)) < FALSE_ALARM


@pytest.mark.parametrize(("scores", "lengths", "rate"), CASES)
def test_python_integers_in_an_array_give_the_same_law(scores, lengths, rate):
    table = np.tile(np.array(scores, dtype=object) * 2**70, (DRAWS, 1))
    drawn = choose_many(table, np.array(lengths, dtype=object), rate / 2**70)
    assert p_value(drawn, exact_probabilities(scores, lengths, rate)) > FALSE_ALARM


@pytest.mark.parametrize(("scores", "lengths", "rate"), CASES[1:])
def test_ball_arithmetic_alone_follows_the_same_law_when_it_starts_without_a_bit(scores, lengths, rate):
    least = min(score for score, length in zip(scores, lengths, strict=True) if length)
    distances = [max(score - least, 0) for score in scores]
    drawn = np.array([_settle(distances, lengths, rate, head=0, length=0) for _ in range(4000)])
    assert p_value(drawn, exact_probabilities(scores, lengths, rate)) > FALSE_ALARM


@pytest.mark.parametrize(("scores", "lengths", "rate"), CASES)
def test_each_row_of_many_has_its_own_scores_lengths_and_rate(scores, lengths, rate):
    size = len(scores)
    far = np.full((2, size), 10**12)
    far[0, 0] = far[1, size - 1] = 0
    table = np.vstack([np.tile(scores, (5, 1)), far])
    sizes = np.vstack([np.tile(lengths, (5, 1)), np.ones((2, size), dtype=int)])
    drawn = choose_many(table, sizes, [rate] * 5 + [Fraction(1), Fraction(1, 2)])
    assert drawn[5:].tolist() == [0, size - 1]
    assert all(lengths[i] for i in drawn[:5])


def words_around(scores, lengths, rate):
    """The words on both sides of each boundary between two choices, and random ones."""
    with ctx.workprec(300):
        weights = [
            n * (-arb(fmpq((s - min(scores)) * rate.numerator, rate.denominator))).exp()
            for s, n in zip(scores, lengths, strict=True)
        ]
        total = sum(weights, arb(0))
        sums = [sum(weights[: i + 1], arb(0)) for i in range(len(weights) - 1)]
        borders = [int((2**64 * part / total).mid().floor().unique_fmpz()) for part in sums]
    near = [border + step for border, step in product(borders, (-(2**30), -1, 0, 1, 2**30))]
    return np.array([word for word in near if 0 <= word < 2**64] + exponential.source.words(200).tolist(), np.uint64)


@pytest.mark.parametrize(("scores", "lengths", "rate"), CASES[1:])
def test_floats_agree_with_ball_arithmetic_wherever_they_decide(scores, lengths, rate):
    words = words_around(scores, lengths, rate)
    table = np.tile(scores, (len(words), 1))
    sizes = np.tile(lengths, (len(words), 1))
    distances = exponential._distances(table, sizes)
    picked, certain = _decide(_sums(distances, sizes, [rate] * len(words)), words)
    settled = [_settle(distances[0].tolist(), lengths, rate, int(word)) for word in words]
    assert np.count_nonzero(certain) >= 200
    assert np.array_equal(picked[certain], np.array(settled)[certain])


@pytest.mark.parametrize(("scores", "lengths", "rate"), CASES[1:5])
def test_a_word_that_straddles_two_choices_is_never_settled_in_floats(scores, lengths, rate):
    words = words_around(scores, lengths, rate)[2 : 5 * (len(scores) - 1) : 5]
    table, sizes = np.tile(scores, (len(words), 1)), np.tile(lengths, (len(words), 1))
    sums = _sums(exponential._distances(table, sizes), sizes, [rate] * len(words))
    assert len(words) >= 1
    assert not np.any(_decide(sums, words)[1])


def test_a_draw_that_floats_leave_open_is_settled_and_both_sides_come_up():
    scores, lengths = np.array([[3, 0, 3]]), np.ones((1, 3), dtype=np.int64)
    with ctx.workprec(300):
        share = (-arb(3)).exp() / (1 + 2 * (-arb(3)).exp()) * 2**64
        word = np.array([int(share.floor().unique_fmpz())], np.uint64)
    drawn = np.concatenate([_draw(scores, lengths, [Fraction(1)], word) for _ in range(400)])
    probability = float((share - int(word[0])).mid())
    tails = (
        stats.binom.cdf(np.sum(drawn == 0), 400, probability),
        stats.binom.sf(np.sum(drawn == 0) - 1, 400, probability),
    )
    assert set(drawn.tolist()) <= {0, 1}
    assert min(tails) > FALSE_ALARM


def test_float_weights_are_as_close_to_the_exponential_as_is_claimed():
    random = np.random.default_rng()
    distances = np.concatenate(
        [random.uniform(0, 700, 3000), random.exponential(1, 500), [0.0, 1e-300, 0.00541, 700.0]]
    )
    with ctx.workprec(200):
        for distance, weight in zip(distances.tolist(), _weights(distances).tolist(), strict=True):
            assert abs(arb(weight) / (-arb(distance)).exp() - 1) < 2.0**-47


def test_weights_of_exact_scores_are_within_the_widening_and_need_much_of_it():
    random = np.random.default_rng()
    rate = Fraction(1, 3 * 10**15)
    scores = random.integers(1_800, 2_100, 3000) * 10**15 + random.integers(0, 10**15, 3000)
    weights = _sums(scores[:, None], np.full((3000, 1), 3), [rate] * 3000)[:, 0]
    with ctx.workprec(200):
        errors = [
            abs(float((arb(weight) / (3 * (-arb(fmpq(score * rate.numerator, rate.denominator))).exp()) - 1).mid()))
            for score, weight in zip(scores.tolist(), weights.tolist(), strict=True)
        ]
    assert exponential.CLOSE / 64 < max(errors) < exponential.CLOSE


def test_the_least_word_is_left_open_where_a_choice_before_is_beyond_the_reach_of_floats():
    sums = _sums(np.array([[800, 0]]), np.array([[1, 1]]), [Fraction(1)])
    assert _decide(sums, np.array([0], np.uint64))[1].tolist() == [False]
    assert _decide(sums, np.array([1], np.uint64))[1].tolist() == [True]
    assert _settle([800, 0], [1, 1], Fraction(1), 0, 2000) == 0


def test_the_constants_are_those_of_the_logarithm_and_the_roots():
    with ctx.workprec(300):
        exact = arb(fmpq(exponential._LN_2.numerator, exponential._LN_2.denominator))
        assert abs(arb(2).log() - exact) < arb(2) ** -190
        for i, root in enumerate(exponential._ROOTS.tolist()):
            assert abs(arb(root) * arb(2) ** (arb(i) / 64) - 1) <= arb(2) ** -53


def test_choices_beyond_the_reach_of_floats_keep_their_tiny_chance():
    distances, lengths = [0, 800], [1, 1]
    sums = _sums(np.array([distances]), np.array([lengths]), [Fraction(1)])
    assert not _decide(sums, np.array([2**64 - 1], np.uint64))[1][0]
    with ctx.workprec(3000):
        border = (arb(2) ** 2000 / (1 + (-arb(800)).exp())).floor().unique_fmpz()
    assert _settle(distances, lengths, Fraction(1), int(border) - 1, 2000) == 0
    assert _settle(distances, lengths, Fraction(1), int(border) + 1, 2000) == 1


def test_a_single_choice_is_always_made():
    assert choose([17], [3], Fraction(1)) == 0


def test_scores_far_apart_choose_the_least_even_where_the_rate_times_the_score_is_astronomic():
    assert choose(np.array([10**200, 0], dtype=object), [1, 1], Fraction(2**800)) == 1


def test_hardly_any_draw_needs_more_than_64_bits():
    random = np.random.default_rng()
    scores = np.abs(np.cumsum(random.integers(0, 3, (500, 4096)), axis=1) - 2048)
    sums = _sums(scores - scores.min(axis=1, keepdims=True), np.ones_like(scores), [Fraction(1, 100)] * 500)
    certain = _decide(sums, exponential.source.words(500))[1]
    assert np.count_nonzero(~certain) <= stats.binom.isf(FALSE_ALARM, 500, 1e-6)


@pytest.mark.parametrize("limit", [1, 2, 5, 13])
def test_points_below_a_limit_are_uniform(limit):
    drawn = np.array(uniform_below([limit] * 20_000))
    counts = np.bincount(drawn)
    assert len(counts) == limit
    assert limit == 1 or stats.chisquare(counts).pvalue > FALSE_ALARM


@pytest.mark.parametrize(
    ("scores", "lengths", "rates"),
    [
        (np.array([[0, 1]]), [1, -1], Fraction(1)),
        (np.array([[0, 1]]), [0, 0], Fraction(1)),
        (np.array([[0, 1]]), [1, 2**63], Fraction(1)),
        (np.array([[0, 1]]), [1, 1], Fraction(0)),
        (np.array([[0, 1]]), [1, 1], [Fraction(1), Fraction(1)]),
        (np.array([[0.5, 1]]), [1, 1], Fraction(1)),
        (np.array([[0, 1]]), [0.5, 1], Fraction(1)),
        (np.array([0, 1]), [1, 1], Fraction(1)),
    ],
)
def test_what_has_no_law_is_refused(scores, lengths, rates):
    with pytest.raises(InternalError, match="hoice"):
        choose_many(scores, lengths, rates)
