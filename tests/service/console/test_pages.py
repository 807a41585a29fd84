"""The console in a browser: every page, for every role, without a network."""


def ask(page, sql):
    """Replace the text of the editor."""
    page.locator(".cm-content").fill(sql)


def test_a_dear_question_waits_for_the_owner_and_is_answered_once_granted(sign_in, console):
    analyst, owner = sign_in("ada"), sign_in("olga")
    dear = "SELECT COUNT(*) AS n FROM patients WHERE age > 81 /* epsilon */"
    ask(analyst, dear)
    analyst.get_by_label("epsilon", exact=True).fill("0.8")
    analyst.get_by_text("Above 0.5 the owner decides").wait_for()
    analyst.get_by_role("button", name="Ask").click()
    analyst.get_by_text("above 0.5 the owner decides. It is now request").wait_for()
    owner.goto(f"{console.address}/requests")
    owner.get_by_text("epsilon 0.8").wait_for()
    owner.get_by_role("button", name="Grant").click()
    owner.get_by_text("granted: it is answered").wait_for()
    analyst.get_by_role("button", name="Ask").click()
    analyst.get_by_role("tab", name="Table").wait_for()


def test_signing_out_ends_the_session(sign_in, console):
    page = sign_in("ada")
    page.get_by_role("button", name="Sign out ada").click()
    page.wait_for_url(f"{console.address}/sign-in")
    page.goto(f"{console.address}/budget")
    assert page.url == f"{console.address}/sign-in"


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
