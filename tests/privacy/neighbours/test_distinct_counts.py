"""COUNT(DISTINCT x): one owner adds at most d values to a group, in at most C groups, by either bound."""

import itertools
from collections import defaultdict
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hedgerow.privacy.distinct import DistinctLevel

CHECKS = settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
MEASURES = ["COUNT(DISTINCT i)", "COUNT(DISTINCT x)", "COUNT(DISTINCT d) FILTER (WHERE b)", "COUNT(DISTINCT i % 2)"]
values = st.tuples(
    st.sampled_from(["a", "b", "c", None]),
    st.sampled_from([None, "p", "q", "P", ""]),
    st.one_of(st.none(), st.sampled_from([0.0, -0.0, 1.0, 2.5, float("nan"), float("inf")])),
    st.one_of(st.none(), st.integers(-3, 12)),
    st.sampled_from([None, True, False]),
)
own = st.lists(values, max_size=14)
bounds_of = st.tuples(
    st.integers(1, 8), st.one_of(st.none(), st.integers(1, 5)), st.one_of(st.none(), st.integers(1, 3))
)
methods = pytest.mark.parametrize("method", ["flow", "simple"])


@pytest.fixture
def counted(laboratory, limits, row):
    """The exact counts of a statement, by measure and key, over the keys of everybody."""

    def count(measures, bounds, method, crowds, keys="GROUP BY g", mechanism="gaussian"):
        shown = ", ".join([*(["g"] if keys else []), *measures])
        unique = bounds is None
        own_limits = limits(unique=True) if unique else limits(*bounds)
        plan = laboratory.plan(f"SELECT {shown} FROM t {keys}", own_limits, mechanism=mechanism, method=method)
        rows = [
            [row(n, *cells) for n, own in enumerate(crowd) for cells in (own[:1] if unique else own)]
            for crowd in crowds
        ]
        selected = sorted({(person_row.g,) for crowd in rows for person_row in crowd}, key=repr) if keys else [()]
        return plan, [laboratory.distinct(crowd_rows, plan, selected) for crowd_rows in rows]

    return count


def assert_moved_within(plan, before, after):
    """By what the noise was made for: d in a group, in C groups."""
    for counts, one, other in zip(plan.distinct, before, after, strict=True):
        moved = [new - old for new, old in zip(other, one, strict=True)]
        assert all(0 <= move <= counts.level.per_owner for move in moved)
        assert sum(move > 0 for move in moved) <= counts.level.groups


@methods
@CHECKS
@given(
    st.lists(st.sampled_from(MEASURES), min_size=1, max_size=2, unique=True),
    st.one_of(st.none(), bounds_of),
    st.lists(own, max_size=4),
    own,
    st.sampled_from(["", "GROUP BY g"]),
    st.sampled_from(["gaussian", "laplace"]),
)
def test_one_owner_more_adds_at_most_d_values_in_at_most_c_groups(
    counted, method, measures, bounds, members, newcomer, keys, mechanism
):
    bounds = bounds and (bounds[0], None if bounds[1] is None else min(bounds[1], bounds[0]), bounds[2])
    plan, (before, after) = counted(measures, bounds, method, [members, [*members, newcomer]], keys, mechanism)
    assert_moved_within(plan, before, after)


@methods
@pytest.mark.parametrize("bounds", [(1, 1, 1), (2, 1, 2), (2, 2, 1), (3, 2, 2)])
def test_every_tiny_database_keeps_the_bound(counted, method, bounds):
    """Every two owners with up to three of four (group, value) pairs each: 196 databases side by side."""
    kinds = list(itertools.product("ab", (1, 2)))
    owners = [own for size in (1, 2, 3) for own in itertools.combinations(kinds, size)]
    alone, together = [], []
    for number, (first, second) in enumerate(itertools.product(owners, owners)):
        pair = [[(f"{number}{g}", None, None, i, None) for g, i in own] for own in (first, second)]
        alone += [pair[0], []]
        together += pair
    plan, (before, after) = counted(["COUNT(DISTINCT i)"], bounds, method, [alone, together])
    keys = sorted({cells[0] for own in together for cells in own}, key=lambda key: repr((key,)))
    for counts, olds, news in zip(plan.distinct, before, after, strict=True):
        moved = defaultdict(list)
        for key, old, new in zip(keys, olds, news, strict=True):
            moved[key[:-1]].append((old, new))
        assert len(moved) == 196
        for changes in moved.values():
            one = replace(plan, distinct=(counts,))
            assert_moved_within(one, *([list(side)] for side in zip(*changes, strict=True)))
        assert any(new - old == counts.level.per_owner for changes in moved.values() for old, new in changes)


@methods
def test_the_test_notices_values_that_are_not_capped(counted, method):
    newcomer = [("a", None, None, i, None) for i in range(9)]
    plan, (before, after) = counted(["COUNT(DISTINCT i)"], (2, 2, 1), method, [[], [newcomer]])
    assert after == [[1], [2]]
    smaller = replace(
        plan, distinct=tuple(replace(counts_of, level=DistinctLevel(1, 1)) for counts_of in plan.distinct)
    )
    with pytest.raises(AssertionError):
        assert_moved_within(smaller, before, after)
    assert before == [[0], [0]]


@methods
def test_the_test_notices_groups_that_are_not_capped(counted, method):
    newcomer = [(g, None, None, 1, None) for g in "abc"]
    plan, (before, after) = counted(["COUNT(DISTINCT i)"], (3, 1, 2), method, [[], [newcomer]])
    assert [sorted(counts) for counts in after] == [[0, 0, 1], [0, 1, 1]]
    smaller = replace(
        plan, distinct=tuple(replace(counts_of, level=DistinctLevel(1, 1)) for counts_of in plan.distinct)
    )
    with pytest.raises(AssertionError):
        assert_moved_within(smaller, before, after)
