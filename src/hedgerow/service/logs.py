"""The service's log: one line of JSON for each request. It holds no SQL, no parameter and no answer."""

import json
import secrets
import sys
import threading
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from hedgerow.errors import CatalogError
from hedgerow.service.gateway import StatementEvent

request_id: ContextVar[str | None] = ContextVar("hedgerow_request_id", default=None)
"""Id of the current request, if its interface gives it one; each statement has one in the log in any case."""


class RequestLog:
    """A log in a file or on standard error.

    Args:
        file: The file, which is appended to and may be rotated by `reopen`; None for standard error.
    """

    def __init__(self, file: str | None = None) -> None:
        self._file = None if file is None else Path(file)
        self._turn = threading.Lock()
        self._stream = self._open()

    def observe(self, event: StatementEvent) -> None:
        """Write the line of one request."""
        self.write(
            event="request",
            request=request_id.get() or secrets.token_hex(8),
            interface=event.interface,
            dataset=event.dataset,
            analyst=event.analyst,
            kind=event.kind,
            code=event.outcome,
            seconds=round(event.seconds, 6),
            epsilon=event.epsilon,
            reused=event.reused,
        )

    def observe_change(self, by: str, kind: str, target: str) -> None:
        """Write the line of a change to accounts or requests: its author, its kind, and the account or request."""
        self.write(event="change", request=request_id.get(), analyst=by, kind=kind, target=target)

    def write(self, **fields: object) -> None:
        """Write one line, with the time."""
        line = json.dumps({"time": datetime.now(UTC).isoformat(timespec="milliseconds")} | fields, allow_nan=False)
        with self._turn:
            self._stream.write(f"{line}\n")
            self._stream.flush()

    def reopen(self) -> None:
        """Open the file again, after somebody has moved it away."""
        with self._turn:
            old, self._stream = self._stream, self._open()
            if self._file is not None:
                old.close()

    def close(self) -> None:
        """Close the file."""
        with self._turn:
            if self._file is not None:
                self._stream.close()

    def _open(self) -> TextIO:
        if self._file is None:
            return sys.stderr
        try:
            return self._file.open("a", encoding="utf-8")
        except OSError:
            raise CatalogError(
                f"The log file {self._file} of [serve.logs] cannot be written.",
                code="serve-setting",
                hint="Check the folder and its permissions.",
            ) from None
