"""Two lower estimates of the number of distinct values, if each owner may contribute only a few.

Both take pairs of (owner, value) as whole numbers and return an exact count that one owner moves by at most
`per_owner`; noise is added elsewhere. The choice between them must not depend on the data (docs/proofs/distinct.md).
"""

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError
from hedgerow.late import csr_array

Numbers = NDArray[np.int64]


def distinct_flow(owners: Numbers, values: Numbers, per_owner: int) -> int:
    """Maximum number of distinct values that owners can cover, each with at most `per_owner` of their own.

    It is the maximum flow from owners (capacity `per_owner`) to values (capacity 1).

    Privacy: a flow without an owner is one with it, and a flow with it loses at most `per_owner` when what runs
    through it is taken away. So adding or removing an owner changes the count by at most `per_owner` (Knop and
    Steinke 2023).

    Example:
        >>> distinct_flow(np.array([1, 1, 1, 2]), np.array([7, 8, 9, 7]), per_owner=1)
        2
    """
    people, things = _distinct_pairs(owners, values, per_owner)
    covered, people, things = _cover_by_light_owners(people, things, per_owner)
    return covered + _flow(people, things, per_owner)


def simple_distinct(owners: Numbers, values: Numbers, per_owner: int) -> int:
    """Number of distinct values if each owner keeps the first `per_owner` of their own, in the given order.

    Privacy: the order of an owner's pairs must depend on that owner's rows alone (a hash of owner and value).
    Then an owner adds a set of at most `per_owner` values to a union, and changes its size by at most that.

    Example:
        >>> simple_distinct(np.array([1, 1, 1, 2]), np.array([7, 8, 9, 7]), per_owner=1)
        1
    """
    people, things = _distinct_pairs(owners, values, per_owner)
    order = np.argsort(people, kind="stable")
    people, things = people[order], things[order]
    starts = np.searchsorted(people, people, side="left")
    return len(np.unique(things[np.arange(len(people)) - starts < per_owner]))


def _distinct_pairs(owners: Numbers, values: Numbers, per_owner: int) -> tuple[Numbers, Numbers]:
    """The pairs without duplicates, numbered from 0 in the order of first occurrence."""
    if len(owners) != len(values) or per_owner < 1:
        raise InternalError("Distinct values need one owner for each value, and at least one value for an owner.")
    people = np.unique(owners, return_inverse=True)[1]
    kinds, things = np.unique(values, return_inverse=True)
    first = np.sort(np.unique(people * max(len(kinds), 1) + things, return_index=True)[1])
    return people[first].astype(np.int64), things[first].astype(np.int64)


def _cover_by_light_owners(people: Numbers, things: Numbers, per_owner: int) -> tuple[int, Numbers, Numbers]:
    """Number of values covered by owners who can cover all of their own, and the remaining pairs.

    Such an owner may as well cover all of its values: whoever covered one of them before becomes free for
    another. That leaves others with fewer values, so it is done again until no such owner is left.
    """
    covered = 0
    while len(people):
        light = np.bincount(people)[people] <= per_owner
        done = np.unique(things[light])
        if not len(done):
            break
        covered += len(done)
        left = ~np.isin(things, done)
        people, things = people[left], things[left]
    return covered, people, things


def _flow(people: Numbers, things: Numbers, per_owner: int) -> int:
    """The maximum flow through the pairs: source, owners, values, sink."""
    if not len(people):
        return 0
    names, owner = np.unique(people, return_inverse=True)
    kinds, value = np.unique(things, return_inverse=True)
    sink = len(names) + len(kinds) + 1
    begin = np.concatenate([np.zeros(len(names), int), 1 + owner, 1 + len(names) + np.arange(len(kinds))])
    end = np.concatenate([1 + np.arange(len(names)), 1 + len(names) + value, np.full(len(kinds), sink)])
    room = np.ones(len(begin), dtype=np.int32)
    room[: len(names)] = min(per_owner, len(kinds))
    from scipy.sparse.csgraph import maximum_flow  # noqa: PLC0415 - a fifth of a second to load, and seldom needed

    graph = csr_array((room, (begin, end)), shape=(sink + 1, sink + 1))
    return int(maximum_flow(graph, 0, sink).flow_value)
