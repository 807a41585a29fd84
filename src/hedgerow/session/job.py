"""A statement in the background, which can be cancelled by itself."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Generic, TypeVar

from hedgerow.cancellation import Cancellation

Result = TypeVar("Result")


class Job(Generic[Result]):
    """A statement that runs in a thread of its own: what `db.submit` returns."""

    def __init__(self, ask: Callable[[], Result]) -> None:
        self._cancellation = Cancellation()
        self.future: Future[Result] = Future()
        """The same as a future of `concurrent.futures`, which cannot cancel it."""
        threading.Thread(target=self._run, args=(ask,), name="hedgerow-job").start()

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
    job = Job(ask)
    try:
        while not job.done():
            wait([job.future], timeout=1)  # with a timeout: the signal may reach another thread, and not wake this one
        return job.result()
    except KeyboardInterrupt as interrupt:
        while not job.done():
            job.cancel()  # more than once: an engine forgets a request that comes between two of its statements
            wait([job.future], timeout=0.1)
        error = job.future.exception()
        interrupt.receipt = getattr(error, "receipt", None)  # type: ignore[attr-defined]
        interrupt.repeatable = getattr(error, "repeatable", False)  # type: ignore[attr-defined]
        raise
