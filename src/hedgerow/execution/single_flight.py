"""Deduplication of concurrent questions: a question that many threads ask at once is paid for once.

Between processes less is guaranteed: two that ask the same question at the same time may both pay, and the first
release answers it from then on.
"""

import os
import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from hedgerow.cancellation import active_cancellation
from hedgerow.errors import BackendError


class SingleFlight:
    """Questions in progress. One object for the process: several databases may share a ledger."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running: set[Hashable] = set()

    @contextmanager
    def hold(self, question: Hashable, waiters: "Waiters") -> Iterator[None]:
        """Hold a question: no other thread asks it meanwhile. Raise an error if cancelled while waiting."""
        cancellation = active_cancellation()
        with cancellation.calling(self._wake), self._changed:
            begun = waiters.cancelled
            while question in self._running:
                if not cancellation.requested:
                    self._changed.wait()
                if waiters.cancelled != begun or cancellation.requested:
                    raise BackendError("The question was cancelled while it waited for its turn.", code="cancelled")
            self._running.add(question)
        try:
            yield
        finally:
            with self._changed:
                self._running.discard(question)
                self._changed.notify_all()

    def cancel(self, waiters: "Waiters") -> None:
        """Wake up the threads that wait in the name of `waiters`."""
        with self._changed:
            waiters.cancelled += 1
            self._changed.notify_all()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()


class Waiters:
    """Threads that wait at one database, to be cancelled together."""

    def __init__(self) -> None:
        self.cancelled = 0
        """Number of cancellations."""


SINGLE_FLIGHT = SingleFlight()


def _begin_anew() -> None:
    """Reset the state in a forked process, in which none of its parent's threads run."""
    SINGLE_FLIGHT.__init__()  # type: ignore[misc]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
