"""One authenticated request: its caller, and the parts of the service that answer."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from hedgerow.service.access.model import AccessStore, Identity
from hedgerow.service.gateway import Gateway
from hedgerow.service.http.authentication import Authenticator
from hedgerow.service.http.formats import JSON, chosen_format
from hedgerow.service.http.statements import StatementRegistry
from hedgerow.service.metrics import Metrics, ServiceHealth
from hedgerow.session.http_transport import EXACT


@dataclass(frozen=True, slots=True)
class Parts:
    """Parts of the service that routes use."""

    gateway: Gateway
    access: AccessStore
    authenticator: Authenticator
    statements: StatementRegistry
    health: ServiceHealth | None
    metrics: Metrics | None


@dataclass(frozen=True, slots=True)
class AuthenticatedCall:
    """A request whose caller has a role that may use its route."""

    identity: Identity
    parts: Parts
    request: Request

    @property
    def gateway(self) -> Gateway:
        """The gateway to the datasets."""
        return self.parts.gateway

    @property
    def access(self) -> AccessStore:
        """The accounts and the requests for approval."""
        return self.parts.access

    @property
    def exact(self) -> bool:
        """True if the client wants complete objects, as the Python client does."""
        return chosen_format(self.request.headers.get("accept"), (JSON, EXACT)) == EXACT


BEARER = HTTPBearer(auto_error=False, scheme_name="token", description="A token of the service or of its provider.")
"""For the documentation alone: the `Authenticator` reads the header."""


async def authenticated(request: Request, _: Annotated[object, Depends(BEARER)]) -> AuthenticatedCall:
    """Return the request, if its sender may use this route."""
    parts: Parts = request.app.state.parts
    return AuthenticatedCall(await parts.authenticator.allowed(request), parts, request)


Caller = Annotated[AuthenticatedCall, Depends(authenticated)]
