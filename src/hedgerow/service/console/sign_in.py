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
from urllib.parse import quote

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from hedgerow.markup import Markup, element, joined
from hedgerow.service.access.model import AccessStore, Identity, Throttle, UserAccount, password_matches, scram_verifier

COOKIE = "hedgerow_session"
SESSION_SECONDS = 12 * 3600.0
MAXIMUM_SESSIONS = 10_000
MAXIMUM_FORM = 4_000
"""Largest form, in bytes."""

LONGEST_ADDRESS = 8_000
"""Number of characters of an address that the form remembers."""

STYLE = """
:root { color-scheme: light dark; --bg: #fafaf7; --card: #fff; --text: #1d2521; --quiet: #57625b; --line: #e3e6df;
  --edge: #868f89; --accent: #1f6f43; --ink: #fff; --bad: #b42318; --bad-soft: #fdf1ef }
@media (prefers-color-scheme: dark) { :root { --bg: #101412; --card: #171c19; --text: #e5eae7; --quiet: #a1aca5;
  --line: #29322d; --edge: #75817a; --accent: #79cba2; --ink: #0b1a12; --bad: #ff9d92; --bad-soft: #321b18 } }
body { font: 16px/1.5 Roboto, system-ui, sans-serif; display: grid; place-items: center; min-height: 100vh; margin: 0;
  background: var(--bg); color: var(--text) }
main { box-sizing: border-box; width: min(24rem, 92vw); padding: 1.75rem; background: var(--card);
  border: 1px solid var(--line); border-radius: .5rem }
h1 { display: flex; align-items: center; gap: .5rem; margin: 0 0 1rem; font-size: 1.3rem; letter-spacing: -.01em }
h1 svg { width: 1.5rem; height: 1.5rem; color: var(--accent) }
label { display: block; margin: .8rem 0 .2rem; font-size: .875rem; color: var(--quiet) }
input { width: 100%; box-sizing: border-box; font: inherit; padding: .5rem .65rem; border: 1px solid var(--edge);
  border-radius: .4rem; background: var(--card); color: var(--text) }
button { font: inherit; font-weight: 500; width: 100%; margin-top: 1.25rem; padding: .55rem 1.2rem; border: 0;
  border-radius: .4rem; background: var(--accent); color: var(--ink); cursor: pointer }
button:focus-visible, input:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
.error { padding: .5rem .8rem; margin: .8rem 0; border-radius: .4rem; background: var(--bad-soft); color: var(--bad) }
.quiet { margin: 1.25rem 0 0; color: var(--quiet); font-size: .875rem }
a { color: var(--accent) }
"""

MARK = Markup(
    '<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" '
    'aria-hidden="true"><path d="M4 20V10M12 20V4M20 20v-8"/><path d="M4 14h16"/></svg>'
)
"""The mark: a hedge, which is also three bars."""


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
        now = time.monotonic()
        for ended in [name for name, session in self._sessions.items() if session.ends < now]:
            self.sign_out(ended)
        while len(self._sessions) >= MAXIMUM_SESSIONS:
            self.sign_out(next(iter(self._sessions)))
        identifier = secrets.token_urlsafe(32)
        self._sessions[identifier] = SignedIn(account, now + SESSION_SECONDS)
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
        return self.is_page_of(identifier, page) and self.identity(identifier) is not None

    def is_page_of(self, identifier: str | None, page: str) -> bool:
        """Return True if a page was made for this session, even if the session has ended since."""
        session = self._sessions.get(identifier or "")
        return session is not None and page in session.pages

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


def sign_in_routes(sessions: Sessions, *, secure: bool) -> APIRouter:
    """Return the routes of the form. With `secure`, the cookie is sent over TLS only."""
    routes = APIRouter()

    @routes.get("/sign-in", include_in_schema=False)
    async def form(request: Request) -> Response:
        wanted = local_address(request.query_params.get("next", ""))
        if sessions.identity(request.cookies.get(COOKIE)) is not None:
            return RedirectResponse(wanted, 303)
        return _page(wanted)

    @routes.post("/sign-in", include_in_schema=False)
    async def sign_in(request: Request) -> Response:
        wanted = local_address(request.query_params.get("next", ""))
        body = await _limited_form(request)
        address = "" if request.client is None else request.client.host
        entry = None if body is None else await sessions.sign_in(*body, address)
        if entry is None:
            return _page(wanted, "Name and password do not match.", 401)
        if not isinstance(entry, str):
            seconds = math.ceil(entry)
            response = _page(wanted, f"Too many attempts. Try again in {seconds} s.", 429)
            response.headers["Retry-After"] = str(seconds)
            return response
        sessions.sign_out(request.cookies.get(COOKIE))  # never a session that was there before
        identifier, response = entry, RedirectResponse(wanted, 303)
        response.set_cookie(COOKIE, identifier, httponly=True, secure=secure, samesite="strict", path="/")
        return response

    @routes.post("/sign-out", include_in_schema=False)
    async def sign_out(request: Request) -> Response:
        sessions.sign_out(request.cookies.get(COOKIE))
        response = RedirectResponse("/sign-in", 303)
        response.delete_cookie(COOKIE, path="/")
        return response

    return routes


def local_address(address: str) -> str:
    """Return an address of a page of this site; the start page in place of anything else.

    Example:
        >>> local_address("/answer?id=7"), local_address("//evil.example/"), local_address("https://evil.example/")
        ('/answer?id=7', '/', '/')
    """
    is_plain = address.isprintable() and "\\" not in address and len(address) <= LONGEST_ADDRESS
    return address if is_plain and address.startswith("/") and not address.startswith("//") else "/"


def to_sign_in(address: str) -> str:
    """Return the address of the form that leads to a page."""
    return "/sign-in" if address == "/" else f"/sign-in?next={quote(address, safe='')}"


async def _limited_form(request: Request) -> tuple[str, str] | None:
    """Return name and password of a form; None for anything else."""
    size = request.headers.get("content-length", "")
    if not size.isdecimal() or int(size) > MAXIMUM_FORM:
        return None
    form = await request.form(max_files=0, max_fields=2)
    name, password = form.get("name"), form.get("password")
    return (name, password) if isinstance(name, str) and isinstance(password, str) else None


def _page(wanted: str, problem: str | None = None, status: int = 200) -> Response:
    """Return the form. Signing in leads to the wanted page."""
    said = [] if problem is None else [element("div", problem, **{"class": "error", "role": "alert"})]
    form = element(
        "form",
        element("label", "Name", **{"for": "name"}),
        Markup('<input id="name" name="name" autocomplete="username" autofocus required>'),
        element("label", "Password", **{"for": "password"}),
        Markup('<input id="password" name="password" type="password" autocomplete="current-password" required>'),
        element("button", "Sign in", type="submit"),
        method="post",
        action=to_sign_in(wanted),
    )
    help_text = element(
        "p",
        "No account yet? The owner of the data creates one on the page Analysts, or with ",
        element("code", "hedgerow analyst add"),
        ".",
        **{"class": "quiet"},
    )
    return _plain_page("Sign in", *said, form, help_text, status=status)


def missing_page() -> Response:
    """Return the page that says that there is none at an address."""
    said = element("p", "There is no such page. Its address may be mistyped.")
    return _plain_page("No such page", said, element("a", "To the start page", href="/"), status=404)


def _plain_page(title: str, *content: Markup, status: int) -> Response:
    """Return a page without scripts, for those who have not signed in, too."""
    head = Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">')
    document = element(
        "html",
        element("head", head, element("title", f"{title} · hedgerow"), element("style", Markup(STYLE))),
        element("body", element("main", element("h1", MARK, "hedgerow"), *content)),
        lang="en",
    )
    policy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'"
    headers = {"Content-Security-Policy": policy, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    return HTMLResponse(joined([Markup("<!doctype html>"), document]), status, headers)
