"""Middleware for all routes: limits on request bodies, response headers, and failures that show nothing."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hedgerow.errors import HedgerowError
from hedgerow.owners_log import withheld
from hedgerow.service.errors import ServiceError
from hedgerow.service.http.responses import problem_response
from hedgerow.service.monitoring import request_id

MAXIMUM_BODY = 1_000_000
"""Largest body of a request, in bytes."""

BODY_SECONDS = 30.0
"""Seconds within which the body of a request must arrive."""

SECURITY_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
REQUEST = "Hedgerow-Request"
"""Header of a response with the id that its request has in the log."""

SECURE_ONLY = {"Strict-Transport-Security": "max-age=31536000"}


class Guard:
    """Middleware around all routes.

    Privacy: an exception that is not ours is not shown, because its message could quote private values. It goes to the
    owner's log, and to no other.
    """

    def __init__(self, app: ASGIApp, *, body_seconds: float = BODY_SECONDS) -> None:
        self._app = app
        self._body_seconds = body_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, request = False, secrets.token_hex(8)
        request_id.set(request)

        async def send_guarded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                for name, value in {**SECURITY_HEADERS, **(SECURE_ONLY if scope["scheme"] == "https" else {})}.items():
                    headers.setdefault(name, value)
                headers[REQUEST] = request
            await send(message)

        try:
            _check_headers(scope["method"], Headers(scope=scope))
            await self._app(scope, _limited(receive, self._body_seconds), send_guarded)
        except Exception as error:  # noqa: BLE001 - see the class
            known = error if isinstance(error, HedgerowError) else withheld(error)
            if not begun:
                # what is left of a refused body is not read: the connection ends
                await problem_response(known, {"Connection": "close"})(scope, receive, send_guarded)


def _check_headers(method: str, headers: Headers) -> None:
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length[:20]) > MAXIMUM_BODY:
        raise _too_large()
    has_body = length != "0" or "transfer-encoding" in headers
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if has_body and kind != "application/json":
        raise ServiceError(
            "The body of a request is JSON.",
            code="wrong-content-type",
            hint="Send the header Content-Type: application/json.",
        )
    if method == "POST" and not has_body and kind not in {"", "application/json"}:
        raise ServiceError("The request has no body.", code="wrong-content-type", hint="Leave Content-Type out.")


def _limited(receive: Receive, seconds: float) -> Callable[[], Awaitable[Message]]:
    """Return `receive` with limits on the size of the body and on the time in which it arrives."""
    size, complete, deadline = 0, False, asyncio.get_running_loop().time() + seconds

    async def limited() -> Message:
        nonlocal size, complete
        if complete:
            return await receive()  # waits until the client is gone
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError:
            raise ServiceError(
                "The body of the request did not arrive in time.", code="slow-request", hint="Send it at once."
            ) from None
        size += len(message.get("body", b""))
        complete = not message.get("more_body", False)
        if size > MAXIMUM_BODY:
            raise _too_large()
        return message

    return limited


def _too_large() -> ServiceError:
    return ServiceError(
        f"The body of a request has at most {MAXIMUM_BODY:,} bytes.", code="body-too-large", hint="Send less."
    )
