"""Limits on connections, and on failed logins."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WireLimits:
    """Limits on connections.

    Attributes:
        connections: Number of connections at once that have logged in, and of those that have not yet.
        per_analyst: Number of connections of one analyst.
        prepared: Number of prepared statements, and of portals, of one connection.
        message_bytes: Length of one message.
        login_seconds: Seconds until a login must be complete.
        write_seconds: Seconds after which the connection of a client that has stopped reading is closed.
        idle_seconds: Seconds after which a connection without messages is closed; None for never.
    """

    connections: int = 200
    per_analyst: int = 50
    prepared: int = 1000
    message_bytes: int = 4 * 1024 * 1024
    login_seconds: float = 30.0
    write_seconds: float = 300.0
    idle_seconds: float | None = 8 * 3600.0


FREE_FAILURES = 5
"""Number of failures of one name from one address after which it has to wait."""

LONGEST_WAIT = 60.0
"""Longest wait in seconds between a failure and the next attempt."""

FROM_ONE_ADDRESS = 50
"""Number of failures from one address, of whatever names, after which it has to wait."""

KEPT = 10_000
"""Number of names and addresses that are remembered."""


class Throttle:
    """Remembers failures by address and name. A name that does not exist counts like one that does."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: dict[tuple[str, str | None], tuple[int, float]] = {}

    def wait(self, address: str, name: str) -> float:
        """Return the seconds until this name may try again from this address; 0 if it may now."""
        own = self._wait((address, name), FREE_FAILURES)
        return max(own, self._wait((address, None), FROM_ONE_ADDRESS))

    def failed(self, address: str, name: str) -> None:
        """Count a failure."""
        for key in ((address, name), (address, None)):
            count, since = self._failures.pop(key, (0, 0.0))
            fresh = self._clock() - since > LONGEST_WAIT
            self._failures[key] = (1 if fresh else count + 1), self._clock()
        while len(self._failures) > KEPT:
            del self._failures[next(iter(self._failures))]

    def succeeded(self, address: str, name: str) -> None:
        """Forget the failures of a name that has logged in."""
        self._failures.pop((address, name), None)

    def _wait(self, key: tuple[str, str | None], free: int) -> float:
        count, since = self._failures.get(key, (0, 0.0))
        if count < free:
            return 0.0
        pause = min(2.0 ** (count - free), LONGEST_WAIT)
        return max(0.0, since + pause - self._clock())
