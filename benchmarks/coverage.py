"""Coverage and length of intervals: every aggregate, both noises, three sizes, three confidences.

Noise of the law that a release has is drawn many times around exact sums and handed to the estimators that answer
queries. Rows are shown as they are, picked (the largest of fifty groups), or all at once (five groups, none of which
may miss). A width is the median one, over that of the shortest interval around the estimate that would hold as often
if the law of its error were known. Quantiles and their limits are drawn from exact bucket weights at the level that is
asked for, by the code that draws them for a query, but with NumPy's samplers of the same laws (the samplers of a
release, which are tested elsewhere, would take most of the time).

    python benchmarks/coverage.py [--draws 2000]
"""

import argparse
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
from rich.console import Console
from rich.table import Table

from hedgerow.aggregates import Rank, lookup
from hedgerow.aggregates.base import DistinctCount, Drawn, Form, MeasuredSums
from hedgerow.distributions import Gaussian, Laplace, Noise
from hedgerow.error_bars.intervals import Bounds, quotient_bounds
from hedgerow.error_bars.intervals.interval import EXACT
from hedgerow.error_bars.intervals.variances import squares_range
from hedgerow.privacy.bounding import Bounding
from hedgerow.privacy.distinct import DistinctLevel, shares_of
from hedgerow.privacy.ranks import gaussian_column, laplace_column
from hedgerow.release import draw as release_draw
from hedgerow.release import ranks as release_ranks
from hedgerow.release.ranks import measure_column
from hedgerow.statistics.moments import (
    BERNSTEIN,
    BILINEAR,
    CORNERS,
    CORRELATION,
    Family,
    Moments,
    ScaledColumn,
    lambda_family,
)
from hedgerow.statistics.quantiles import Reach, Target, bucket_grid, rank_scores
from hedgerow.statistics.quantiles.buckets import score_rate

Floats = np.ndarray[Any, np.dtype[np.float64]]
Ends = tuple[Floats, Floats]
Whole = np.ndarray[Any, np.dtype[np.int64]]
Measurement = tuple[Any, Noise, float, Callable[[Floats], MeasuredSums]]
"""Exact coordinates, the law of their noise, the exact statistic, and noisy coordinates as an estimator takes them."""
Measure = Callable[[str, int], Measurement]

SIGMA = 5.0
SIZES = (60, 250, 1000)
CONFIDENCES = (0.5, 0.95, 0.999)
NOISES = ("gaussian", "laplace")
MODES = ("plain", "picked", "simultaneous")
PICKED_FROM, AT_ONCE = 50, 5
LAPLACE = math.sqrt(2) / SIGMA
"""Epsilon at which a count has Laplace noise with this standard deviation."""

TOP, AT_ONCE_DRAWN = 255, 2_000
"""The largest value of a column whose quantiles are drawn, and how many groups are drawn at once."""
CELLS = 20
"""Number of groups whose standard deviation is taken."""


@dataclass(frozen=True)
class Setting:
    """Exact coordinates of one group, the law of their noise, and the estimator of many such groups."""

    exact: Floats
    noise: Noise
    truth: float
    values: Callable[[Floats], Floats]
    interval: Callable[[Floats, float], Ends]

    def draw(self, groups: int, beta: float) -> Floats:  # noqa: ARG002 - a quantile is drawn with its interval
        """Noisy coordinates of many groups with the same exact ones; `beta` is the level of their intervals."""
        random, shape = np.random.default_rng(), (len(self.exact), groups)
        if isinstance(self.noise, Gaussian):
            noise = random.normal(0.0, self.noise.sigma, shape)
        elif self.noise.step:
            share = -math.expm1(-self.noise.step / self.noise.scale)
            noise = self.noise.step * (random.geometric(share, shape) - random.geometric(share, shape)).astype(float)
        else:
            noise = random.laplace(0.0, self.noise.scale, shape)
        return self.exact[:, None] + noise


@dataclass(frozen=True)
class RankSetting(Setting):
    """A quantile of whole numbers in one group: its exact bucket weights, its rank, and the noise that is paid for."""

    mechanism: str = "gaussian"
    rank: Rank = field(default=Rank(Fraction(1, 2)))

    def draw(self, groups: int, beta: float) -> Floats:
        """The drawn value and its limits, of many groups with the same exact weights."""
        make, budget = (gaussian_column, SIGMA**-2) if self.mechanism == "gaussian" else (laplace_column, LAPLACE)
        buckets = bucket_grid(0, TOP, TOP + 1)
        column = make(0, buckets, [self.rank], budget, Bounding(1, 1, 1, weighted=False, size=10**6), 0, beta)
        parts = []
        with numpy_samplers():
            for start in range(0, groups, AT_ONCE_DRAWN):
                weights = np.tile(self.exact.astype(np.int64), (min(AT_ONCE_DRAWN, groups - start), 1))
                (drawn,) = measure_column(
                    weights, buckets, column.draws, column.cumulative, mechanism=self.mechanism, weight_bits=0
                )
                parts.append(np.stack([drawn.points, drawn.lower, drawn.upper]).astype(float))
        return np.concatenate(parts, axis=1)


@contextmanager
def numpy_samplers() -> Iterator[None]:
    """Let the code that draws quantiles use NumPy's samplers of the laws that its own have; groups are all alike."""
    random = np.random.default_rng()

    def one_bucket(weights: Whole, target: Target, epsilon: Fraction, reach: Reach) -> Whole:
        scores = rank_scores(weights[:1], target)[0].astype(float)
        cumulative = np.cumsum(np.exp(-float(score_rate(target, epsilon, reach)) * scores))
        return np.searchsorted(cumulative, cumulative[-1] * random.random(len(weights)), side="right")

    def integer_noise(mechanism: str, _: float) -> Callable[[float, int], Whole]:
        def laplace(scale: float, count: int) -> Whole:
            share = -math.expm1(-1 / scale)
            return random.geometric(share, count) - random.geometric(share, count)

        def gaussian(scale: float, count: int) -> Whole:
            return np.rint(random.normal(0.0, scale, count)).astype(np.int64)

        return laplace if mechanism == "laplace" else gaussian

    with (
        patch.object(release_ranks, "draw_buckets", one_bucket),
        patch.object(release_draw, "sampler", integer_noise),
        patch.object(release_ranks, "uniform_below", lambda limits: random.integers(0, limits).tolist()),
    ):
        yield


@dataclass(frozen=True)
class Case:
    """A row of the table: what is measured, and its kind (linear, quotient, other)."""

    name: str
    kind: str
    setting: Callable[[str, int], Setting]


def noise_of(kind: str, step: float = 0.0) -> Noise:
    """The noise of one coordinate; counts have Laplace noise on the whole numbers."""
    return Gaussian(SIGMA) if kind == "gaussian" else Laplace(SIGMA / math.sqrt(2), step)


def columns(size: int) -> tuple[Floats, Floats]:
    """Two columns in centred units, uneven and correlated."""
    line = (np.arange(size) + 0.5) / size
    first = 2 * line**1.5 - 1
    return first, np.clip(0.6 * first + 0.4 * np.cos(9 * line), -1, 1)


def aggregate_case(name: str, kind: str, measure: Measure, *, label: str | None = None) -> Case:
    """A case of a registered aggregate; `measure` gives exact coordinates, noise, truth and what was measured.

    Of a risk, the interval over the noise is computed alone: a population's, which takes most of the time, is left out.
    """

    def setting(noise: str, size: int) -> Setting:
        exact, law, truth, measured = measure(noise, size)
        aggregate = lookup(name)
        if aggregate is None:
            raise LookupError(name)

        estimator = getattr(aggregate, "over_noise", aggregate.estimate)

        def interval(coordinates: Floats, beta: float) -> Ends:
            estimate = estimator(measured(coordinates), beta)
            return estimate.lower, estimate.upper

        return Setting(np.asarray(exact, float), law, truth, lambda c: aggregate.values(measured(c)), interval)

    return Case(label or name, kind, setting)


def count(noise: str, size: int) -> Measurement:
    law = noise_of(noise, 1.0)
    return [size], law, float(size), lambda c: MeasuredSums(count=Form(c[0], ((0, 1.0, law),)))


def total(noise: str, size: int) -> Measurement:
    law, first = noise_of(noise), columns(size)[0]
    return [first.sum()], law, float(first.sum()), lambda c: MeasuredSums(total=Form(c[0], ((0, 1.0, law),)))


def mean(noise: str, size: int) -> Measurement:
    law, first = noise_of(noise), columns(size)[0]

    def measured(c: Floats) -> MeasuredSums:
        return MeasuredSums(count=Form(c[0], ((0, 1.0, law),)), centred=Form(c[1], ((1, 1.0, law),)))

    return [size, first.sum()], law, float(first.mean()), measured


def moments(statistic: Callable[[Floats, Floats], float], gaussian: Family, laplace: Family) -> Measure:
    """Moments of one column or two, by the family that a release has."""

    def measure(noise: str, size: int) -> Measurement:
        family, law = (gaussian if noise == "gaussian" else laplace), noise_of(noise)
        first, second = columns(size)
        sums = np.array([np.sum(first**i * second**j) for i, j in family.monomials])
        scaled = ScaledColumn(1.0, 1.0)

        def measured(c: Floats) -> MeasuredSums:
            return MeasuredSums(moments=Moments.of(family, c, law), column=scaled, other=scaled)

        return np.array(family.matrix, float) @ sums, law, statistic(first, second), measured

    return measure


def table(statistic: Callable[..., float]) -> Measure:
    """The four counts of a two by two table."""

    def measure(noise: str, size: int) -> Measurement:
        law = noise_of(noise, 1.0)
        cells = np.round(np.array([0.3, 0.2, 0.1, 0.4]) * size)
        a, b, c, d = cells / size

        def measured(noisy: Floats) -> MeasuredSums:
            return MeasuredSums(cells=tuple(Form(noisy[k], ((k, 1.0, law),)) for k in range(4)))

        return cells, law, statistic(a / (a + b), c / (c + d)), measured

    return measure


def quotient(
    numerator: list[float], denominator: list[float], shares: list[float], support: tuple[float, float]
) -> Callable[[str, int], Setting]:
    """A quotient of two linear forms in several counts, each a share of the size."""

    def setting(noise: str, size: int) -> Setting:
        law, exact = noise_of(noise, 1.0), np.round(np.array(shares) * size)
        top, bottom = np.array(numerator), np.array(denominator)
        terms = [(a, b, law) for a, b in zip(numerator, denominator, strict=True)]

        def values(c: Floats) -> Floats:
            return np.asarray((top @ c) / (bottom @ c))

        def interval(c: Floats, beta: float) -> Ends:
            bounds = quotient_bounds(top @ c, bottom @ c, terms, beta, support)
            return bounds.lower, bounds.upper

        return Setting(exact, law, float(top @ exact / (bottom @ exact)), values, interval)

    return setting


def deviation(noise: str, size: int) -> Setting:
    """STDDEV_POP of twenty noisy counts under Gaussian noise."""
    exact = size * (1 + 0.5 * np.linspace(-1, 1, CELLS))
    law = noise_of(noise)

    def values(c: Floats) -> Floats:
        return np.asarray(c.std(axis=0))

    def interval(c: Floats, beta: float) -> Ends:
        lower, upper = squares_range(CELLS * c.var(axis=0), CELLS, SIGMA, beta)
        return np.sqrt(lower / CELLS), np.sqrt(upper / CELLS)

    return Setting(exact, law, float(exact.std()), values, interval)


def rank_case(name: str, rank: Rank, label: str) -> Case:
    """A quantile of whole numbers from 0 to 255."""

    def setting(noise: str, size: int) -> Setting:
        values = np.floor((TOP + 1) * ((np.arange(size) + 0.5) / size) ** 1.5).astype(np.int64)
        truth = float(values[math.ceil(rank.quantile * size) - 1])
        aggregate = lookup(name)
        if aggregate is None:
            raise LookupError(name)

        def measured(c: Floats, beta: float) -> MeasuredSums:
            safe = np.ones(c.shape[1], bool)
            return MeasuredSums(drawn=Drawn(c[0], Bounds(c[1], c[2], [EXACT] * len(safe)), beta, 0.0, TOP, safe))

        def interval(c: Floats, beta: float) -> Ends:
            estimate = aggregate.estimate(measured(c, beta), beta)
            return estimate.lower, estimate.upper

        weights = np.bincount(values, minlength=TOP + 1).astype(float)
        return RankSetting(
            weights, noise_of(noise), truth, lambda c: aggregate.values(measured(c, 1.0)), interval, noise, rank
        )

    return Case(label, "other", setting)


def distinct(fractions: tuple[float, ...], per_owner: tuple[int, ...], *, whole: bool = False) -> Measure:
    """Counts of distinct values to which a person adds some at most: each finds a share of the values."""
    shares = shares_of([DistinctLevel(d, 1) for d in per_owner])

    def measure(noise: str, size: int) -> Measurement:
        power = 0.5 if noise == "gaussian" else 1.0
        factors = [d / share**power for d, share in zip(per_owner, shares, strict=True)]
        laws = [Gaussian(SIGMA * f) if noise == "gaussian" else Laplace(f / LAPLACE, float(whole)) for f in factors]

        def measured(c: Floats) -> MeasuredSums:
            counts = [
                DistinctCount(Form(factor * c[i], ((i, 1.0, law),)), i == len(laws) - 1, whole, math.inf)
                for i, (factor, law) in enumerate(zip(factors, laws, strict=True))
            ]
            return MeasuredSums(distinct=tuple(counts))

        exact = [fraction * size / factor for fraction, factor in zip(fractions, factors, strict=True)]
        return exact, noise_of(noise, float(whole)), float(size), measured

    return measure


def slope(z: Floats, w: Floats) -> float:
    return float(np.cov(z, w, ddof=0)[0, 1] / z.var())


CASES = (
    aggregate_case("COUNT", "linear", count),
    aggregate_case("SUM", "linear", total),
    aggregate_case("AVG", "quotient", mean),
    Case("SUM / SUM", "quotient", quotient([1, 0], [0, 1], [0.7, 1.0], (-np.inf, np.inf))),
    Case("share of five", "quotient", quotient([1, 0, 0, 0, 0], [1] * 5, [1, 0.5, 0.7, 0.3, 2], (0.0, 1.0))),
    aggregate_case("VAR_POP", "other", moments(lambda z, _: float(z.var()), lambda_family(), BERNSTEIN)),
    aggregate_case("STDDEV_SAMP", "other", moments(lambda z, _: float(z.std(ddof=1)), lambda_family(), BERNSTEIN)),
    aggregate_case("COVAR_POP", "other", moments(lambda z, w: float(np.cov(z, w, ddof=0)[0, 1]), BILINEAR, BILINEAR)),
    aggregate_case("CORR", "other", moments(lambda z, w: float(np.corrcoef(z, w)[0, 1]), CORRELATION, CORNERS)),
    aggregate_case("REGR_R2", "other", moments(lambda z, w: float(np.corrcoef(z, w)[0, 1] ** 2), CORRELATION, CORNERS)),
    aggregate_case("REGR_SLOPE", "other", moments(slope, CORRELATION, CORNERS)),
    aggregate_case(
        "REGR_INTERCEPT",
        "other",
        moments(lambda z, w: float(1 + w.mean() - slope(z, w) * (z.mean() + 1)), CORRELATION, CORNERS),
    ),
    aggregate_case("RELATIVE_RISK", "other", table(lambda p, q: p / q)),
    aggregate_case("ODDS_RATIO", "other", table(lambda p, q: p / (1 - p) / (q / (1 - q)))),
    aggregate_case("RISK_DIFFERENCE", "other", table(lambda p, q: p - q)),
    Case("STDDEV over groups", "other", deviation),
    rank_case("MEDIAN", Rank(Fraction(1, 2)), "MEDIAN"),
    rank_case("QUANTILE_DISC", Rank(Fraction(9, 10)), "PERCENTILE_DISC 0.9"),
    aggregate_case("COUNT", "linear", distinct((1.0,), (1,), whole=True), label="COUNT(DISTINCT), one row each"),
    aggregate_case("COUNT", "other", distinct((1.0, 1.0, 1.0), (1, 4, 16)), label="COUNT(DISTINCT), shared values"),
    aggregate_case("COUNT", "other", distinct((0.2, 0.6, 1.0), (1, 4, 16)), label="COUNT(DISTINCT), values of few"),
)

LIMITS = {"linear": 1.15, "quotient": 1.15, "other": 1.5}
"""The longest that an interval may be, in lengths of the shortest."""

LATTICE = "Laplace noise of counts is on the whole numbers, and each count in a quotient adds a part of a step"
SIDE_VALUES = "means and variances that the statistic depends on are hardly known in so small a group"
SLOPE_FIRST = "the slope has an interval of its own, and its error counts in full"
NO_RATE = "the rate in the denominator may be zero"
DRAWN_APART = (
    "the value and its limits are drawn one by one, each for a part of the budget, and limits are ends of cells"
)
ALL_VALUES = "the upper limit rests on the count to which people add all of their values, which has the most noise"
EXCEPTIONS: dict[tuple[str, str, int], tuple[tuple[float, float, float], str]] = {
    **{("SUM / SUM", "laplace", size): ((1.4, 1.15, 1.15), LATTICE) for size in SIZES},
    **{("share of five", "laplace", size): ((1.55, 1.2, 1.2), LATTICE) for size in SIZES},
    **{(name, noise, 60): ((2.4, 1.9, 1.5), SIDE_VALUES) for name in ("VAR_POP", "STDDEV_SAMP") for noise in NOISES},
    ("COVAR_POP", "gaussian", 60): ((4.1, 2.7, 1.7), SIDE_VALUES),
    ("COVAR_POP", "laplace", 60): ((5.2, 3.1, 1.6), SIDE_VALUES),
    ("COVAR_POP", "laplace", 250): ((1.9, 1.65, 1.75), SIDE_VALUES),
    ("CORR", "gaussian", 60): ((5.2, 1.5, 1.5), SIDE_VALUES),
    ("CORR", "gaussian", 250): ((1.8, 1.5, 1.5), SIDE_VALUES),
    ("CORR", "laplace", 60): ((4.0, 1.5, 1.5), SIDE_VALUES),
    ("CORR", "laplace", 250): ((9.0, 4.0, 2.0), SIDE_VALUES),
    ("CORR", "laplace", 1000): ((2.0, 1.6, 1.65), SIDE_VALUES),
    **{("REGR_R2", noise, size): ((1.8, 1.5, 1.5), SIDE_VALUES) for noise in NOISES for size in (60, 250)},
    ("REGR_R2", "laplace", 250): ((2.9, 1.5, 1.5), SIDE_VALUES),
    ("REGR_R2", "laplace", 1000): ((1.95, 1.55, 1.5), SIDE_VALUES),
    **{("REGR_SLOPE", noise, 60): ((math.inf, math.inf, math.inf), SIDE_VALUES) for noise in NOISES},
    ("REGR_SLOPE", "gaussian", 250): ((1.9, 1.85, 1.9), SIDE_VALUES),
    ("REGR_SLOPE", "laplace", 250): ((2.6, 2.4, 3.6), SIDE_VALUES),
    **{("REGR_INTERCEPT", noise, 60): ((math.inf, math.inf, math.inf), SLOPE_FIRST) for noise in NOISES},
    ("REGR_INTERCEPT", "gaussian", 250): ((3.9, 2.8, 2.8), SLOPE_FIRST),
    ("REGR_INTERCEPT", "laplace", 250): ((4.7, 3.6, 9.0), SLOPE_FIRST),
    ("REGR_INTERCEPT", "gaussian", 1000): ((3.2, 2.1, 1.9), SLOPE_FIRST),
    ("REGR_INTERCEPT", "laplace", 1000): ((3.5, 2.3, 2.15), SLOPE_FIRST),
    **{
        (name, noise, 60): ((2.6, math.inf, math.inf), NO_RATE)
        for name in ("RELATIVE_RISK", "ODDS_RATIO")
        for noise in NOISES
    },
    **{(name, "laplace", 250): ((1.5, 1.5, math.inf), NO_RATE) for name in ("RELATIVE_RISK", "ODDS_RATIO")},
    **{
        (name, noise, size): ((12.0, 4.5, 4.0), DRAWN_APART)
        for name in ("MEDIAN", "PERCENTILE_DISC 0.9")
        for noise in NOISES
        for size in SIZES
    },
    **{
        ("COUNT(DISTINCT), shared values", noise, size): ((19.0, 18.0, 18.0), ALL_VALUES)
        for noise in NOISES
        for size in SIZES
    },
    ("COUNT(DISTINCT), values of few", "gaussian", 60): ((2.4, 4.4, 5.3), ALL_VALUES),
    ("COUNT(DISTINCT), values of few", "gaussian", 250): ((1.5, 1.6, 2.2), ALL_VALUES),
    ("COUNT(DISTINCT), values of few", "laplace", 60): ((3.2, 8.0, 12.0), ALL_VALUES),
    ("COUNT(DISTINCT), values of few", "laplace", 250): ((1.5, 3.0, 5.2), ALL_VALUES),
    ("COUNT(DISTINCT), values of few", "laplace", 1000): ((1.5, 1.5, 2.0), ALL_VALUES),
}


def limit(case: Case, noise: str, size: int, confidence: float) -> float:
    """The longest that an interval may be here, in lengths of the shortest."""
    plain = (LIMITS[case.kind],) * len(CONFIDENCES)
    return EXCEPTIONS.get((case.name, noise, size), (plain, ""))[0][CONFIDENCES.index(confidence)]


def settings() -> Iterator[tuple[Case, str, int]]:
    """All cases with the noises and sizes that they have."""
    for case in CASES:
        for noise in NOISES:
            if case.setting is deviation and noise == "laplace":
                continue
            for size in SIZES:
                yield case, noise, size


def hits(setting: Setting, mode: str, confidence: float, draws: int, *, factor: float = 1.0) -> tuple[int, int]:
    """Number of intervals that hold, and of all; `factor` makes them longer or shorter than the estimator says."""
    beta = 1 - confidence
    if mode == "picked":
        beta /= PICKED_FROM
        noisy = setting.draw(PICKED_FROM * draws, beta)
        values = np.nan_to_num(setting.values(noisy), nan=-np.inf).reshape(draws, PICKED_FROM)
        noisy = noisy[:, values.argmax(axis=1) + PICKED_FROM * np.arange(draws)]
    else:
        beta = beta / AT_ONCE if mode == "simultaneous" else beta
        noisy = setting.draw(draws, beta)
    lower, upper = setting.interval(noisy, beta)
    if factor != 1.0:
        middle, half = (lower + upper) / 2, factor * (upper - lower) / 2
        lower, upper = middle - half, middle + half
    slack = 1e-9 * max(1.0, abs(setting.truth))
    held = (lower - slack <= setting.truth) & (setting.truth <= upper + slack)
    if mode == "simultaneous":
        held = held[: len(held) // AT_ONCE * AT_ONCE].reshape(-1, AT_ONCE).all(axis=1)
    return int(np.count_nonzero(held)), len(held)


def widths(setting: Setting, draws: int, share: float = 0.5) -> list[float]:
    """The median width at each confidence, or another quantile of it, over the shortest interval's."""
    many = max(40_000, 100 * draws)
    error = np.abs(setting.values(setting.draw(many, 0.5)) - setting.truth)
    error = error[np.isfinite(error)]
    ratios = []
    for confidence in CONFIDENCES:
        lower, upper = setting.interval(setting.draw(draws, 1 - confidence), 1 - confidence)
        ratios.append(float(np.quantile(upper - lower, share, method="lower") / (2 * np.quantile(error, confidence))))
    return ratios


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2_000)
    draws = parser.parse_args().draws
    heads = ["", "noise", "people", *(f"{c:g} {mode}" for c in CONFIDENCES for mode in MODES)]
    coverage, lengths = Table(*heads), Table("", "noise", "people", *(f"{c:g}" for c in CONFIDENCES))
    for case, noise, size in settings():
        setting = case.setting(noise, size)
        shares = [hits(setting, mode, confidence, draws) for confidence in CONFIDENCES for mode in MODES]
        coverage.add_row(case.name, noise, str(size), *(f"{held / of:.3f}" for held, of in shares))
        lengths.add_row(case.name, noise, str(size), *(f"{ratio:.2f}" for ratio in widths(setting, draws)))
    console = Console(width=140)
    console.print("How often intervals hold", coverage, "Width over the shortest interval that holds as often", lengths)


if __name__ == "__main__":
    main()
