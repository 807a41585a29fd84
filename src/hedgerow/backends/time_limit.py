"""Statements that take too long are stopped."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from hedgerow.backends.base import failure
from hedgerow.errors import HedgerowError

SECONDS_BETWEEN_STOPS = 0.5
"""An engine that was not yet, or no longer, at work when it was told to stop is told again."""

STOPPED = frozenset({"cancelled", "engine-failed"})
"""Codes of the errors of a statement that was stopped."""


@contextmanager
def stop_after(seconds: float, stop: Callable[[], object]) -> Iterator[None]:
    """Call `stop` from another thread when the time is over, until what runs in here has ended.

    `stop` is never called after the end: the next statement on the same connection is not stopped for this one.

    Privacy: which statement is stopped may depend on the data, as every measure of time does. What is said does not.
    """
    ended, expired, turn = threading.Event(), threading.Event(), threading.Lock()

    def watch() -> None:
        pause = seconds
        while not ended.wait(pause):
            expired.set()
            pause = SECONDS_BETWEEN_STOPS
            with turn, suppress(Exception):
                if not ended.is_set():
                    stop()

    threading.Thread(target=watch, name="hedgerow-time-limit", daemon=True).start()
    try:
        yield
    except Exception as error:
        if expired.is_set() and (not isinstance(error, HedgerowError) or error.code in STOPPED):
            raise failure(error, "timed-out") from None
        raise
    finally:
        with turn:
            ended.set()
