"""Every statement on its way to an engine is one that `compile` wrote: nothing of the analyst's text is in it."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

from hedgerow.compile import postprocess, program, public_tables, query_text
from hedgerow.dialects import DUCKDB
from hedgerow.execution.public_tables import public_statement
from hedgerow.execution.run import nothing_of
from hedgerow.limits import UNDECLARED
from hedgerow.plan.nodes import scans_of
from hedgerow.privacy.keys import MAX_DECLARED

from ...internals import session_of

pytestmark = pytest.mark.hostile

FIXED = {"BEGIN TRANSACTION"}
"""Statements sent besides those of a plan."""

SCHEMA = {"duckdb_columns", "duckdb_constraints", "duckdb_tables"}
"""Statements about tables and columns, and about no row."""

NONCE = re.compile(r"[0-9a-f]{32}")
MARK = "zqx"
"""Stands in every alias, comment and spelling of the legitimate queries, and in nothing of ours."""

LEGITIMATE = (Path(__file__).parent / "legitimate.txt").read_text(encoding="utf-8").strip().split("\n\n")[1:]


@pytest.fixture
def statements(file_shop, recorder, monkeypatch):
    """Ask a question afresh; what was sent to the database, and what to the engine after the noise."""
    sent, later = [], []
    data, noisy = session_of(file_shop).backend._connection, session_of(file_shop).postprocess._open()
    monkeypatch.setattr(session_of(file_shop).backend, "_connection", recorder(data, sent))
    monkeypatch.setattr(session_of(file_shop).postprocess, "_connection", recorder(noisy, later))

    def ask(query, **options):
        sent.clear()
        later.clear()
        session_of(file_shop).readable.clear()
        file_shop.sql(query, reuse=False, **options)
        public = {name for name, table in session_of(file_shop).catalog.tables.items() if table.public}
        counts = [text for text in sent if counted(text, session_of(file_shop).backend.dialect) in public]
        return [plain(text) for text in sent if text not in counts], [plain(text) for text in later]

    return ask


def counted(text, dialect):
    """The table whose rows a statement counts, to see how many of them a join can meet; None where it does not."""
    actual = COUNTED.fullmatch(text)
    table = actual and (actual["whole"] or actual["grouped"])
    return next((name for name in COUNTABLE if dialect.table(name) == table), None)


COUNTED = re.compile(
    r"SELECT COUNT\(\*\) AS n FROM (?P<whole>\S+) AS t0|SELECT MAX\(n\) AS n FROM "
    r"\(SELECT COUNT\(\*\) AS n FROM (?P<grouped>\S+) AS t0 WHERE .* IS NOT NULL GROUP BY [^()]*\) AS counted"
)
COUNTABLE = ("bridge", "cities", "countries", "labels", "numbers")


def plain(text):
    """A statement without the nonce of its run."""
    return NONCE.sub("0" * 32, text)


def written_by_compile(logical, priced, session):
    """The statements that a plan is rendered to: for the database of a session, and for the engine after the noise.

    A released table that is the whole output may be copied without any statement.
    """
    schema, there = session.schema, session.backend.dialect
    if priced is None:
        return {public_statement(logical, session.catalog, there).sql}, [set()]
    programs = [program(part, there, "0" * 32, shortcuts=True, fixed=True) for part in priced.parts]
    public = [public_text(schema.tables[name], there) for name in public_tables(logical)]
    public += [domain_text(release, there) for release in logical.releases if release.domain is not None]
    public += [nothing_of(schema.tables[scan.table], there).sql for scan in scans_of(logical.releases)]
    cheaper = [sql for steps in programs for _, sql in steps.shortcut_texts()]
    later = postprocess(logical, DUCKDB, max_rows=UNDECLARED.rows + 1)
    sent = {*(text for steps in programs for text in steps.texts()), *cheaper, *public}
    return sent, [{later.sql}] if later.picked is None else [{later.sql}, set()]


def public_text(table, there):
    """A public table as the post-processing is given it: all its columns, and nothing else."""
    quoted = [DUCKDB.identifier(column) for column in table.columns]
    return f"SELECT {', '.join(quoted)} FROM {there.table(table.name)} LIMIT {UNDECLARED.rows + 1}"


def domain_text(release, there):
    """The keys that a public table gives to a release."""
    return query_text(replace(release.domain, limit=MAX_DECLARED + 1), there)


def laid_out_otherwise(query):
    """The same words with comments and odd white space between them."""
    pieces = [query[token.start : token.end + 1] for token in sqlglot.tokenize(query, dialect="duckdb")]
    return f"/* {MARK} */\n" + f"\r\n\t/* {MARK} ; */ ".join(pieces) + f" -- {MARK}"


@pytest.fixture
def expected(understood, entry_of, file_shop):
    """Statements that may be sent for a query, or for an entry of the corpus."""

    def texts(query_or_entry, **options):
        entry = entry_of("harmless", query_or_entry, options) if isinstance(query_or_entry, str) else query_or_entry
        return written_by_compile(*understood(entry), session_of(file_shop))

    return texts


@pytest.mark.parametrize("query", LEGITIMATE)
def test_every_statement_that_is_sent_is_one_that_compile_wrote(statements, expected, query):
    sent, later = statements(query, epsilon=20)
    wanted, wanted_later = expected(query, epsilon=20)
    assert set(sent) - FIXED
    assert set(sent) <= {*wanted, *FIXED}
    assert set(later) in wanted_later
    for text in (*sent, *later):
        assert MARK not in text.lower()
        assert ";" not in text


@pytest.mark.parametrize("query", LEGITIMATE)
def test_how_a_query_is_laid_out_changes_no_statement(statements, expected, query):
    otherwise = laid_out_otherwise(query)
    assert otherwise.count(MARK) > query.count(MARK)
    sent, later = statements(otherwise, epsilon=20)
    wanted, wanted_later = expected(query, epsilon=20)
    assert set(sent) <= {*wanted, *FIXED}
    assert set(later) in wanted_later


@pytest.mark.parametrize("query", LEGITIMATE)
def test_a_quote_shows_the_statements_that_would_be_sent(file_shop, expected, query):
    wanted, _ = expected(query)
    shown = set(file_shop.quote(query).sql)
    assert shown <= wanted
    shown |= {shortcut.sql for shortcut in file_shop.explain(query).shortcuts}
    assert shown <= wanted
    assert all(re.search(r" LIMIT \d+$| WHERE 1 = 0$", text) for text in wanted - shown)


def test_every_statement_of_a_harmless_query_is_one_that_compile_wrote(
    file_shop, statements, expected, harmless, monkeypatch
):
    monkeypatch.setattr(file_shop, "_session", replace(session_of(file_shop), dialect=harmless.dialect))
    sent, later = statements(harmless.query, **harmless.options)
    wanted, wanted_later = expected(harmless)
    assert set(sent) <= {*wanted, *FIXED}
    assert set(later) in wanted_later


@pytest.mark.parametrize("spelling", ["'zqx''s'", "$$zqx's$$", "E'zqx\\'s'", "CAST('zqx''s' AS VARCHAR)", "?", ":name"])
def test_a_constant_is_written_anew_and_quoted(statements, spelling):
    params = {"?": ["zqx's"], ":name": {"name": "zqx's"}}.get(spelling)
    sent, _ = statements(f"SELECT COUNT(*) FROM customers WHERE email = {spelling}", params=params)
    (text,) = {text for text in sent if text not in FIXED and not text.endswith(" WHERE 1 = 0")}
    tree = sqlglot.parse_one(text, dialect="duckdb")
    assert {node.this for node in tree.find_all(exp.Literal) if MARK in node.this} == {"zqx's"}
    assert text.count(MARK) == text.count("'zqx''s'")


def test_a_connection_handed_in_is_sent_the_same_and_questions_about_the_schema(shops, statements, file_shop):
    query = "SELECT COUNT(*) AS n, AVG(price) AS mean FROM orders"
    shops.sent.clear()
    shops().sql(query, reuse=False)
    here, there = (session_of(db).backend.dialect.table("orders") for db in (file_shop, shops()))
    explained = file_shop.explain(query)
    cheaper = {shortcut.sql for shortcut in explained.shortcuts}
    ordinary = [statement.sql for statement in explained.statements if statement.step != "postprocess"]
    alike = [text.replace(here, there) for text in (*statements(query)[0], *ordinary) if text not in cheaper]
    assert set(alike) <= set(map(plain, shops.sent))
    others = [text for text in map(plain, shops.sent) if text not in alike]
    assert others
    for text in others:
        tree = sqlglot.parse_one(text, dialect="duckdb")
        assert isinstance(tree, exp.Select)
        assert {str(source.this.this) for source in tree.find_all(exp.Table)} <= SCHEMA
