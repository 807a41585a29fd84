"""Databases, quotes, budgets, tables and refusals in a notebook."""

from html.parser import HTMLParser

import pytest
from tests.internals import session_of

import hedgerow as hr

HOSTILE = "<script>alert('1')</script>"
STATEMENTS = [
    f"""CREATE TABLE people (id BIGINT PRIMARY KEY, "{HOSTILE}" DOUBLE, region VARCHAR)""",
    f"INSERT INTO people SELECT i, i % 7, '{HOSTILE.replace(chr(39), chr(39) * 2)}' FROM range(900) r(i)",
]
TABLES = f"""
people:
  unit: id
  unit_unique: true
  comment: "{HOSTILE}"
  columns:
    "{HOSTILE}": {{lower: 0, upper: 7}}
    region: {{comment: "{HOSTILE}"}}
"""
QUESTION = "SELECT region, COUNT(*) AS n FROM people GROUP BY region"
REFUSED = "SELECT *\nFROM people"


@pytest.fixture(scope="module")
def db(build_once):
    return build_once(STATEMENTS, TABLES, min_frequency=5, analyst=HOSTILE)


class Page(HTMLParser):
    """The tags of a page, the names of its attributes, and its text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.text = set(), set(), ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.text += data


def refused(db, statement=REFUSED):
    with pytest.raises(hr.HedgerowError) as caught:
        db.sql(statement)
    return caught.value


@pytest.mark.parametrize(
    ("shown", "says"),
    [
        (lambda db: db.sql(QUESTION), HOSTILE),
        (lambda db: db.quote(f"{QUESTION} -- {HOSTILE}"), f"-- {HOSTILE}"),
        (lambda db: db.explain(f"{QUESTION} -- {HOSTILE}"), "group by region"),
        (lambda db: db.describe(f'SELECT COUNT(*) AS "{HOSTILE}" FROM people'), HOSTILE),
        (lambda db: (db.sql(QUESTION), session_of(db).ledger.budget())[1], HOSTILE),
        (lambda db: db.tables, HOSTILE),
        (lambda db: db, f"asked by {HOSTILE}"),
        (lambda db: refused(db, f'SELECT "{HOSTILE}!" FROM people'), HOSTILE),
    ],
    ids=["answer", "quote", "explanation", "description", "budget", "tables", "database", "refusal"],
)
def test_no_text_is_more_than_text_and_nothing_is_loaded(db, shown, says):
    page = Page(shown(db)._repr_html_())
    assert says in page.text
    assert page.tags <= {
        *("div", "p", "strong", "em", "span", "pre", "details", "summary"),
        *("table", "thead", "tbody", "tr", "th", "td"),
    }
    assert page.attributes <= {"style", "title", "aria-hidden"}


def test_a_quote_tells_price_errors_and_groups_on_one_screen(db):
    quote = db.quote(f'SELECT region, AVG("{HOSTILE}") AS mean FROM people GROUP BY region')
    page = Page(quote._repr_html_()).text
    for said in (
        "Price: epsilon 1",
        "of the budget",
        "What is left now buys",
        "100,000",
        "A group is shown",
        "Noise of each",
    ):
        assert said in page
    assert "FROM private_rows" not in page
    assert repr(quote) == str(quote)
    assert len(repr(quote)) < 2_000


def test_a_quote_that_does_not_fit_says_so(build):
    db = build(STATEMENTS, TABLES, budget="{epsilon: 1, delta: 1e-6}")
    assert "would be refused" in Page(db.quote(QUESTION, epsilon=20)._repr_html_()).text


def test_a_paid_answer_is_quoted_as_free(db):
    db.sql(QUESTION)
    assert "Free: the answer is paid for already" in db.quote(QUESTION)._repr_html_()


def test_a_budget_is_one_line_of_text_and_a_bar_for_each_analyst(db):
    db.sql(QUESTION)
    assert repr(db.budget).startswith("test: ")
    assert "of the budget used by 1 question;" in repr(db.budget)
    assert session_of(db).ledger.budget()._repr_html_().count("border-radius:3px") == 2


def test_a_database_is_told_by_its_tables_even_when_its_ledger_is_closed(build):
    db = build(STATEMENTS, TABLES)
    assert repr(db) == "<hedgerow.Database test: people>"
    db.close()
    assert "The ledger is closed." in db._repr_html_()


def plain(lines):
    text = "\n".join(lines)
    for sequence in ("\x1b[31m", "\x1b[1m", "\x1b[0m"):
        text = text.replace(sequence, "")
    return text.splitlines()


def test_a_refusal_is_a_box_with_its_caret_and_its_hint(db):
    lines = plain(refused(db)._render_traceback_())
    called = refused.__code__.co_firstlineno + 2
    assert lines[0].startswith("╭─ refused [star] ──")
    assert lines[1] == "│ SELECT * would show single rows of private data."
    assert lines[3:5] == ["│   1 | SELECT *", "│     |        ^"]
    assert any(line.startswith("│ hint: Ask for aggregates") for line in lines)
    assert lines[-2] == f"│ test_notebook.py, line {called}: db.sql(statement)"
    assert lines[-1].startswith("╰──")
    assert len(lines) < 12


def test_a_failure_that_was_charged_says_so_in_its_box():
    error = hr.BackendError(
        "The statement was cancelled.", code="cancelled", receipt=type("Receipt", (), {"id": "r-1"})
    )
    assert "│ The question had been charged (receipt r-1), and stays charged." in plain(error._render_traceback_())
    assert "receipt r-1" in error._repr_html_()


def test_our_own_bug_keeps_its_traceback():
    with pytest.raises(hr.InternalError) as caught:
        raise hr.InternalError("A table has no columns.")
    assert caught.value._render_traceback_()[0].startswith("Traceback")
