"""Failed logins, and how long whoever failed has to wait."""

import time
from collections.abc import Callable

FREE_FAILURES = 5
"""Failures of one name from one address that cost no time."""

LONGEST_WAIT = 60.0
"""Seconds after which the next login is always checked."""

FROM_ONE_ADDRESS = 50
"""Failures from one address, whatever the names, after which it has to wait."""

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
