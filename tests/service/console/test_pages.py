"""The console in a browser: every page, for every role, without a network."""

from playwright.sync_api import expect


def ask(page, sql):
    """Replace the text of the editor."""
    page.locator(".cm-content[aria-label]").fill(sql)


def test_a_dear_question_waits_for_the_owner_and_is_answered_once_granted(sign_in, console):
    analyst, owner = sign_in("ada"), sign_in("olga")
    ask(analyst, "SELECT COUNT(*) AS oldest FROM patients WHERE age > 81")
    analyst.locator(".hr-price").get_by_text("oldest").wait_for()
    analyst.get_by_label("epsilon", exact=True).fill("0.8")
    analyst.get_by_text("Above 0.5 the owner decides").wait_for()
    expect(analyst.get_by_label("epsilon", exact=True)).to_have_value("0.8")  # what was typed stays
    analyst.get_by_role("button", name="Ask").click()
    analyst.get_by_text("above 0.5 the owner decides. It is now request").wait_for()
    owner.goto(f"{console.address}/requests")
    owner.get_by_text("epsilon 0.8").wait_for()
    owner.get_by_role("button", name="Grant").click()
    owner.get_by_text("granted: it is answered").first.wait_for()
    analyst.get_by_role("button", name="Ask").click()
    analyst.get_by_role("tab", name="Table").wait_for()


def test_a_denied_question_stays_unanswered_and_its_analyst_sees_that(sign_in, console):
    analyst, owner = sign_in("ben"), sign_in("olga")
    ask(analyst, "SELECT COUNT(*) AS youngest FROM patients WHERE age < 4")
    analyst.locator(".hr-price").get_by_text("youngest").wait_for()
    analyst.get_by_label("epsilon", exact=True).fill("0.7")
    analyst.get_by_text("Above 0.5 the owner decides").wait_for()
    analyst.get_by_role("button", name="Ask").click()
    analyst.get_by_text("It is now request").wait_for()
    owner.goto(f"{console.address}/requests")
    waiting = owner.get_by_role("region", name="Request of ben")
    expect(waiting).to_contain_text("epsilon 0.7")
    expect(waiting).to_contain_text("youngest in a group of 1,000 rows")
    waiting.get_by_role("button", name="Deny").click()
    expect(waiting).to_contain_text("denied")
    assert analyst.locator(".hr-answer-table").count() == 0
    analyst.goto(f"{console.address}/requests")
    expect(analyst.get_by_role("region", name="Request of ben")).to_contain_text("denied")
    assert analyst.get_by_role("button", name="Grant").count() == 0


def test_a_wrong_password_is_refused_in_the_words_of_an_unknown_name(console, browser):
    page = browser.new_page()
    said = []
    for name in ("ada", "nobody"):
        page.goto(f"{console.address}/sign-in")
        page.fill("#name", name)
        page.fill("#password", "wrong")
        page.get_by_role("button", name="Sign in").click()
        said.append(page.get_by_role("alert").inner_text())
    page.close()
    assert said[0] == said[1] == "Name and password do not match."


def test_what_is_typed_while_the_connection_is_lost_arrives_afterwards(sign_in, console):
    page = sign_in("ada", "/history")
    page.wait_for_function("window.did_handshake")
    page.evaluate("window.socket.io.engine.close()")
    page.get_by_role("searchbox").press_sequentially("nothing like it")
    page.get_by_text("0 of ").wait_for()


def test_a_page_that_the_server_has_forgotten_is_loaded_anew(sign_in, console):
    page = sign_in("ada", "/history")
    page.wait_for_function("window.did_handshake")
    page.evaluate("() => { window.stale = true; window.socket.io.opts.query.client_id = 'forgotten' }")
    page.evaluate("window.socket.io.engine.close()")
    page.wait_for_function("!window.stale && window.did_handshake")
    page.get_by_role("searchbox").fill("nothing like it")
    page.get_by_text("0 of ").wait_for()
