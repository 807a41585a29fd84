"""Whole statements whose noise is known: many groups of equal content, so that one answer is many draws."""

import numpy as np
import pytest
from scipy import stats

FALSE_ALARM = 1e-9
"""False-alarm rate of a test of this kind."""

WRONG = 1.3
"""A scale this many times too large or too small must be rejected."""


def _two_sided(law, value):
    return 2 * min(law.cdf(value), law.sf(value))


def _gaussian(draws, sigma):
    return _two_sided(stats.chi2(len(draws)), np.sum((draws / sigma) ** 2))


def _laplace(draws, scale):
    return _two_sided(stats.chi2(2 * len(draws)), 2 * np.sum(np.abs(draws)) / scale)


def _unit_laplace(draws, scale):
    """Pearson's test on the sizes 0, 1, 2, … of integers with P(x) proportional to exp(-|x| / scale)."""
    ratio = np.exp(-1.0 / scale)
    sizes = np.arange(0, 200)
    chances = np.where(sizes == 0, 1.0, 2.0) * (1 - ratio) / (1 + ratio) * ratio**sizes
    last = int(np.flatnonzero(chances * len(draws) >= 25)[-1]) + 1
    seen = np.bincount(np.minimum(np.abs(np.round(draws)).astype(int), last), minlength=last + 1)
    expected = np.append(chances[:last], 1 - chances[:last].sum()) * len(draws)
    return stats.chi2(last).sf(np.sum((seen - expected) ** 2 / expected))


LAWS = {"gaussian": _gaussian, "laplace": _laplace, "unit laplace": _unit_laplace}


@pytest.fixture
def assert_law():
    """Draws have the law and the scale that were paid for; a scale 30 % off is told from it by the same test."""

    def check(draws, law, scale):
        draws = np.asarray(draws, dtype=float)
        assert LAWS[law](draws, scale) > FALSE_ALARM
        assert LAWS[law](draws, scale * WRONG) < FALSE_ALARM
        assert LAWS[law](draws, scale / WRONG) < FALSE_ALARM
        assert stats.binomtest(int(np.sum(draws > 0)), int(np.sum(draws != 0))).pvalue > FALSE_ALARM

    return check


@pytest.fixture
def assert_chance():
    """So many of so many happened, each with the given probability; 30 % more distance would not fit."""

    def check(happened, of, chance):
        assert stats.binomtest(happened, of, chance).pvalue > FALSE_ALARM

    return check


@pytest.fixture
def people(build):
    """`groups` groups of `size` people each, all with x = 3 in [0, 10]; a person has `rows` rows, all in one group."""

    def connect(groups, size, *, declared=True, min_frequency=1, rows=1, **options):
        unit = "u BIGINT PRIMARY KEY" if rows == 1 else "u BIGINT"
        values = f"{{values: [{', '.join(map(str, range(groups)))}]}}" if declared else "{}"
        limits = "unit_unique: true" if rows == 1 else f"max_rows: {rows}"
        return build(
            [
                f"CREATE TABLE t ({unit}, g INTEGER NOT NULL, x DOUBLE NOT NULL)",
                f"INSERT INTO t SELECT j // {rows}, j // {rows * size}, 3.0 FROM range({groups * size * rows}) r(j)",
            ],
            f"t: {{unit: u, {limits}, columns: {{x: {{lower: 0, upper: 10}}, g: {values}}}}}",
            min_frequency=min_frequency,
            **options,
        )

    return connect
