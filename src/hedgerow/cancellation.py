"""Cancelling one statement, from any thread.

A statement runs under one `Cancellation`. Whatever may take long registers a function that stops it; where a statement
waits or is about to be charged, it asks whether it was cancelled.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from hedgerow.errors import BackendError


class Cancellation:
    """The wish to stop one statement. It cannot be taken back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stops: list[Callable[[], object]] = []
        self.requested = False
        """True once the statement was cancelled."""

    def request(self) -> None:
        """Cancel the statement: call the functions that stop what runs now. May be called from any thread."""
        with self._lock:
            self.requested = True
            stops = list(self._stops)
        for stop in stops:
            stop()

    def check(self) -> None:
        """Raise an error if the statement was cancelled.

        Privacy: cancelling is the analyst's own act; the message says nothing else.
        """
        if self.requested:
            raise BackendError("The statement was cancelled.", code="cancelled")

    @contextmanager
    def calling(self, stop: Callable[[], object]) -> Iterator[None]:
        """Call `stop` if the statement is cancelled inside; raise an error if it was cancelled before."""
        with self._lock:
            self._stops.append(stop)
        try:
            self.check()
            yield
        finally:
            with self._lock:
                self._stops.remove(stop)

    @contextmanager
    def active(self) -> Iterator[None]:
        """Let the statement inside, in this thread, be cancelled by this object."""
        before = _active.set(self)
        try:
            yield
        finally:
            _active.reset(before)


_active: ContextVar[Cancellation | None] = ContextVar("hedgerow_cancellation", default=None)


def active_cancellation() -> Cancellation:
    """Return that of the statement in this thread; one that nobody can request, if it has none."""
    return _active.get() or Cancellation()
