"""Tests that a frequency differs from an allowed one."""

import numpy as np
import pytest
from scipy import stats

FALSE_ALARM = 1e-9


class Rates:
    """Counts of a rare event, held against its chance."""

    @staticmethod
    def may_be(happened, chance):
        """True if something of this chance, or less, could have happened so often."""
        happened = np.asarray(happened)
        return stats.binom.sf(int(happened.sum()) - 1, happened.size, chance) > FALSE_ALARM

    @staticmethod
    def may_reach(happened, chance):
        """True if something of this chance, or more, could have happened so seldom."""
        happened = np.asarray(happened)
        return stats.binom.cdf(int(happened.sum()), happened.size, chance) > FALSE_ALARM


@pytest.fixture
def rates():
    return Rates


@pytest.fixture
def random():
    """Unseeded: tests are about laws."""
    return np.random.default_rng()


@pytest.fixture
def people(build):
    """4 000 people in two groups, with a whole number from 0 to 6 and a half."""
    return build(
        [
            "CREATE TABLE t (u BIGINT PRIMARY KEY, g INTEGER NOT NULL, i INTEGER NOT NULL, x DOUBLE NOT NULL)",
            "INSERT INTO t SELECT j, j % 2, j % 7, 2.5 + j % 5 FROM range(4000) r(j)",
        ],
        "t: {unit: u, unit_unique: true, columns: {i: {lower: 0, upper: 6}, x: {lower: 0, upper: 10}}}",
    )
