"""A bounded memory of values by key, for all threads of a process."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from typing import Generic, ParamSpec, TypeVar

V = TypeVar("V")
P = ParamSpec("P")

MAXIMUM_RESULTS = 200
"""Number of results of one function that are kept."""


class RecentlyUsed(Generic[V]):
    """Values by key; those that were not asked for the longest time are dropped.

    Args:
        maximum: The largest total weight of the values.
    """

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._values: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()
        self._weight = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable | None) -> V | None:
        """Return the value that is kept under `key`, if there is one."""
        with self._lock:
            if key is None or key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def keep(self, key: Hashable | None, value: V, weight: int = 1) -> None:
        """Keep a value, unless it has no key; one that is too heavy takes the place of an earlier one all the same."""
        if key is None:
            return
        with self._lock:
            self._weight -= self._values.pop(key, (None, 0))[1]
            self._values[key] = value, weight
            self._weight += weight
            while self._weight > self._maximum:
                _, (_, dropped) = self._values.popitem(last=False)
                self._weight -= dropped

    def clear(self) -> None:
        """Drop all values."""
        with self._lock:
            self._values.clear()
            self._weight = 0


def once_per_plan(function: Callable[P, V]) -> Callable[P, V]:
    """Let a function of frozen trees compute its result once for the same trees.

    A connection asks the same plan again and again (`execution.caches`), and to compare or hash a whole plan takes
    longer than most of these functions. So positional arguments are compared by identity, the items of a tuple one by
    one; they are kept with the result, so that no other object can have their identity. The result must not be
    changed.
    """
    results = RecentlyUsed[tuple[object, V]](MAXIMUM_RESULTS)

    @wraps(function)
    def remembered(*args: P.args, **kwargs: P.kwargs) -> V:
        identities = tuple(tuple(map(id, arg)) if type(arg) is tuple else id(arg) for arg in args)
        key = (identities, *kwargs.items())
        kept = results.get(key)
        if kept is None:
            kept = (args, function(*args, **kwargs))
            results.keep(key, kept)
        return kept[1]

    return remembered
