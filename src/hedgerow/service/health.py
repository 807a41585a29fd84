"""Readiness of a service, for load balancers and orchestrators."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from hedgerow.errors import HedgerowError

Check = Callable[[], Awaitable[object]]
"""Returns where a part of the service works, and raises an exception where it does not."""

OK = "ok"


@dataclass(frozen=True, slots=True)
class Readiness:
    """State of each part: "ok", or the code of its error."""

    parts: Mapping[str, str]

    @property
    def ready(self) -> bool:
        """True if every part works."""
        return all(state == OK for state in self.parts.values())


@dataclass(slots=True)
class ServiceHealth:
    """Parts of a service that must work before it takes statements.

    `state` is "starting", "ok" or "stopping". The process is alive as long as it answers at all.
    """

    checks: Mapping[str, Check] = field(default_factory=dict)
    state: str = "starting"

    async def readiness(self) -> Readiness:
        """Run every check."""
        states = await asyncio.gather(*(_state(check) for check in self.checks.values()))
        return Readiness({"service": self.state} | dict(zip(self.checks, states, strict=True)))


async def _state(check: Check) -> str:
    """Return "ok" or the code of the error. The text of an exception is dropped: it could quote anything."""
    try:
        await check()
    except HedgerowError as error:
        return error.code
    except Exception:  # noqa: BLE001 - see above
        return "internal"
    return OK
