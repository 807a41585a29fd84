"""A statement in the background, which can be cancelled by itself."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from itertools import count
from typing import Generic, TypeVar

from hedgerow.cancellation import Cancellation

Result = TypeVar("Result")

ATTEMPTS = 10
"""Number of requests, a tenth of a second apart, after which a thread that has not begun never will."""


class Job(Generic[Result]):
    """A statement that runs in a thread of its own: what `db.submit` returns."""

    def __init__(self, ask: Callable[[], Result], *, start: bool = True) -> None:
        self._cancellation = Cancellation()
        self.future: Future[Result] = Future()
        """The same as a future of `concurrent.futures`, which cannot cancel it."""
        self._thread = threading.Thread(target=self._run, args=(ask,), name="hedgerow-job")
        if start:
            self.start()

    def start(self) -> None:
        """Run the statement. An interrupt may reach this thread while the other one begins."""
        self._thread.start()

    def _run(self, ask: Callable[[], Result]) -> None:
        self.future.set_running_or_notify_cancel()
        try:
            with self._cancellation.active():
                self.future.set_result(ask())
        except BaseException as error:  # noqa: BLE001 - whoever takes the result gets it
            self.future.set_exception(error)

    def result(self, timeout: float | None = None) -> Result:
        """Wait for the answer and return it, or raise the error of the statement.

        Args:
            timeout: Number of seconds to wait; then a `TimeoutError` is raised, and the statement goes on.
        """
        return self.future.result(timeout)

    def done(self) -> bool:
        """Return True if there is an answer or an error."""
        return self.future.done()

    def cancel(self) -> None:
        """Stop the statement, and no other; `result` then raises a `BackendError` with the code `cancelled`.

        The error says whether the statement had been charged: a charge is never given back. A statement that has ended
        keeps its answer.
        """
        self._cancellation.request()

    def __repr__(self) -> str:
        state = "done" if self.done() else "cancelled, still stopping" if self._cancellation.requested else "running"
        return f"<hedgerow.Job: {state}>"


def wait_for(ask: Callable[[], Result]) -> Result:
    """Run a question in a thread of its own and wait for its result, so that Ctrl-C stops it at once.

    In the main thread, an engine that computes would notice the interrupt only at its end.
    """
    job = Job(ask, start=False)
    try:
        job.start()
        while not job.done():
            wait([job.future], timeout=1)  # with a timeout: the signal may reach another thread, and not wake this one
        return job.result()
    except KeyboardInterrupt as interrupt:
        _stop(job)
        error = job.future.exception() if job.done() else None
        interrupt.receipt = getattr(error, "receipt", None)  # type: ignore[attr-defined]
        interrupt.repeatable = getattr(error, "repeatable", False)  # type: ignore[attr-defined]
        raise


def _stop(job: Job[Result]) -> None:
    """Cancel a statement until it has ended; wait a second for a thread that has not begun.

    More than one request: an engine forgets one that comes between two of its statements.
    """
    for attempt in count():
        if job.done() or (attempt >= ATTEMPTS and not job.future.running()):
            return
        job.cancel()
        wait([job.future], timeout=0.1)
