"""Safety of the console: cookies, origins, policy, and events that were not made by a click."""

import asyncio
import http.client
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from urllib.parse import urlencode, urlsplit

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from playwright.sync_api import expect

from hedgerow.service.access import open_access
from hedgerow.service.access.model import Identity
from hedgerow.service.console.safety import NO_RESPONSE, ConsoleGuard
from hedgerow.service.console.sign_in import Sessions, sign_in_routes

SEND = "(message) => { window.socket.emit(...message) }"


def call(console, method, path, *, body=None, cookie=None, **headers):
    """One request without a browser: status, headers and text."""
    connection = http.client.HTTPConnection(urlsplit(console.address).netloc, timeout=30)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if cookie is not None:
        sent["Cookie"] = cookie
    if body is not None:
        sent["Content-Type"] = "application/x-www-form-urlencoded"
        body = urlencode(body)
    connection.request(method, path, body, sent)
    response = connection.getresponse()
    text = response.read().decode(errors="replace")
    connection.close()
    return response.status, response.headers, text


def enter(console, name, **headers):
    """Sign in without a browser, and return the cookie as it was set."""
    form = {"name": name, "password": console.passwords[name]}
    status, sent, _ = call(console, "POST", "/sign-in", body=form, **headers)
    assert status == 303
    return sent["Set-Cookie"]


def value(cookie):
    return cookie.partition(";")[0]


def test_the_cookie_is_out_of_reach_for_scripts_and_other_sites(console):
    attributes = enter(console, "ada").lower()
    assert "httponly" in attributes
    assert "samesite=strict" in attributes
    assert "secure" not in attributes  # there is no TLS here; `secure` follows it


def test_over_tls_the_cookie_is_sent_over_tls_alone(tmp_path):
    with closing(open_access(tmp_path / "shop.access")) as access:
        form = {"name": "ann", "password": access.add(Identity("ann")).password}
        application = FastAPI()
        application.include_router(sign_in_routes(Sessions(access), secure=True))
        response = TestClient(application).post("/sign-in", data=form, follow_redirects=False)
    assert "; secure" in response.headers["set-cookie"].lower()


def test_a_request_from_another_site_is_refused(console):
    form = {"name": "ada", "password": console.passwords["ada"]}
    cookie = value(enter(console, "ada"))
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec_Fetch_Site": "cross-site"}):
        assert call(console, "POST", "/sign-in", body=form, **headers)[0] == 403
        assert call(console, "POST", "/sign-out", body={}, cookie=cookie, **headers)[0] == 403
    assert call(console, "GET", "/budget", cookie=cookie)[0] == 200
    assert call(console, "POST", "/sign-in", body=form, Origin=console.address)[0] == 303


@pytest.mark.parametrize(
    ("signed_in", "origin", "status"),
    [(True, None, 403), (True, "https://evil.example", 403), (False, "own", 403), (True, "own", 101)],
)
def test_a_socket_opens_for_a_session_and_a_page_of_this_site_alone(console, signed_in, origin, status):
    cookie = value(enter(console, "ada")) if signed_in else None
    headers = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec_WebSocket_Version": "13",
        "Sec_WebSocket_Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    }
    if origin is not None:
        headers["Origin"] = console.address if origin == "own" else origin
    host = urlsplit(console.address).netloc
    connection = http.client.HTTPConnection(host, timeout=30)
    sent = {name.replace("_", "-"): text for name, text in headers.items()} | ({"Cookie": cookie} if cookie else {})
    connection.request("GET", "/_nicegui_ws/socket.io/?EIO=4&transport=websocket", headers=sent)
    assert connection.getresponse().status == status
    connection.close()


def test_a_page_runs_no_inline_script_but_its_own_and_stands_in_no_frame(console, sign_in):
    cookie = value(enter(console, "ada"))
    _, first, page = call(console, "GET", "/budget", cookie=cookie)
    _, second, _ = call(console, "GET", "/budget", cookie=cookie)
    policy = first["Content-Security-Policy"]
    scripts = policy.partition("script-src ")[2].partition(";")[0]
    assert "'unsafe-inline'" not in scripts
    assert "frame-ancestors 'none'" in policy
    assert policy != second["Content-Security-Policy"]
    nonce = scripts.partition("'nonce-")[2].partition("'")[0]
    assert page.count("<script") == page.count(f'<script nonce="{nonce}"') > 0
    shown = sign_in("ada")
    shown.evaluate("""() => {
        window.refused = [];
        document.addEventListener("securitypolicyviolation", (event) => window.refused.push(event.effectiveDirective));
        document.body.insertAdjacentHTML("beforeend", '<img src="data:," onerror="window.ran = true">');
        document.body.append(Object.assign(document.createElement("script"), {textContent: "window.ran = true"}));
    }""")
    shown.wait_for_function("['script-src-attr', 'script-src-elem'].every((one) => window.refused.includes(one))")
    assert shown.evaluate("window.ran") is None


def test_texts_of_questions_and_titles_are_shown_as_text(console, sign_in):
    page = sign_in("ada")
    hostile = "<img src=x onerror=alert(1)><script>alert(1)</script>"
    page.goto(
        f"{console.address}/?{urlencode({'sql': f'SELECT COUNT(*) AS n FROM patients WHERE region = {hostile!r}'})}"
    )
    page.goto(f"{console.address}/dashboards")
    page.get_by_label("Title").fill(hostile)
    page.get_by_role("button", name="Create").click()
    page.get_by_role("heading", name=hostile).wait_for()
    page.goto(f"{console.address}/dashboards")
    page.get_by_role("link", name=hostile).wait_for()
    assert page.locator("main img, main script").count() == 0


def test_an_event_for_somebody_elses_page_does_nothing(console, sign_in):
    analyst, owner = sign_in("ada"), sign_in("olga")
    for page in (analyst, owner):
        page.goto(f"{console.address}/explore")
        page.get_by_role("button", name="Add a filter").wait_for()
    owner.evaluate(
        "() => { const own = window.socket.emit; window.restore = () => { window.socket.emit = own };"
        "window.socket.emit = (...message) => { window.message = message } }"
    )
    owner.get_by_role("button", name="Add a filter").click()
    owner.wait_for_function("window.message?.[0] === 'event'")
    message = owner.evaluate("() => { window.restore(); return window.message }")
    analyst.evaluate(SEND, message)
    analyst.get_by_role("button", name="Add a filter").click()  # the events of a socket are handled in their order
    analyst.get_by_role("button", name="Remove this filter").wait_for()
    owner.evaluate(SEND, message)  # the same event from its own page works: the one before was refused, not wrong
    owner.get_by_role("button", name="Remove this filter").first.wait_for()
    owner.get_by_label("By", exact=True).select_option("sex")
    expect(owner.get_by_label("SQL", exact=True)).to_contain_text("SELECT sex")  # what was drawn before has arrived
    assert owner.get_by_role("button", name="Remove this filter").count() == 1


def test_signing_out_ends_the_session_and_closes_its_other_pages(console, sign_in):
    page = sign_in("ada", fresh=True)
    other = page.context.new_page()
    other.goto(f"{console.address}/budget")
    (cookie,) = [kept for kept in page.context.cookies() if kept["name"] == "hedgerow_session"]
    page.get_by_role("button", name="Sign out ada").click()
    page.wait_for_url(f"{console.address}/sign-in")
    other.wait_for_url(f"{console.address}/sign-in")
    status, headers, _ = call(console, "GET", "/budget", cookie=f"hedgerow_session={cookie['value']}")
    assert (status, headers["Location"]) == (303, "/sign-in?next=%2Fbudget")


def test_a_session_that_was_there_before_is_not_the_one_that_signs_in(console):
    mine = value(enter(console, "ada"))
    planted = value(enter(console, "ben", Cookie=mine))
    assert planted != mine
    assert call(console, "GET", "/budget", cookie=mine)[0] == 303  # ended, and never somebody else's
    assert value(enter(console, "olga", Cookie="hedgerow_session=chosen")) != "hedgerow_session=chosen"


def test_a_link_on_another_site_opens_its_page_for_who_has_signed_in(console, sign_in):
    page = sign_in("ada")
    link = f"{console.address}/history?dataset=hospital&q=ward"
    page.goto(f"data:text/html,<a href='{link}'>History</a>")
    page.get_by_role("link", name="History").click()
    page.wait_for_url(link)
    page.get_by_role("heading", name="History").wait_for()


def test_signing_in_leads_to_the_page_that_was_asked_for(console, browser):
    page = browser.new_page()
    link = f"{console.address}/history?dataset=hospital&q=ward"
    page.goto(link)
    for password in ("wrong", console.passwords["ada"]):
        page.fill("#name", "ada")
        page.fill("#password", password)
        page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(link)
    page.close()


@pytest.mark.parametrize(
    "address",
    ["https://evil.example/", "//evil.example/", "/\\\\evil.example/", "javascript:alert(1)", "/\r\nX: y", ""],
)
def test_signing_in_leads_to_no_other_site(console, address):
    form = {"name": "ada", "password": console.passwords["ada"]}
    _, headers, _ = call(console, "POST", f"/sign-in?{urlencode({'next': address})}", body=form)
    assert headers["Location"] == "/"


def test_an_open_page_leads_to_the_form_once_its_account_has_new_secrets(console, sign_in):
    owner = sign_in("olga", "/analysts")
    owner.get_by_label("Name", exact=True).fill("pia")
    owner.get_by_role("button", name="Add").click()
    owner.get_by_text("These are shown once").wait_for()
    console.passwords["pia"] = owner.locator(".hr-notice code").first.inner_text()
    page = sign_in("pia", fresh=True)
    page.locator(".hr-price .hr-figure").first.wait_for()
    owner.get_by_role("button", name="New secrets for pia").click()
    owner.get_by_role("button", name="Yes").click()
    owner.get_by_text("These are shown once").wait_for()
    page.get_by_role("button", name="Ask").click()
    page.get_by_role("button", name="Sign in").wait_for()
    assert page.locator(".hr-answer-table").count() == 0


def test_guessing_a_password_has_to_wait_and_an_unknown_name_like_a_known_one(console):
    said = {}
    for name in ("gil", "stranger"):
        outcomes = [
            call(console, "POST", "/sign-in", body={"name": name, "password": str(guess)}) for guess in range(7)
        ]
        said[name] = [status for status, _, _ in outcomes]
        assert int(outcomes[-1][1]["Retry-After"]) >= 1
    assert said["gil"] == said["stranger"] == [401] * 5 + [429] * 2
    right = {"name": "gil", "password": console.passwords["gil"]}
    assert call(console, "POST", "/sign-in", body=right)[0] == 429


def test_nothing_is_told_to_who_has_not_signed_in(console):
    for path in ("/", "/budget", "/answer?id=x", "/dashboard?id=x", "/catalog", "/analysts", "/audit"):
        status, headers, text = call(console, "GET", path)
        assert (status, headers["Location"].partition("?")[0]) == (303, "/sign-in")
        assert "hospital" not in text
    assert json.dumps(console.passwords) not in text


def test_an_address_without_a_page_says_so_and_leads_to_the_start(console):
    status, headers, text = call(console, "GET", "/nothing-here")
    assert status == 404
    assert "There is no such page." in text
    assert '<a href="/">' in text
    assert "<script" not in text
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("last", "message", "raises"),
    [
        ("http.disconnect", NO_RESPONSE, False),
        ("http.disconnect", "another fault", True),
        ("http.request", NO_RESPONSE, True),
    ],
)
def test_a_page_that_nobody_waits_for_is_no_fault_and_every_other_fault_is_one(last, message, raises):
    async def failing(_scope, receive, _send):
        await receive()
        raise RuntimeError(message)

    async def receive():
        return {"type": last}

    async def serve():
        scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
        await ConsoleGuard(failing, Sessions(None))(scope, receive, None)

    # a thread of its own, because a browser that is open runs a loop in this one
    with ThreadPoolExecutor(1) as pool, pytest.raises(RuntimeError, match=message) if raises else nullcontext():
        pool.submit(lambda: asyncio.run(serve())).result()
