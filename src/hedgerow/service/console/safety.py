"""Safety of the console in a browser: headers, a content security policy, origins, and whose page an event is from.

NiceGUI sends the events of a page over a socket that knows no cookies: it takes the page's identifier from the message.
Here a socket is tied to the session whose cookie opened it, and a page to the session that it was made for.
"""

import asyncio
import inspect
import secrets
from collections.abc import Callable, Collection, Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

from nicegui import Client, core
from socketio.exceptions import ConnectionRefusedError as SocketRefusedError  # type: ignore[import-untyped]
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hedgerow.service.console.sign_in import COOKIE, Sessions

SOCKETS = "/_nicegui_ws/"
READING = frozenset({"GET", "HEAD", "OPTIONS"})
EVENTS = ("handshake", "event", "javascript_response", "ack", "log")
"""Messages of a socket that name a page."""

POLICY = (
    "default-src 'none'; script-src 'self' 'nonce-{nonce}' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; "
    "form-action 'self'; base-uri 'none'"
)
"""Policy of a page. Nothing comes from elsewhere, and no inline script runs but those of the page's own template, which
carry a nonce; nor do handlers in attributes. Vue compiles its templates in the browser, which needs 'unsafe-eval', and
Quasar sets styles in attributes, which needs 'unsafe-inline' for styles."""

NO_RESPONSE = "No response returned."
"""Message of Starlette's error where the reader of a page is gone before it is drawn."""

PAGE_GONE = "Implicit handshake failed"
"""NiceGUI's words for a socket that is refused: its script then loads the page anew, instead of staying without one."""

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Headers of every response that does not set them itself. Without a referrer, forms would hide their origin."""


class ConsoleGuard:
    """Middleware around the whole console: headers for every response, and no request that another site sent."""

    def __init__(self, app: ASGIApp, sessions: Sessions) -> None:
        self._app = app
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        if not self._is_welcome(scope):
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            else:
                await PlainTextResponse("This request came from another site.\n", 403)(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        has_left = False

        async def receive_noting_leave() -> Message:
            nonlocal has_left
            message = await receive()
            has_left = has_left or message["type"] == "http.disconnect"
            return message

        try:
            await self._app(scope, receive_noting_leave, send_with_headers)
        except RuntimeError as error:
            if not has_left or str(error) != NO_RESPONSE:  # a browser that left its page early waits for nothing
                raise

    def _is_welcome(self, scope: Scope) -> bool:
        """Refuse requests that another site sends, and sockets without a session."""
        headers, is_socket = Headers(scope=scope), scope["path"].startswith(SOCKETS)
        if scope["type"] == "websocket" or is_socket:
            may = self._sessions.identity(cookie_of(headers.get("cookie"))) is not None
            return may and _is_own(headers, required=scope["type"] == "websocket")
        return scope["method"] in READING or _is_own(headers, required=False)


def _is_own(headers: Headers, *, required: bool) -> bool:
    """Return True if a request comes from a page of this host, or from a program that is no browser.

    Browsers name the origin of every socket and of every request that changes something.
    """
    origin = headers.get("origin")
    if origin is None:
        return not required and headers.get("sec-fetch-site", "same-origin") in {"same-origin", "none"}
    return urlsplit(origin).netloc.lower() == headers.get("host", "").lower() != ""


def cookie_of(header: str | None) -> str | None:
    """Return the identifier of a session from the header Cookie."""
    try:
        morsel = SimpleCookie(header or "").get(COOKIE)
    except CookieError:
        return None
    return None if morsel is None else morsel.value


class WithNonce:
    """Middleware around NiceGUI's pages that marks the scripts of their template with a nonce.

    Texts of elements are in a page with `<` escaped, so the letters `<script` are those of the template alone.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        started: Message | None = None
        body = bytearray()

        async def send_marked(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                kind = Headers(raw=message["headers"]).get("content-type", "")
                if kind.startswith("text/html"):
                    started = message
                    return
            if started is None:
                await send(message)
                return
            body.extend(message.get("body", b""))
            if message.get("more_body"):
                return
            nonce = secrets.token_urlsafe(16)
            marked = bytes(body).replace(b"<script", f'<script nonce="{nonce}"'.encode())
            headers = MutableHeaders(scope=started)
            headers["Content-Security-Policy"] = POLICY.format(nonce=nonce)
            headers["Content-Length"] = str(len(marked))
            await send(started)
            await send({"type": "http.response.body", "body": marked})

        await self._app(scope, receive, send_marked)


def guard_sockets(sessions: Sessions) -> None:
    """Take messages about a page only from sockets of the session that the page was made for; drop all others."""
    core.sio.eio.cors_allowed_origins = []  # no header that lets other sites read
    handlers: dict[str, Callable[..., Any]] = core.sio.handlers["/"]

    def is_own(sid: str, message: object) -> bool:
        session = cookie_of((core.sio.get_environ(sid) or {}).get("HTTP_COOKIE"))
        page = message.get("client_id") if isinstance(message, Mapping) else None
        if not isinstance(page, str) or not sessions.is_page_of(session, page):
            return False
        if sessions.identity(session) is not None:
            return True
        client = Client.instances.get(page)
        if client is not None:
            client.run_javascript("location.reload()")  # which leads to the form, and from there back to this page
        return False

    def guarded(handler: Callable[..., Any]) -> Callable[..., Any]:
        async def handle(sid: str, message: object, *more: object) -> object:
            if not is_own(sid, message):  # without a thread: events stay in their order
                return False
            result = handler(sid, message, *more)
            return await result if inspect.isawaitable(result) else result

        return handle

    for name in EVENTS:
        core.sio.on(name, guarded(handlers[name]))
    core.sio.on("connect", _for_own_pages(sessions, handlers["connect"]))


def _for_own_pages(sessions: Sessions, connect: Callable[..., Any]) -> Callable[..., Any]:
    """Return a handler that refuses sockets for pages that were not made for their session, or that are gone."""

    async def connected(sid: str, environ: dict[str, Any], *more: object) -> object:
        page = parse_qs(environ.get("QUERY_STRING", "")).get("client_id")
        if page is not None and not sessions.owns(cookie_of(environ.get("HTTP_COOKIE")), page[0]):
            raise SocketRefusedError(PAGE_GONE)
        return await connect(sid, environ, *more)

    return connected


def close_pages(pages: Collection[str]) -> None:
    """Close the pages of a session that has ended: they take no more events, and show nothing more."""
    for identifier in list(pages):
        client = Client.instances.get(identifier)
        if client is not None:
            client.run_javascript("location.assign('/sign-in')")
            asyncio.get_running_loop().call_later(1.0, _delete, identifier)


def _delete(identifier: str) -> None:
    client = Client.instances.get(identifier)
    if client is not None and client.has_socket_connection:  # NiceGUI deletes one that has left by itself
        client.delete()
