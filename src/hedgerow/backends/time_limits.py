"""One thread that calls functions when their time is over.

A statement ends long before its time limit, as a rule, and starting a thread for each would take longer than many
statements. So one thread waits for the earliest limit of all; it ends when no limit is left.
"""

import heapq
import itertools
import os
import threading
import time
from collections.abc import Callable

Limit = list[Callable[[], object] | None]
"""The function to call when the time is over; None once the statement has ended."""


class TimeLimits:
    """The time limits of running statements."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._limits: list[tuple[float, int, Limit]] = []
        self._numbers = itertools.count()
        self._wakes_at: float | None = None

    def start(self, seconds: float, call: Callable[[], object]) -> Limit:
        """Call a function, from a thread of its own, unless the limit is ended within some seconds."""
        limit: Limit = [call]
        deadline = time.monotonic() + seconds
        with self._changed:
            while self._limits and self._limits[0][2][0] is None:
                heapq.heappop(self._limits)
            heapq.heappush(self._limits, (deadline, next(self._numbers), limit))
            if self._wakes_at is None:
                self._wakes_at = deadline
                threading.Thread(target=self._watch, name="hedgerow-time-limits", daemon=True).start()
            elif deadline < self._wakes_at:
                self._changed.notify()
        return limit

    @staticmethod
    def end(limit: Limit) -> None:
        """End a limit: its function is not called any more, unless that has begun."""
        limit[0] = None

    def _watch(self) -> None:
        with self._changed:
            while self._limits:
                self._call_those_due()
                if self._wakes_at is not None:
                    self._changed.wait(min(self._wakes_at - time.monotonic(), threading.TIMEOUT_MAX))

    def _call_those_due(self) -> None:
        """Drop the limits that are over. The waiting thread refers to no function: one may hold a connection."""
        now = time.monotonic()
        while self._limits and (self._limits[0][2][0] is None or self._limits[0][0] <= now):
            call = heapq.heappop(self._limits)[2][0]
            if call is not None:
                threading.Thread(target=call, name="hedgerow-stop", daemon=True).start()
        self._wakes_at = self._limits[0][0] if self._limits else None


time_limits = TimeLimits()
"""Those of this process. Threads do not survive a fork, so a child gets its own."""

os.register_at_fork(after_in_child=time_limits.__init__)  # type: ignore[misc]
