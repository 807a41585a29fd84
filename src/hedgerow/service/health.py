"""Readiness of a service, for load balancers and orchestrators."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Check = Callable[[], object]
"""Returns where a part of the service works, and raises an exception where it does not. It may block."""


@dataclass(slots=True)
class ServiceHealth:
    """Parts of a service that must work before it takes statements.

    `accepting` is False until the service has started, and again once it stops.
    """

    checks: Mapping[str, Check] = field(default_factory=dict)
    accepting: bool = False

    def ready(self) -> Mapping[str, bool]:
        """Run every check. It may wait for a database."""
        return {"accepting": self.accepting} | {name: _passes(check) for name, check in self.checks.items()}


def _passes(check: Check) -> bool:
    """Return True if a check passes. An exception's text is dropped: it could quote anything."""
    try:
        check()
    except Exception:  # noqa: BLE001 - see above
        return False
    return True
