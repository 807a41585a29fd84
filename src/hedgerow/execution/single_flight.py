"""The same question asked by many threads at once is paid for once: whoever comes while it runs waits for it.

What holds between processes is less. Each of them asks a question once at a time; two processes that ask the same one
in the same moment may both pay, and the first release answers it from then on.
"""

import os
import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from hedgerow.errors import BackendError


class Turns:
    """Who asks what now. One for the process: several databases may share a ledger."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running: set[Hashable] = set()

    @contextmanager
    def turn(self, question: Hashable, waiting: "Waiting") -> Iterator[None]:
        """Inside, nobody else in this process asks the same question; whoever is cancelled while waiting is told so."""
        with self._changed:
            begun = waiting.cancelled
            while question in self._running:
                self._changed.wait()
                if waiting.cancelled != begun:
                    raise BackendError("The question was cancelled while it waited for its turn.", code="cancelled")
            self._running.add(question)
        try:
            yield
        finally:
            with self._changed:
                self._running.discard(question)
                self._changed.notify_all()

    def cancel(self, waiting: "Waiting") -> None:
        """Wake up whoever waits in the name of `waiting`."""
        with self._changed:
            waiting.cancelled += 1
            self._changed.notify_all()


class Waiting:
    """Those who wait for a turn at one database, to be cancelled together."""

    def __init__(self) -> None:
        self.cancelled = 0
        """How often."""


TURNS = Turns()


def _begin_anew() -> None:
    """In a forked process none of its parent's threads run."""
    TURNS.__init__()  # type: ignore[misc]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
