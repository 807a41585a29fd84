"""Authentication over HTTP, and the roles that may use each route.

A token is one of the service, or one of an identity provider (OpenID Connect), known by the provider's signature.
"""

import asyncio
import json
import ssl
import threading
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import jwt
from starlette.requests import Request

from hedgerow.service.access.model import AccessStore, Identity, Role
from hedgerow.service.errors import AccessError
from hedgerow.session.http_transport import is_loopback

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


ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures that are accepted: public-key ones alone, so that nobody can sign with what the provider publishes."""

LARGEST_DOCUMENT = 1_000_000
LONGEST_TOKEN = 16_384
SECONDS = 10.0
LEEWAY = 30.0
"""Seconds by which clocks may differ."""

STRONGEST_FIRST = (Role.OWNER, Role.AUDITOR, Role.ANALYST)


@dataclass(frozen=True, slots=True)
class OidcSettings:
    """Settings by which tokens of an identity provider become identities.

    Attributes:
        discovery: Address of the provider's discovery document, with or without `/.well-known/openid-configuration`.
        audience: The audience that a token must be for.
        name_claim: The claim with the analyst's name. Users must not be able to change it: whoever has the name has the
            cap and the history of that analyst.
        role_claim: The claim with roles or groups; a text or a list.
        roles: Role of each value of `role_claim`. Of several, the strongest counts.
        default_role: Role of a user with none of these values; None refuses such users.
        datasets: Datasets that such identities may use; None stands for all.
        algorithms: Signatures that are accepted.
        ca: File with the certificates of a private authority.
    """

    discovery: str
    audience: str
    name_claim: str = "sub"
    role_claim: str = "groups"
    roles: Mapping[str, Role] = field(default_factory=dict)
    default_role: Role | None = None
    datasets: frozenset[str] | None = None
    algorithms: tuple[str, ...] = ALGORITHMS
    ca: str | None = None


class OidcVerifier:
    """Checks tokens of one provider. Its keys are fetched when they are first needed, and kept for five minutes."""

    def __init__(self, settings: OidcSettings) -> None:
        if not set(settings.algorithms) <= set(ALGORITHMS):
            raise ValueError(f"Algorithms of OpenID Connect are among {', '.join(ALGORITHMS)}.")
        self._settings = settings
        self._tls = ssl.create_default_context(cafile=settings.ca)
        self._lock = threading.Lock()
        self._provider: tuple[str, jwt.PyJWKClient] | None = None

    def identity(self, token: str) -> Identity:
        """Return the identity that a token proves; refuse it otherwise. It may wait for the provider's keys."""
        settings = self._settings
        try:
            if len(token) > LONGEST_TOKEN:
                raise jwt.InvalidTokenError
            issuer, keys = self._keys()
            claims = jwt.decode(
                token,
                keys.get_signing_key_from_jwt(token),
                algorithms=list(settings.algorithms),
                audience=settings.audience,
                issuer=issuer,
                leeway=LEEWAY,
                options={"require": ["exp", "iss", "aud", settings.name_claim]},
            )
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
            raise refused() from None
        name = claims[settings.name_claim]
        if not isinstance(name, str) or not name.isprintable() or not 0 < len(name) <= 200:
            raise refused()
        return Identity(name, self._role(claims), settings.datasets)

    def _role(self, claims: Mapping[str, Any]) -> Role:
        claimed = claims.get(self._settings.role_claim, [])
        values = [claimed] if isinstance(claimed, str) else claimed if isinstance(claimed, list) else []
        granted = {
            self._settings.roles[value] for value in values if isinstance(value, str) and value in self._settings.roles
        }
        role = next((role for role in STRONGEST_FIRST if role in granted), self._settings.default_role)
        if role is None:
            raise AccessError(
                "The identity provider knows you, but gives you no role here.",
                hint="Ask the owner for a group that has one.",
            )
        return role

    def _keys(self) -> tuple[str, jwt.PyJWKClient]:
        """Return the provider's name and its keys, by its discovery document."""
        with self._lock:
            if self._provider is None:
                address = self._settings.discovery.rstrip("/")
                if not address.endswith("/.well-known/openid-configuration"):
                    address += "/.well-known/openid-configuration"
                document = self._fetch(address)
                issuer, keys = str(document["issuer"]), str(document["jwks_uri"])
                _require_secure(keys)
                client = jwt.PyJWKClient(keys, ssl_context=self._tls, timeout=SECONDS)
                self._provider = issuer, client
            return self._provider

    def _fetch(self, address: str) -> Mapping[str, Any]:
        _require_secure(address)
        try:
            with urllib.request.urlopen(address, timeout=SECONDS, context=self._tls) as response:  # noqa: S310 - see above
                document = json.loads(response.read(LARGEST_DOCUMENT))
            if isinstance(document, dict) and {"issuer", "jwks_uri"} <= set(document):
                return document
        except (OSError, ValueError):
            pass
        raise AccessError(
            "The identity provider does not answer.", code="login-refused", hint="Try again, or tell the owner."
        )


def refused() -> AccessError:
    """Return the refusal of a token, in the same words whatever is wrong with it."""
    return AccessError(
        "The token is not valid for this service.",
        code="login-refused",
        hint="Send the header Authorization: Bearer <token>.",
    )


def _require_secure(address: str) -> None:
    """Refuse an address without TLS: somebody on the network could replace the provider's keys."""
    parts = urlsplit(address)
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
        raise AccessError("The identity provider must be asked over TLS.", code="login-refused", hint="Use https://.")


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
