"""Authentication over HTTP, and the roles that may use each route."""

import asyncio
from collections.abc import Mapping

from starlette.requests import Request

from hedgerow.service.access.model import AccessStore, Identity, Role
from hedgerow.service.errors import AccessError
from hedgerow.service.http.oidc import OidcVerifier, refused

OWNER, AUDITOR, ANALYST = Role.OWNER, Role.AUDITOR, Role.ANALYST
EVERYBODY = frozenset(Role)
ASKING = frozenset({OWNER, ANALYST})
READING_LEDGERS = frozenset({OWNER, AUDITOR})
OWNERS = frozenset({OWNER})

DATASET = "/v1/datasets/{dataset}"
ROLES: Mapping[tuple[str, str], frozenset[Role]] = {
    ("GET", "/v1/me"): EVERYBODY,
    ("GET", "/v1/datasets"): EVERYBODY,
    ("GET", DATASET): EVERYBODY,
    ("GET", f"{DATASET}/tables"): EVERYBODY,
    ("POST", f"{DATASET}/query"): ASKING,
    ("POST", f"{DATASET}/quote"): ASKING,
    ("POST", f"{DATASET}/batch"): ASKING,
    ("POST", f"{DATASET}/quote-batch"): ASKING,
    ("POST", f"{DATASET}/explain"): ASKING,
    ("POST", f"{DATASET}/describe"): ASKING,
    ("POST", f"{DATASET}/forecast"): ASKING,
    ("DELETE", "/v1/statements/{statement}"): ASKING,
    ("GET", f"{DATASET}/budget"): EVERYBODY,
    ("GET", f"{DATASET}/history"): EVERYBODY,
    ("GET", f"{DATASET}/verify"): READING_LEDGERS,
    ("GET", f"{DATASET}/export"): READING_LEDGERS,
    ("GET", "/v1/requests"): EVERYBODY,
    ("GET", "/v1/requests/{request_id}"): EVERYBODY,
    ("POST", "/v1/requests/{request_id}/grant"): OWNERS,
    ("POST", "/v1/requests/{request_id}/deny"): OWNERS,
    ("GET", "/v1/analysts"): OWNERS,
    ("POST", "/v1/analysts"): OWNERS,
    ("DELETE", "/v1/analysts/{name}"): OWNERS,
    ("POST", "/v1/analysts/{name}/rotate"): OWNERS,
    ("POST", "/mcp"): ASKING,
    ("GET", "/metrics"): READING_LEDGERS,
}
"""Roles of each route that needs a token. A route below /v1 that is not listed is refused to everybody."""


class Authenticator:
    """Identifies the caller by a token of the service or of an identity provider."""

    def __init__(self, access: AccessStore, oidc: OidcVerifier | None) -> None:
        self._access = access
        self._oidc = oidc

    async def identity(self, authorization: str | None) -> Identity:
        """Return the sender of the header `Authorization`. Every refusal has the same words, whatever is wrong."""
        scheme, _, token = (authorization or "").partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token or not token.isascii():
            raise refused()
        if self._oidc is not None and token.count(".") == 2:
            return await asyncio.to_thread(self._oidc.identity, token)
        account = await asyncio.to_thread(self._access.by_token, token)
        if account is None:
            raise refused()
        return account.identity

    async def allowed(self, request: Request) -> Identity:
        """Return the caller, if their role may use the route of this request. Roles are checked here alone."""
        identity = await self.identity(request.headers.get("authorization"))
        require_role(identity, request.method, request.scope["route"].path)
        return identity


def require_role(identity: Identity, method: str, path: str) -> None:
    """Refuse a route to a role that may not use it."""
    if identity.role not in ROLES.get((method, path), frozenset()):
        raise AccessError(f"The role {identity.role.value} may not do this.", hint="Use an account with another role.")
