"""Errors of variances, covariances and correlations: constants by closed form and by simulation; intervals.

Simulations draw fresh noise, so that digits differ from run to run. The program ends with an error if a simulated
constant is more than 3 % from the one of the design, or if the default release is not as much better as it should be.
Constants are about estimates that are not cut to their range; cutting makes errors smaller at the ends of it.

    python benchmarks/moments.py [--draws 200000]
"""

import argparse
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from hedgerow.distributions import Gaussian, Laplace, Noise
from hedgerow.statistics.moments import (
    BERNSTEIN,
    BILINEAR,
    CORNERS,
    CORRELATION,
    TENSOR,
    Family,
    Moments,
    correlation_bounds,
    covariance_bounds,
    lambda_family,
    slope_bounds,
    var_pop,
    variance_bounds,
)
from hedgerow.statistics.moments.estimates import covariance_constant, variance_constant

OUT = Console(width=110)
Floats = np.ndarray[Any, np.dtype[np.float64]]
SIGMA, ROWS, CLOSE = 5.0, 20_000.0, 0.03
CENTRED = Family.of("centred sums, thirds", ((0, 0), (1, 0), (2, 0)), np.eye(3, dtype=int).tolist())
PLACES = {
    "m=0, v=0": (0, 0),
    "m=.5, v=0": (0.5, 0),
    "uniform": (0.5, 1 / 12),
    "fair coin": (0.5, 0.25),
    "m=.1, v=.01": (0.1, 0.01),
    "m=.1, v=.09": (0.1, 0.09),
    "m=.2, v=.02": (0.2, 0.02),
}
DESIGN = {
    CENTRED: [1.125, 0.1875, 0.20833, 0.375, 0.735, 0.6822, 0.4722],
    BERNSTEIN: [1, 0.1875, 0.16667, 0.25, 0.65, 0.5572, 0.4172],
    lambda_family(Fraction(0)): [1, 0.14286, 0.08730, 0.07143, 0.64286, 0.53406, 0.39406],
    lambda_family(): [1.01613, 0.12903, 0.07168, 0.06452, 0.64258, 0.52490, 0.38490],
    lambda_family(Fraction(1)): [1.0625, 0.125, 0.0625, 0.0625, 0.6625, 0.5297, 0.3897],
}
Row = tuple[str, str, float, float, float]


def feasible(means: int, variances: int) -> tuple[Floats, Floats]:
    mean = np.repeat(np.linspace(0, 1, means), variances)
    return mean, np.tile(np.linspace(0, 1, variances), means) * mean * (1 - mean)


def frechet(means: int, covariances: int) -> tuple[tuple[Floats, Floats], Floats]:
    line = np.linspace(0, 1, means)
    first, second, share = (axis.ravel() for axis in np.meshgrid(line, line, np.linspace(0, 1, covariances)))
    least = np.maximum(-first * second, -(1 - first) * (1 - second))
    greatest = np.minimum(first * (1 - second), second * (1 - first))
    return (first, second), least + share * (greatest - least)


def noisy(family: Family, moments: dict[tuple[int, int], float], noise: Noise, draws: int) -> Moments:
    """Many releases of one group whose sums these are."""
    exact = np.array(family.matrix, dtype=float) @ np.array([moments[monomial] for monomial in family.monomials])
    random, shape = np.random.default_rng(), (len(family.rows), draws)
    if isinstance(noise, Gaussian):
        return Moments.of(family, exact[:, None] + random.normal(0, noise.sigma, shape), noise)
    return Moments.of(family, exact[:, None] + random.laplace(0, noise.scale, shape), noise)


def variance_error(family: Family, mean: float, variance: float, draws: int) -> float:
    """The simulated constant: the mean squared error in units of sigma^2 / n^2, for a range of one."""
    p, v = 2 * mean - 1, 4 * variance
    sums = {(0, 0): ROWS, (1, 0): ROWS * p, (2, 0): ROWS * (v + p**2)}
    seen = noisy(family, {monomial: sums.get(monomial, 0.0) for monomial in family.monomials}, Gaussian(SIGMA), draws)
    estimate = seen.sums[3] / seen.count - (seen.sums[1] / seen.count) ** 2
    return float(np.mean((estimate - v) ** 2)) * ROWS**2 / SIGMA**2 / 16


def covariance_error(family: Family, means: tuple[float, float], covariance: float, draws: int) -> float:
    p, r = 2 * means[0] - 1, 2 * means[1] - 1
    moments = dict.fromkeys(family.monomials, 0.0)
    moments |= {(0, 0): ROWS, (1, 0): ROWS * p, (0, 1): ROWS * r, (1, 1): ROWS * (4 * covariance + p * r)}
    seen = noisy(family, moments, Gaussian(SIGMA), draws)
    estimate = seen.sums[4] / seen.count - seen.sums[1] * seen.sums[2] / seen.count**2
    return float(np.mean((estimate - 4 * covariance) ** 2)) * ROWS**2 / SIGMA**2 / 16


def variance_rows(draws: int) -> Iterator[Row]:
    for family, printed in DESIGN.items():
        times = 3.0 if family is CENTRED else 1.0
        for (label, place), said in zip(PLACES.items(), printed, strict=True):
            closed = times * float(variance_constant(family, *np.array([place]).T)[0])
            yield family.name, label, said, closed, times * variance_error(family, *place, draws)


def average_rows(draws: int) -> Iterator[Row]:
    """Averages over the grids of the design, each point of which is simulated with its share of the draws."""
    averages = {BERNSTEIN: 0.4160, lambda_family(Fraction(0)): 0.3616, lambda_family(): 0.3530}
    averages |= {lambda_family(Fraction(1)): 0.3566}
    for family, said in averages.items():
        yield _averaged(family, feasible(41, 21), said, draws)
    yield _averaged(CORRELATION, feasible(25, 15), 0.6985, draws)
    yield _covaried(BILINEAR, frechet(11, 5), 0.501, draws)
    yield _covaried(CORRELATION, frechet(25, 15), 0.5319, draws)


def _averaged(family: Family, grid: tuple[Floats, Floats], said: float, draws: int) -> Row:
    share = max(2 * draws // len(grid[0]), 100)
    simulated = np.mean(
        [variance_error(family, m, v, share) for m, v in zip(*map(np.ndarray.tolist, grid), strict=True)]
    )
    return family.name, "variance, average", said, float(variance_constant(family, *grid).mean()), float(simulated)


def _covaried(family: Family, grid: tuple[tuple[Floats, Floats], Floats], said: float, draws: int) -> Row:
    (first, second), covariance = grid
    share = max(2 * draws // len(first), 100)
    points = zip(first.tolist(), second.tolist(), covariance.tolist(), strict=True)
    simulated = np.mean([covariance_error(family, (m, k), c, share) for m, k, c in points])
    closed = float(covariance_constant(family, (first, second), covariance).mean())
    return family.name, "covariance, average", said, closed, float(simulated)


def constants(draws: int) -> bool:
    table = Table("release", "data", "design", "closed form", "simulated", "off", title="Mean squared error x mu^2 n^2")
    good = True
    for name, label, said, closed, simulated in (*variance_rows(draws), *average_rows(draws)):
        off = simulated / said - 1
        good &= abs(off) < CLOSE and abs(closed / said - 1) < CLOSE
        table.add_row(name, label, f"{said:.5g}", f"{closed:.5f}", f"{simulated:.5f}", f"{off:+.1%}")
    OUT.print(table)
    return good


def ratios(draws: int) -> bool:
    """The default against equal noise."""
    uniform = variance_error(BERNSTEIN, 0.5, 1 / 12, draws) / variance_error(lambda_family(), 0.5, 1 / 12, draws)
    grid = feasible(1001, 501)
    ratio = variance_constant(lambda_family(), *grid) / variance_constant(BERNSTEIN, *grid)
    OUT.print(f"Uniform data: equal noise on Bezier coordinates errs {uniform:.2f} times as much as the default.")
    OUT.print(f"On {len(grid[0]):,} feasible (mean, variance) the default errs {ratio.min():.3f} to {ratio.max():.4f}")
    OUT.print(f"times as much as equal noise, {ratio.mean():.3f} on average.")
    return bool(uniform >= 1.9 and ratio.max() <= 1.02)


def laplace_correlations() -> None:
    table = Table("release", "variance", "covariance", "total", title="Correlations under Laplace noise, x 1 / (2 b^2)")
    for family in (CORNERS, TENSOR):
        parts = (
            variance_constant(family, *feasible(25, 15)).mean(),
            covariance_constant(family, *frechet(25, 15)).mean(),
        )
        table.add_row(family.name, *(f"{part:.3f}" for part in (*parts, 2 * parts[0] + parts[1])))
    alone = (
        variance_constant(BERNSTEIN, *feasible(25, 15)).mean(),
        covariance_constant(BILINEAR, *frechet(25, 15)).mean(),
    )
    separate = (2 * alone[0] ** (1 / 3) + alone[1] ** (1 / 3)) ** 3
    table.add_row("three releases, best split", "", "", f"{separate:.3f}")
    OUT.print(table)


def clamped(draws: int) -> None:
    """The estimator itself, cut to its range, on 2 000 uniform rows at mu = 0.2."""
    table = Table("release", "root mean squared error", "first order", title="VAR of 2 000 uniform rows, mu = 0.2")
    sums = {(0, 0): 2000.0, (1, 0): 0.0, (2, 0): 2000 / 3}
    for family in list(DESIGN)[1:]:
        errors = var_pop(noisy(family, sums, Gaussian(SIGMA), draws)) / 4 - 1 / 12
        expected = np.sqrt(variance_constant(family, np.array([0.5]), np.array([1 / 12]))[0]) * SIGMA / 2000
        table.add_row(family.name, f"{np.sqrt(np.mean(errors**2)):.3e}", f"{expected:.3e}")
    OUT.print(table)


def intervals(draws: int) -> None:
    table = Table("n", "data", "noise", "coverage", "mean width", "ms / 1 000 groups", title="95 % intervals, VAR")
    for rows, label, (mean, variance) in (
        (100, "uniform", (0.5, 1 / 12)),
        (300, "uniform", (0.5, 1 / 12)),
        (1000, "uniform", (0.5, 1 / 12)),
        (300, "Beta(2, 8)", (0.2, 0.16 / 11)),
    ):
        p, v = 2 * mean - 1, 4 * variance
        sums = {(0, 0): float(rows), (1, 0): rows * p, (2, 0): rows * (v + p**2)}
        for family, noise in ((lambda_family(), Gaussian(SIGMA)), (BERNSTEIN, Laplace(SIGMA / np.sqrt(2)))):
            seen = noisy(family, sums, noise, draws)
            start = time.perf_counter()
            bounds = variance_bounds(seen, 0.05)
            spent = (time.perf_counter() - start) * 1e6 / draws
            held = np.mean((bounds.lower <= v) & (v <= bounds.upper))
            width = np.mean(bounds.upper - bounds.lower) / 4
            table.add_row(str(rows), label, type(noise).__name__, f"{held:.3f}", f"{width:.4f}", f"{spent:.1f}")
    OUT.print(table)


def speed() -> None:
    """A thousand groups of two columns."""
    table = Table("statistic", "noise", "ms / 1 000 groups", title="Intervals of two columns")
    sums = dict(zip(CORRELATION.monomials, (400.0, 20.0, -40.0, 120.0, 60.0, 150.0), strict=True))
    for family, noise in ((CORRELATION, Gaussian(SIGMA)), (CORNERS, Laplace(SIGMA / np.sqrt(2)))):
        seen = noisy(family, sums, noise, 1000)
        for bounds in (covariance_bounds, correlation_bounds, slope_bounds):
            start = time.perf_counter()
            bounds(seen, 0.05)
            spent = (time.perf_counter() - start) * 1e3
            table.add_row(bounds.__name__, type(noise).__name__, f"{spent:.1f}")
    OUT.print(table)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--draws", type=int, default=200_000)
    draws = arguments.parse_args().draws
    good = [constants(draws), ratios(draws)]
    laplace_correlations()
    clamped(draws)
    intervals(min(draws, 20_000))
    speed()
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
