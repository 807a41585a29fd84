"""The router alone keeps every reader of a declared table from the shadow: its seal, the second line, never has to act.

Statements are made at random of pieces that hide a name or end a text. What the router passes on runs in the shadow,
which parses with PostgreSQL's own parser: if it finds a declared table there, the router was wrong.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.service.shadow.relay import ShadowError
from hedgerow.service.shadow.routing import Route, Router

NAMES = ["patients", "PATIENTS", '"patients"', "public.patients", 'public."patients"', "hospital.public.patients"]
SPACES = [" ", "\n", "\t", " /* x */ ", " /* /* x */ ' */ ", " --'\n", " -- patients\n", "\f", "\v", "\r"]
TEXTS = [
    "'x'",
    "''",
    "'\\'",
    "'it''s'",
    "E'\\''",
    "E'\\\\'",
    "$$x$$",
    "$a$ $b$ $a$",
    "$a$'$a$",
    "B'1'",
    "N'x'",
    "U&'x'",
]
READS = [
    "SELECT count(*) FROM {0}",
    "SELECT {1} , count(*) FROM {0}",
    "SELECT count(*) FROM {0} WHERE {1} IS NOT NULL",
    "SELECT count(*) FROM ( {0} )",
    "SELECT count(*) FROM pg_class , {0}",
    "SELECT count(*) FROM pg_class c CROSS JOIN LATERAL ( SELECT {1} FROM {0} ) x",
    "SELECT ( SELECT {1} FROM {0} LIMIT 1 )",
    "WITH x AS ( SELECT {1} FROM {0} ) SELECT count(*) FROM x",
    "WITH x AS ( TABLE {0} ) SELECT {1} FROM x",
    "SELECT {1} UNION ALL SELECT {1} FROM {0}",
    "SELECT EXISTS ( TABLE {0} ) , {1}",
    "SELECT {1} WHERE EXISTS ( SELECT FROM ONLY {0} )",
    "VALUES ( {1} ) , ( ( SELECT {1} FROM {0} LIMIT 1 ) )",
    "TABLE {0}",
]
"""Statements that read the table: {0} is its name, {1} some text."""

PIECES = [
    *NAMES,
    *SPACES,
    *TEXTS,
    "SELECT",
    "FROM",
    "TABLE",
    "count(*)",
    "1",
    ",",
    "(",
    ")",
    "'",
    '"',
    "$$",
    "/*",
    "*/",
]
PIECES += ["--", "AS", "x", ".", ";", "WHERE", "UNION", "pg_catalog.", "LATERAL", "ONLY", "\\", "U&", "E"]


@given(st.sampled_from(READS), st.sampled_from(NAMES), st.sampled_from(TEXTS), st.lists(st.sampled_from(SPACES)))
def test_a_reader_is_never_passed_on(hospital, template, name, text, spaces):
    words = template.format(name, text).split(" ")
    statement = words[0]
    for number, word in enumerate(words[1:]):
        statement += (spaces[number % len(spaces)] if spaces else " ") + word
    assert {decision.route for decision in Router(hospital.tables, "hospital").decide_all(statement)} != {Route.SHADOW}


def find_wrong(session, run, router, examples):
    """Run random statements that the router passes on; return those at which the seal had to act."""
    wrong = []

    @settings(max_examples=examples, deadline=None, database=None)
    @given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=12), st.booleans())
    def attempt(pieces, begins):
        for decision in router.decide_all(("SELECT " if begins else "") + "".join(pieces)):
            if decision.route not in {Route.SHADOW, Route.BUDGET}:
                continue
            try:
                run(session.query(decision.text))
            except ShadowError as error:
                if "rows of a declared table" in str(error):
                    wrong.append(decision.text)

    attempt()
    return wrong


def test_the_seal_never_has_to_act(session, run, router):
    assert find_wrong(session, run, router, 200) == []


def test_this_test_can_fail(session, run):
    """With a router that knows no table, the seal acts."""
    blind = Router((), "hospital")
    assert blind.decide("SELECT count(*) FROM patients").route is Route.SHADOW
    with pytest.raises(ShadowError, match="rows of a declared table"):
        run(session.query("SELECT count(*) FROM patients"))


@pytest.mark.slow
def test_the_seal_never_has_to_act_in_many_statements(session, run, router):
    assert find_wrong(session, run, router, 5000) == []
