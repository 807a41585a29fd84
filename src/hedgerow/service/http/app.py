"""The HTTP application and its listener.

The application has the routes, authentication, problem details, health, metrics, and a page about the API.
"""

import asyncio
import json
import ssl
from collections.abc import Mapping
from typing import Any

import h11
import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from uvicorn.protocols.http.h11_impl import H11Protocol

from hedgerow import __version__
from hedgerow.errors import HedgerowError
from hedgerow.markup import CODE, Markup, element, folded, grid, joined, paragraph
from hedgerow.service.access.model import AccessStore
from hedgerow.service.errors import ServiceError
from hedgerow.service.gateway import Gateway
from hedgerow.service.http import mcp, routes, schemas
from hedgerow.service.http.authentication import ROLES, Authenticator, OidcSettings, OidcVerifier, require_role
from hedgerow.service.http.caller import Parts, StatementRegistry
from hedgerow.service.http.guard import BODY_SECONDS, Guard
from hedgerow.service.http.responses import json_response, problem_response
from hedgerow.service.monitoring import Metrics, ServiceHealth
from hedgerow.service.uvicorn_listener import BACKLOG, UvicornListener
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
        document["components"]["schemas"]["Problem"] = schemas.PROBLEM_SCHEMA
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
    served = {
        (method, route.path)
        for route in routes.router.routes
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    }
    if unlisted := served - set(ROLES):
        raise ValueError(f"The table of roles lacks {sorted(unlisted)}.")
    app.include_router(routes.router)
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
        interface = mcp.INTERFACE if request.url.path == mcp.PATH else routes.INTERFACE
        request.app.state.parts.gateway.admission.report_refused_login(interface)
    return problem_response(error)


async def _bad_body(_: Request, error: Exception) -> Response:
    """Report the invalid fields of a body, without their values."""
    said = []
    for fault in error.errors()[:3] if isinstance(error, RequestValidationError) else ():
        place = ".".join(str(word)[:80] for word in fault.get("loc", ()) if word != "body")
        said.append(f"{place}: {fault.get('msg', '')}" if place else fault.get("msg", ""))
    return problem_response(
        ServiceError(
            f"The request cannot be read: {'; '.join(said)}.", code="bad-request", hint="See /docs for its shape."
        )
    )


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


STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em }
h2 { margin-top: 2em; border-bottom: 1px solid #8886 }
h3 { margin: 1.6em 0 .3em; overflow-wrap: anywhere }
code, pre { font-family: ui-monospace, monospace; font-size: .9em }
pre { white-space: pre-wrap !important; overflow-wrap: anywhere }
.method { display: inline-block; min-width: 4.5em; font-weight: 600 }
"""


def documentation_page(document: Mapping[str, Any]) -> str:
    """Return a page that lists every route: what it does, who may use it, what to send, and what comes back."""
    sections: dict[str, list[Markup]] = {}
    for path, methods in document["paths"].items():
        for method, facts in methods.items():
            sections.setdefault(facts["tags"][0], []).append(_route(document, method.upper(), path, facts))
    parts = [part for tag, listed in sections.items() for part in (element("h2", tag), *listed)]
    head = element(
        "head",
        Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        element("title", "hedgerow API"),
        element("style", Markup(STYLE)),
    )
    texts = [element("p", text.replace("`", "")) for text in document["info"]["description"].split("\n\n")]
    link = element("p", "The same as OpenAPI: ", element("a", "/openapi.json", href="/openapi.json"))
    body = element("body", element("h1", "hedgerow ", document["info"]["version"]), *texts, link, *parts)
    return f"<!doctype html>{element('html', head, body, lang='en')}"


def _route(document: Mapping[str, Any], method: str, path: str, facts: Mapping[str, Any]) -> Markup:
    roles = ROLES.get((method, path))
    who = "Without a token." if roles is None else f"For: {', '.join(sorted(roles))}."
    parts = [
        element("h3", element("span", method, **{"class": "method"}), element("code", path)),
        paragraph(" ".join(facts.get("description", facts.get("summary", "")).replace("`", "").split()), " ", who),
    ]
    if "requestBody" in facts:
        reference = facts["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        schema = document["components"]["schemas"][reference.rpartition("/")[2]]
        rows = [
            (name, _kind(field), " ".join(field.get("description", "").replace("`", "").split()))
            for name, field in schema["properties"].items()
        ]
        parts.append(grid(("field", "type", ""), rows, left=3))
    examples = {
        f"{status} {kind}": content["example"]
        for status, response in facts["responses"].items()
        for kind, content in response.get("content", {}).items()
        if "example" in content
    }
    problems = {title: example for title, example in examples.items() if "problem" in title}
    parts += [folded(title, _shown(example)) for title, example in examples.items() if title not in problems]
    if problems:
        numbers = ", ".join(title.partition(" ")[0] for title in problems)
        parts.append(folded(f"errors: {numbers}", *map(_shown, problems.values())))
    return joined(parts)


def _shown(example: object) -> Markup:
    return element("pre", json.dumps(example, indent=2, ensure_ascii=False), style=CODE)


def _kind(field: Mapping[str, Any]) -> str:
    kinds = [option.get("type", option.get("$ref", "").rpartition("/")[2]) for option in field.get("anyOf", [field])]
    return " or ".join(kind for kind in kinds if kind != "null")


HEADER_SECONDS = 10.0
"""Seconds within which the head of a request must arrive."""

IDLE_SECONDS = 60
MAXIMUM_CONNECTIONS = 1000
LARGEST_HEAD = 32_768


class HttpListener(UvicornListener):
    """Serves the API at one address.

    Args:
        gateway: The datasets.
        access: The accounts.
        host: The address to listen on.
        port: The port; 0 for any free port.
        tls: Certificate and key; None for plain HTTP, which is for loopback alone.
        oidc: An identity provider whose tokens are accepted.
        health: Checks for `/ready`.
        metrics: Metrics for `/metrics`.
        header_seconds: Seconds within which the head of a request must arrive.
        body_seconds: Likewise for its body.
    """

    def __init__(
        self,
        gateway: Gateway,
        access: AccessStore,
        host: str = "127.0.0.1",
        port: int = 8439,
        tls: ssl.SSLContext | None = None,
        oidc: OidcSettings | None = None,
        health: ServiceHealth | None = None,
        metrics: Metrics | None = None,
        *,
        header_seconds: float = HEADER_SECONDS,
        body_seconds: float = BODY_SECONDS,
    ) -> None:
        self.app = build_app(gateway, access, oidc=oidc, health=health, metrics=metrics, body_seconds=body_seconds)
        protocol = type("HttpProtocol", (HeaderTimeoutProtocol,), {"header_seconds": header_seconds})
        config = uvicorn.Config(
            self.app,
            http=protocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=IDLE_SECONDS,
            limit_concurrency=MAXIMUM_CONNECTIONS,
            h11_max_incomplete_event_size=LARGEST_HEAD,
            backlog=BACKLOG,
            ssl_context_factory=None if tls is None else lambda *_: tls,
        )
        super().__init__(config, host, port)


class HeaderTimeoutProtocol(H11Protocol):
    """A connection that is closed if the head of a request takes too long, so that slow clients hold up nobody."""

    header_seconds = HEADER_SECONDS
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._deadline = self.loop.call_later(self.header_seconds, self._time_out)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request. The wait begins with its first byte and ends with its head."""
        if self._deadline is None and self.conn.their_state is h11.IDLE:
            self._deadline = self.loop.call_later(self.header_seconds, self._time_out)
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _time_out(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
