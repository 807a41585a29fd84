"""The HTTP application: routes, authentication, problem details, health, metrics and documentation."""

import asyncio
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from hedgerow import __version__
from hedgerow.errors import HedgerowError
from hedgerow.service.access.model import AccessStore
from hedgerow.service.errors import ServiceError
from hedgerow.service.gateway import Gateway
from hedgerow.service.http import administration, examples, mcp, questions
from hedgerow.service.http.authentication import ROLES, Authenticator, require_role
from hedgerow.service.http.caller import Parts
from hedgerow.service.http.documentation import documentation_page
from hedgerow.service.http.guard import BODY_SECONDS, Guard
from hedgerow.service.http.oidc import OidcSettings, OidcVerifier
from hedgerow.service.http.problems import json_response, problem_response
from hedgerow.service.http.statements import StatementRegistry
from hedgerow.service.metrics import Metrics, ServiceHealth
from hedgerow.session.http_transport import is_loopback

DESCRIPTION = """\
Private SQL with honest error bars. Every number that rests on people has noise in it and an interval; each new question
costs a part of a budget that never grows back; the same question asked again is free and has the same digits.

Send the header `Authorization: Bearer <token>`. Errors are problem details (RFC 9457) with a stable `code`, a `hint`
and, where they are about the text of a statement, a `span`."""

FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")
"""Headers of a request that came through a proxy: it is then not from this machine."""


class DocumentedAPI(FastAPI):
    """An application whose OpenAPI document has the schema of errors."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document."""
        document = super().openapi()
        document["components"]["schemas"]["Problem"] = examples.PROBLEM_SCHEMA
        return document


def build_app(
    gateway: Gateway,
    access: AccessStore,
    *,
    oidc: OidcSettings | None = None,
    health: ServiceHealth | None = None,
    metrics: Metrics | None = None,
    body_seconds: float = BODY_SECONDS,
) -> FastAPI:
    """Return the application over a gateway. Pages of other origins may not use it, and it loads nothing from them."""
    app = DocumentedAPI(
        title="hedgerow",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        swagger_ui_oauth2_redirect_url=None,
        separate_input_output_schemas=False,
    )
    authenticator = Authenticator(access, None if oidc is None else OidcVerifier(oidc))
    app.state.parts = Parts(gateway, access, authenticator, StatementRegistry(), health, metrics)
    for router in (questions.routes, administration.routes):
        _require_listed(router)
        app.include_router(router)
    app.add_api_route("/health", _alive, tags=["operations"], summary="Tell that the process answers.")
    app.add_api_route("/ready", _ready, tags=["operations"], summary="Tell whether every part works.")
    app.add_api_route("/healthz", _alive, include_in_schema=False)  # the names that Kubernetes is usually given
    app.add_api_route("/readyz", _ready, include_in_schema=False)
    app.add_api_route(
        "/metrics",
        _metrics,
        tags=["operations"],
        summary="Metrics for Prometheus.",
        response_class=PlainTextResponse,
        description="Without a token from this machine alone, not through a proxy; otherwise for owners and auditors.",
    )
    app.add_api_route("/docs", _documentation, include_in_schema=False)
    app.router.routes.append(mcp.McpEndpoint(gateway, authenticator).route())
    app.add_middleware(Guard, body_seconds=body_seconds)
    app.add_exception_handler(HedgerowError, _our_error)
    app.add_exception_handler(RequestValidationError, _bad_body)
    app.add_exception_handler(HTTPException, _http_error)
    return app


def _require_listed(router: APIRouter) -> None:
    """Refuse to serve a route whose roles are not listed."""
    served = {
        (method, route.path) for route in router.routes if isinstance(route, APIRoute) for method in route.methods or ()
    }
    if unlisted := served - set(ROLES):
        raise ValueError(f"The table of roles lacks {sorted(unlisted)}.")


async def _alive() -> Response:
    return json_response({"status": "ok"})


async def _ready(request: Request) -> Response:
    health: ServiceHealth | None = request.app.state.parts.health
    if health is None:
        return json_response({"ready": True, "parts": {}})
    state = await health.readiness()
    return json_response({"ready": state.ready, "parts": dict(state.parts)}, 200 if state.ready else 503)


async def _metrics(request: Request) -> Response:
    parts: Parts = request.app.state.parts
    if parts.metrics is None:
        raise _no_route()
    proxied = any(name in request.headers for name in FORWARDED)
    if proxied or request.client is None or not is_loopback(request.client.host):
        identity = await parts.authenticator.identity(request.headers.get("authorization"))
        require_role(identity, "GET", "/metrics")
    return Response(await asyncio.to_thread(parts.metrics.render), media_type=parts.metrics.content_type)


async def _documentation(request: Request) -> Response:
    return HTMLResponse(documentation_page(request.app.openapi()))


async def _our_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, HedgerowError):
        raise error
    if error.code == "login-refused":
        interface = mcp.INTERFACE if request.url.path == mcp.PATH else questions.INTERFACE
        request.app.state.parts.gateway.report_refused_login(interface)
    return problem_response(error)


async def _bad_body(_: Request, error: Exception) -> Response:
    """Report the invalid fields of a body, without their values."""
    listed = error.errors() if isinstance(error, RequestValidationError) else []
    said = [f"{_place(fault)}{fault.get('msg', '')}" for fault in listed[:3]]
    return problem_response(
        ServiceError(
            f"The request cannot be read: {'; '.join(said)}.", code="bad-request", hint="See /docs for its shape."
        )
    )


def _place(fault: Mapping[str, Any]) -> str:
    words = [str(word)[:80] for word in fault.get("loc", ()) if word != "body"]
    return f"{'.'.join(words)}: " if words else ""


async def _http_error(_: Request, error: Exception) -> Response:
    """Report an error of the framework, or our error about the body that the framework wraps."""
    if isinstance(error.__cause__, HedgerowError):
        return problem_response(error.__cause__, {"Connection": "close"})
    status = error.status_code if isinstance(error, HTTPException) else 400
    headers = error.headers if isinstance(error, HTTPException) else None
    if status == 404:
        return problem_response(_no_route())
    if status == 405:
        wrong = ServiceError("The route has no such method.", code="wrong-method", hint="See /docs.")
        return problem_response(wrong, headers)
    return problem_response(ServiceError("The request cannot be read.", code="bad-request", hint="See /docs."))


def _no_route() -> ServiceError:
    return ServiceError("There is nothing at this address.", code="no-such-route", hint="See /docs.")
