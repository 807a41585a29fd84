"""Every aggregate there is, taken from the registry: one person moves what it measures by no more than was charged."""

import itertools
from functools import cache

import numpy as np
import pytest

from hedgerow.aggregates import Aggregate, Kind, NeededSums, lookup, names
from hedgerow.aggregates.avg import Avg
from hedgerow.aggregates.base import _AGGREGATES, aggregate
from hedgerow.expressions.types import Type

COLUMNS = {"x": "x", "y": "i", "k": "i", "b": "b", "c": "(x > 3)"}
"""Values of the placeholders of examples in the laboratory's tables."""

VALUES = list(
    itertools.product(("a", "z"), ("p",), (-2.0, 3.5, 10.0, 1e300, None), (0, 3, 5, None), (True, False, None))
)
"""Rows at the ends of every range, beyond them, and without values."""

CROWD = [(owner, *VALUES[(7 * owner) % len(VALUES)]) for owner in range(25)]
NEWCOMERS = {
    "alike": [VALUES[30]] * 4,
    "largest": [("a", "p", 10.0, 5, True)] * 4,
    "smallest": [("a", "p", -2.0, 0, True)] * 4,
    "everywhere": VALUES,
}
both = pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])


@pytest.fixture
def assert_within_charge(laboratory, limits, row, paid):
    """One person more moves all sums, and the weights that ranks are drawn from, within what is paid for."""

    def check(name, mechanism, *, unique, newcomers=NEWCOMERS):
        bounds = limits(unique=True) if unique else limits(rows=3, groups=2)
        select = f"SELECT g, {lookup(name).example.format(**COLUMNS)} AS v FROM t GROUP BY g"
        plan = laboratory.plan(select, bounds, mechanism=mechanism)
        before = [row(*values) for values in CROWD]

        def weights(rows, keys):
            return laboratory.weights(rows, plan, keys) if plan.bucketings else []

        @cache
        def without_newcomer(keys):
            return laboratory.measure(before, plan, keys), weights(before, keys)

        for newcomer in newcomers.values():
            after = before + [row(1000, *values) for values in (newcomer[:1] if unique else newcomer)]
            measured = laboratory.measure(after, plan)
            keys = tuple(measured.units)
            measured_before, weights_before = without_newcomer(keys)
            spent, charged = paid(measured - measured_before, plan)
            assert spent <= charged
            tables = zip(weights(after, keys), weights_before, strict=True)
            moved = [np.sum(more - less, axis=1) for more, less in tables]
            assert all(np.all(moved[draw.bucketing] <= draw.reach.weight) for draw in plan.draws)

    return check


@both
@pytest.mark.parametrize("unique", [True, False])
@pytest.mark.parametrize("name", names())
def test_one_person_moves_it_within_the_charge(assert_within_charge, name, mechanism, unique):
    assert_within_charge(name, mechanism, unique=unique)


@pytest.mark.parametrize("name", names())
def test_one_person_moves_it_within_the_charge_with_known_facts(assert_within_charge, laboratory, name, monkeypatch):
    monkeypatch.setattr(laboratory, "facts", True)
    newcomers = {"alike": NEWCOMERS["alike"], "everywhere": VALUES}
    assert_within_charge(name, "gaussian", unique=False, newcomers=newcomers)


class Twice(Aggregate):
    """Counts each row in two cells that are charged as if no row could be in both."""

    result = Type.FLOAT

    def sums(self, arguments, *, where, distinct):  # noqa: ARG002 - as all aggregates have them
        return NeededSums(Kind.CELLS, None, where, bins=(arguments[0], arguments[0]))

    def estimate(self, measured, beta):
        return Avg().estimate(measured, beta)


@both
def test_cells_that_overlap_are_caught(assert_within_charge, mechanism):
    aggregate("TWICE", "TWICE({b})", "COUNT(*)")(Twice)
    try:
        with pytest.raises(AssertionError):
            assert_within_charge("TWICE", mechanism, unique=True)
    finally:
        del _AGGREGATES["TWICE"]
