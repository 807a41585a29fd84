"""A bounded memory of values by key, for all threads of a session."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


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
