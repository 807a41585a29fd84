"""Health and metrics of the service, as its HTTP routes read them."""

from collections.abc import Mapping
from typing import Protocol


class ServiceState(Protocol):
    """State of the service at one time: of each part "ok", or the code of its error."""

    @property
    def parts(self) -> Mapping[str, str]:
        """State of each part."""

    @property
    def ready(self) -> bool:
        """True if every part works."""


class HealthChecks(Protocol):
    """Checks of the parts of the service."""

    async def readiness(self) -> ServiceState:
        """Run every check."""


class MetricsText(Protocol):
    """Metrics of the service. Nothing in them depends on private rows."""

    content_type: str

    def render(self) -> bytes:
        """Return the metrics in the format of Prometheus. It may block."""
