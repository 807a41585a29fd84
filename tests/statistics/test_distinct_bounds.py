from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.errors import InternalError
from hedgerow.statistics.distinct_bounds import distinct_flow, simple_distinct

PAIRS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 15)), max_size=60)
COUNTS = [distinct_flow, simple_distinct]


def count(how, pairs, per_owner):
    owners = np.array([owner for owner, _ in pairs], dtype=np.int64)
    values = np.array([value for _, value in pairs], dtype=np.int64)
    return how(owners, values, per_owner)


def best_cover(sets, per_owner):
    """By definition: the largest union of subsets of at most `per_owner` values for each owner."""
    choices = [[set(kept) for kept in combinations(sorted(own), min(per_owner, len(own)))] for own in sets]
    return max(len(set().union(*kept)) for kept in product(*choices))


SETS = [set(kept) for size in range(4) for kept in combinations(range(3), size)]


@pytest.mark.parametrize("per_owner", [1, 2, 3])
def test_the_flow_is_the_best_cover_and_no_owner_moves_it_by_more_than_its_share(per_owner):
    for sets in product(SETS, repeat=3):
        pairs = [(owner, value) for owner, own in enumerate(sets) for value in own]
        flow = count(distinct_flow, pairs, per_owner)
        assert flow == best_cover(sets, per_owner)
        for removed in range(3):
            left = [pair for pair in pairs if pair[0] != removed]
            assert 0 <= flow - count(distinct_flow, left, per_owner) <= per_owner


@pytest.mark.parametrize("how", COUNTS)
@given(pairs=PAIRS, per_owner=st.integers(1, 6))
def test_no_owner_moves_a_count_by_more_than_its_share(how, pairs, per_owner):
    whole = count(how, pairs, per_owner)
    for removed in {owner for owner, _ in pairs}:
        left = [pair for pair in pairs if pair[0] != removed]
        assert 0 <= whole - count(how, left, per_owner) <= per_owner


def test_one_owner_can_move_both_counts_by_its_whole_share():
    pairs = [(1, value) for value in range(9)]
    assert [count(how, pairs, 4) for how in COUNTS] == [4, 4]


@given(pairs=PAIRS, per_owner=st.integers(1, 6))
def test_both_counts_are_lower_estimates_and_the_flow_is_the_better_one(pairs, per_owner):
    distinct = len({value for _, value in pairs})
    assert count(simple_distinct, pairs, per_owner) <= count(distinct_flow, pairs, per_owner) <= distinct


@given(pairs=PAIRS, per_owner=st.integers(1, 6))
def test_the_flow_is_what_a_network_without_any_shortcut_carries(pairs, per_owner):
    """Augmenting paths, one at a time."""
    holder = {}

    def place(owner, tried):
        for value in sorted({v for o, v in pairs if o == owner} - tried):
            tried.add(value)
            if value not in holder or place(holder[value], tried):
                holder[value] = owner
                return True
        return False

    placed = sum(place(owner, set()) for owner in sorted({o for o, _ in pairs}) for _ in range(per_owner))
    assert count(distinct_flow, pairs, per_owner) == placed


@given(pairs=PAIRS, per_owner=st.integers(1, 6), data=st.data())
def test_the_flow_depends_neither_on_order_nor_on_repetition_nor_on_names(pairs, per_owner, data):
    shuffled = data.draw(st.permutations(pairs + pairs))
    renamed = [(10**15 - owner, 7 * value - 10**14) for owner, value in shuffled]
    assert count(distinct_flow, renamed, per_owner) == count(distinct_flow, pairs, per_owner)


def test_the_simple_count_keeps_the_first_distinct_values_of_each_owner_in_the_order_given():
    pairs = [(2, 5), (1, 8), (2, 5), (1, 9), (2, 6), (2, 7), (1, 4)]
    assert count(simple_distinct, pairs, 2) == len({5, 6, 8, 9})
    reordered = {count(simple_distinct, order, 1) for order in permutations([(1, 8), (1, 9), (2, 8)])}
    assert reordered == {1, 2}


@pytest.mark.parametrize("how", COUNTS)
def test_there_is_nothing_in_nothing(how):
    assert count(how, [], 3) == 0


@pytest.mark.parametrize("how", COUNTS)
def test_a_share_that_cannot_be_is_refused(how):
    with pytest.raises(InternalError, match="at least one value"):
        count(how, [(1, 1)], 0)
    with pytest.raises(InternalError, match="one owner for each value"):
        how(np.array([1]), np.array([1, 2]), 1)
