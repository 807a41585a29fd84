"""The corpus of queries that must not run: each is refused by its code, says what to do, and costs nothing."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

import hedgerow as hr
from hedgerow.errors import BudgetError, HedgerowError, QueryError, UnknownNameError, UnsupportedSQLError, pointing_into

HERE = Path(__file__).parent
PLAIN = {"bad-epsilon", "nul", "too-long"}
"""Refusals whose sentence alone says all there is to say."""

ABOUT_THE_WHOLE = {"not-a-select", "public-too-large", "too-many-joined-rows", "too-many-rows"}
"""Refusals of syntax and names that are about no clause in particular."""

ONLY_WHEN_ASKED = {"budget-gaussian", "budget-pure", "public-too-large", "too-many-rows"}
"""A quote shows the price of what would not fit, too, and reads no table."""


@dataclass(frozen=True)
class Refusal:
    """A query, the options it is asked with, and the code of its refusal."""

    code: str
    options: dict[str, object]
    query: str

    def __str__(self) -> str:
        return f"{self.code}: {ascii(' '.join(self.query.split())[:60])[1:-1]}"


def read(text: str) -> list[Refusal]:
    """The entries of the corpus."""
    blocks = [block.split("\n") for block in text.strip("\n").split("\n\n")]
    return [_refusal(*block) for block in blocks if not block[0].startswith("#")]


def _refusal(code: str, *lines: str) -> Refusal:
    options = json.loads(lines[0].removeprefix("with ")) if lines[0].startswith("with ") else {}
    return Refusal(code, options, "\n".join(lines[1:] if options else lines))


def large() -> list[Refusal]:
    """Entries that would be too long to read, or that no file of text can hold."""
    filters = ", ".join(f"COUNT(*) FILTER (WHERE age > {number})" for number in range(401))
    queries = ", ".join(f"t{number} AS (SELECT 1 AS x)" for number in range(101))
    return [
        Refusal("too-long", {}, f"SELECT COUNT(*) FROM customers{' ' * 100_000}"),
        Refusal("too-long", {}, f"SELECT {'1,' * 20_000} COUNT(*) FROM customers"),
        Refusal("nul", {}, "SELECT COUNT(*) FROM customers\x00"),
        Refusal("not-text", {}, "SELECT '\ud800', COUNT(*) FROM customers"),
        Refusal("huge-literal", {}, f"SELECT COUNT(*) FROM customers WHERE region = '{'x' * 10_001}'"),
        Refusal("too-many-aggregates", {}, f"SELECT {filters} FROM customers"),
        Refusal("too-many-queries", {}, f"WITH {queries} SELECT x FROM t0"),
    ]


CORPUS = read((HERE / "refusals.txt").read_text(encoding="utf-8")) + large()


@pytest.fixture(scope="module")
def database(tmp_path_factory) -> Iterator[hr.Database]:
    with duckdb.connect(":memory:") as connection:
        connection.execute((HERE / "schema.sql").read_text(encoding="utf-8"))
        ledger = tmp_path_factory.mktemp("refusals") / "shop.ledger"
        with hr.connect(connection, catalog=HERE / "catalog.yaml", ledger=ledger) as opened:
            yield opened


def refused(database, refusal, how="sql") -> HedgerowError:
    with pytest.raises(HedgerowError) as caught:
        getattr(database, how)(refusal.query, **refusal.options)
    return caught.value


def test_the_corpus_is_large_and_has_no_entry_twice():
    assert len(CORPUS) >= 200
    assert len({(r.query, json.dumps(r.options)) for r in CORPUS}) == len(CORPUS)


@pytest.mark.parametrize("refusal", CORPUS, ids=str)
def test_a_refused_query_has_its_code_and_costs_nothing(database, refusal):
    before = database.budget
    error = refused(database, refusal)
    after = database.budget
    assert error.code == refusal.code, str(error)
    assert (after.queries, after.used) == (before.queries, before.used)


@pytest.mark.parametrize("refusal", CORPUS, ids=str)
def test_a_refusal_says_where_it_is_or_what_to_write(database, refusal):
    error = refused(database, refusal)
    assert isinstance(error, QueryError | BudgetError)
    assert error.message.endswith(".")
    named = any(name in error.message for name in [*refusal.options, "constants"]) and refusal.options
    assert error.hint or error.span or named or refusal.code in PLAIN, str(error)
    if error.span is not None:
        assert 0 <= error.span.start < error.span.end <= len(refusal.query)
        assert refusal.query[: error.span.start].count("\n") + 1 == error.span.line


@pytest.mark.parametrize("refusal", [r for r in CORPUS if not r.options and r.code not in ABOUT_THE_WHOLE], ids=str)
def test_a_refusal_of_syntax_or_names_points_at_the_clause_and_shows_what_to_write(database, refusal):
    error = refused(database, refusal)
    if isinstance(error, UnsupportedSQLError | UnknownNameError):
        assert error.span is not None
        assert error.hint
        assert error.hint.endswith((".", "?", ")", "…", "}"))


@pytest.mark.parametrize("refusal", CORPUS, ids=str)
def test_a_refusal_that_has_a_place_shows_the_line_with_carets_below(database, refusal):
    with pytest.raises(HedgerowError) as caught, pointing_into(refusal.query):
        database.sql(refusal.query, **refusal.options)
    error = caught.value
    if error.span is None:
        assert "^" not in str(error)
        return
    *_, line, carets = str(error).split("\n")
    start, end = carets.index("^"), len(carets)
    assert carets[start:] == "^" * (end - start)
    assert line.startswith(f"  {error.span.line} | ")
    meant = refusal.query[error.span.start : error.span.end].split("\n")[0]
    assert line[start:end] == meant.rstrip()


@pytest.mark.parametrize("refusal", CORPUS, ids=str)
def test_a_refusal_carries_no_other_exception_along(database, refusal):
    error = refused(database, refusal)
    assert error.__cause__ is None
    assert error.__context__ is None or error.__suppress_context__


@pytest.mark.parametrize("refusal", [r for r in CORPUS if r.code not in ONLY_WHEN_ASKED], ids=str)
def test_a_quote_is_refused_for_the_same_reason(database, refusal):
    assert refused(database, refusal, "quote").code == refusal.code


def test_the_same_database_answers_what_may_be_asked(database):
    answer = database.sql("SELECT region, COUNT(*) AS n, AVG(income) AS mean FROM customers GROUP BY region")
    assert answer["region"] == ["north", "south"]
    assert database.budget.queries == 1
