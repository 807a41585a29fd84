"""Populations to draw from, and groups of people drawn from them, in a database."""

import numpy as np
import pytest
from scipy import stats

FALSE_ALARM = 1e-9
"""False-alarm rate of a test of randomness."""

PEOPLE = "u BIGINT PRIMARY KEY, g INTEGER NOT NULL, ill BOOLEAN, smokes BOOLEAN"
DRAWN = (
    "INSERT INTO t SELECT j, j // {size}, random() < CASE WHEN j % 2 = 0 THEN {first} ELSE {second} END, j % 2 = 0 "
    "FROM range({rows}) r(j)"
)


class Chances:
    """Tests of how often something happens."""

    false_alarm = FALSE_ALARM

    @staticmethod
    def is_as_common_as(happened, share):
        """True if something that happens with probability `share` or more could happen so seldom."""
        happened = np.asarray(happened)
        return stats.binom.cdf(int(happened.sum()), len(happened), share) > FALSE_ALARM

    @staticmethod
    def is_as_rare_as(happened, share):
        """True if something that happens with probability `share` or less could happen so often."""
        happened = np.asarray(happened)
        return stats.binom.sf(int(happened.sum()) - 1, len(happened), share) > FALSE_ALARM


@pytest.fixture
def chances():
    return Chances


@pytest.fixture
def clinic(build):
    """Groups of `size` people, half of whom smoke; they are ill with the probabilities of the population."""

    def built(groups=1, size=200, *, first=0.3, second=0.2, min_frequency=1, declared=True):
        keys = f"g: {{values: [{', '.join(map(str, range(groups)))}]}}" if declared else ""
        return build(
            [
                f"CREATE TABLE t ({PEOPLE})",
                DRAWN.format(size=size, rows=groups * size, first=first, second=second),
            ],
            f"t: {{unit: u, unit_unique: true, columns: {{{keys}}}}}",
            min_frequency=min_frequency,
            handed_in=True,
        )

    return built


@pytest.fixture
def visits(build):
    """A table in which a person has up to three rows."""

    def built(people=300):
        return build(
            [
                "CREATE TABLE v (u BIGINT NOT NULL, ill BOOLEAN, smokes BOOLEAN)",
                f"INSERT INTO v SELECT j // 3, random() < 0.4, j % 2 = 0 FROM range({3 * people}) r(j)",
            ],
            "v: {unit: u, max_rows: 3}",
            handed_in=True,
        )

    return built


@pytest.fixture
def ends():
    """Both ends of all intervals of a column; those about the population if asked for."""

    def actual(answer, column, *, population=False):
        bars = [row[column] for row in answer.intervals]
        pairs = [bar.population if population else (bar.lower, bar.upper) for bar in bars]
        return np.array(pairs, dtype=float).T

    return actual
