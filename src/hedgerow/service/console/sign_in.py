"""Signing in: a form, a cookie, and sessions that are kept in the memory of the server.

The cookie holds a random identifier and nothing else. It is out of reach for scripts (`HttpOnly`), is sent to this site
alone (`SameSite=Strict`, which also keeps other sites from posting the form), and over TLS only where there is TLS.
"""

import asyncio
import math
import secrets
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from hedgerow.markup import Markup, element, joined
from hedgerow.service.access.model import AccessStore, Identity, UserAccount
from hedgerow.service.access.secrets import password_matches, scram_verifier
from hedgerow.service.wire.throttle import Throttle

COOKIE = "hedgerow_session"
SESSION_SECONDS = 12 * 3600.0
MAXIMUM_SESSIONS = 10_000
MAXIMUM_FORM = 4_000
"""Largest form, in bytes."""

STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; display: grid; place-items: center; min-height: 100vh; margin: 0;
  background: Canvas; color: CanvasText }
main { width: min(22rem, 90vw) }
h1 { font-size: 1.4rem }
label { display: block; margin: .8rem 0 .2rem }
input { width: 100%; box-sizing: border-box; font: inherit; padding: .5rem; border: 1px solid #8889;
  border-radius: .3rem; background: Field; color: FieldText }
button { font: inherit; margin-top: 1.2rem; padding: .55rem 1.2rem; border: 0; border-radius: .3rem;
  background: #1f6f43; color: #fff; cursor: pointer }
button:focus-visible, input:focus-visible { outline: 3px solid #4c78a8; outline-offset: 2px }
.error { border-left: 4px solid #d1493f; padding: .3rem .8rem; margin: .8rem 0 }
.quiet { opacity: .8; font-size: .9rem }
"""


@dataclass(frozen=True, slots=True)
class SignedIn:
    """One session: an account, as it was when its owner signed in, the time at which it ends, and its open pages."""

    account: UserAccount
    ends: float
    pages: set[str] = field(default_factory=set)


class Sessions:
    """Sessions by identifier, in memory: they end with the server, and with a change of the account's secrets.

    Args:
        access: The accounts.
        close: Called with the identifiers of the open pages of a session that ends.
        report: Called for each login that is refused.
    """

    def __init__(
        self,
        access: AccessStore,
        close: Callable[[Collection[str]], None] = lambda _: None,
        report: Callable[[], None] = lambda: None,
    ) -> None:
        self._access = access
        self._close = close
        self._report = report
        self._sessions: dict[str, SignedIn] = {}
        self._throttle = Throttle()
        self._one_at_a_time = asyncio.Lock()
        self._nobody = scram_verifier(secrets.token_hex(16))

    async def sign_in(self, name: str, password: str, address: str) -> str | float | None:
        """Return the identifier of a new session; None if name and password do not match; or seconds to wait.

        An unknown name takes the same time as a wrong password. Passwords are checked one at a time, so that attempts
        side by side are counted like attempts one after the other.
        """
        async with self._one_at_a_time:
            if (wait := self._throttle.wait(address, name)) > 0:
                return wait
            account = await asyncio.to_thread(self._access.account, name)
            verifier = self._nobody if account is None or account.verifier is None else account.verifier
            matches = await asyncio.to_thread(password_matches, password, verifier)
            if account is None or not matches:
                self._throttle.failed(address, name)
                self._report()
                return None
            self._throttle.succeeded(address, name)
        self._forget_ended()
        identifier = secrets.token_urlsafe(32)
        self._sessions[identifier] = SignedIn(account, time.monotonic() + SESSION_SECONDS)
        return identifier

    def opened(self, identifier: str | None, page: str) -> None:
        """Note that a page was made for a session: events of that page are taken from this session alone."""
        session = self._sessions.get(identifier or "")
        if session is not None:
            session.pages.add(page)

    def closed(self, identifier: str | None, page: str) -> None:
        """Forget a page."""
        session = self._sessions.get(identifier or "")
        if session is not None:
            session.pages.discard(page)

    def owns(self, identifier: str | None, page: str) -> bool:
        """Return True if a page was made for this session, and the session has not ended."""
        session = self._sessions.get(identifier or "")
        return session is not None and page in session.pages and self.identity(identifier) is not None

    def identity(self, identifier: str | None) -> Identity | None:
        """Return who a session belongs to; None if it ended, or if the account or its secrets changed."""
        session = self._sessions.get(identifier or "")
        if session is None or session.ends < time.monotonic():
            return None
        account = self._access.account(session.account.identity.name)
        if account is None or account.verifier != session.account.verifier:
            return None
        return account.identity

    def sign_out(self, identifier: str | None) -> None:
        """End a session, and close its pages."""
        session = self._sessions.pop(identifier or "", None)
        if session is not None:
            self._close(session.pages)

    def _forget_ended(self) -> None:
        now = time.monotonic()
        for identifier in [name for name, session in self._sessions.items() if session.ends < now]:
            self.sign_out(identifier)
        while len(self._sessions) >= MAXIMUM_SESSIONS:
            self.sign_out(next(iter(self._sessions)))


def sign_in_routes(sessions: Sessions, *, secure: bool) -> APIRouter:
    """Return the routes of the form. With `secure`, the cookie is sent over TLS only."""
    routes = APIRouter()

    @routes.get("/sign-in", include_in_schema=False)
    async def form(request: Request) -> Response:
        if sessions.identity(request.cookies.get(COOKIE)) is not None:
            return RedirectResponse("/", 303)
        return _page()

    @routes.post("/sign-in", include_in_schema=False)
    async def sign_in(request: Request) -> Response:
        body = await _limited_form(request)
        address = "" if request.client is None else request.client.host
        entry = None if body is None else await sessions.sign_in(*body, address)
        if entry is None:
            return _page("Name and password do not match.", 401)
        if not isinstance(entry, str):
            seconds = math.ceil(entry)
            response = _page(f"Too many attempts. Try again in {seconds} s.", 429)
            response.headers["Retry-After"] = str(seconds)
            return response
        sessions.sign_out(request.cookies.get(COOKIE))  # never a session that was there before
        identifier, response = entry, RedirectResponse("/", 303)
        response.set_cookie(COOKIE, identifier, httponly=True, secure=secure, samesite="strict", path="/")
        return response

    @routes.post("/sign-out", include_in_schema=False)
    async def sign_out(request: Request) -> Response:
        sessions.sign_out(request.cookies.get(COOKIE))
        response = RedirectResponse("/sign-in", 303)
        response.delete_cookie(COOKIE, path="/")
        return response

    return routes


async def _limited_form(request: Request) -> tuple[str, str] | None:
    """Return name and password of a form; None for anything else."""
    size = request.headers.get("content-length", "")
    if not size.isdecimal() or int(size) > MAXIMUM_FORM:
        return None
    form = await request.form(max_files=0, max_fields=2)
    name, password = form.get("name"), form.get("password")
    return (name, password) if isinstance(name, str) and isinstance(password, str) else None


def _page(problem: str | None = None, status: int = 200) -> Response:
    said = [] if problem is None else [element("div", problem, **{"class": "error", "role": "alert"})]
    form = element(
        "form",
        element("label", "Name", **{"for": "name"}),
        Markup('<input id="name" name="name" autocomplete="username" autofocus required>'),
        element("label", "Password", **{"for": "password"}),
        Markup('<input id="password" name="password" type="password" autocomplete="current-password" required>'),
        element("button", "Sign in", type="submit"),
        method="post",
        action="/sign-in",
    )
    help_text = element(
        "p", "The owner makes an account: hedgerow analyst add NAME prints its password once.", **{"class": "quiet"}
    )
    head = Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">')
    body = element("main", element("h1", "hedgerow"), *said, form, help_text)
    document = element(
        "html",
        element("head", head, element("title", "Sign in · hedgerow"), element("style", Markup(STYLE))),
        element("body", body),
        lang="en",
    )
    policy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'"
    headers = {"Content-Security-Policy": policy, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    return HTMLResponse(joined([Markup("<!doctype html>"), document]), status, headers)
