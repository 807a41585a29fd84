"""Queries as dashboards, models and notebooks send them: answered with the right numbers, or refused by their code."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest
import sqlglot
from sqlglot import exp

import hedgerow as hr
from hedgerow.errors import HedgerowError

HERE = Path(__file__).parent
DIALECTS = ("duckdb", "postgres", "spark", "sqlite", "bigquery", "snowflake")
CLIP = "CREATE MACRO clip(x, lower, upper) AS CASE WHEN x IS NOT NULL THEN LEAST(GREATEST(x, lower), upper) END"
SHARP = 0.2
"""An answer must know at least one of its numbers to this share, or agreement would say little."""


@dataclass(frozen=True)
class Entry:
    """A query, its dialect, what becomes of it, and its plain text where translation does not give it."""

    dialect: str
    outcome: str
    options: dict[str, object]
    query: str
    own_plain: str | None

    def __str__(self) -> str:
        return f"{self.dialect} {self.outcome}: {' '.join(self.query.split())[:60]}"

    def tree(self) -> exp.Expression:
        """The query as plain SQL, with its parameters filled in."""
        if self.own_plain is not None:
            return sqlglot.parse_one(self.own_plain, read="duckdb")
        tree = sqlglot.parse_one(self.query, read=self.dialect)
        given = self.options.get("params")
        values = iter(given if isinstance(given, list) else ())
        for mark in list(tree.find_all(exp.Placeholder)):
            mark.replace(exp.convert(given[mark.name] if isinstance(given, dict) else next(values)))
        return tree


def read(text: str) -> list[Entry]:
    """The entries of the corpus."""
    blocks = [block for block in text.strip("\n").split("\n\n") if not block.startswith("#")]
    return [_entry(*block.split("\n", 1)) for block in blocks]


def _entry(head: str, text: str) -> Entry:
    dialect, outcome, *options = head.split(" ", 2)
    query, _, plain = text.partition("\n-- plain\n")
    return Entry(dialect, outcome, json.loads(options[0]) if options else {}, query, plain or None)


CORPUS = read((HERE / "queries.txt").read_text(encoding="utf-8"))
ANSWERED = [entry for entry in CORPUS if entry.outcome == "answered"]
REFUSED = [entry for entry in CORPUS if entry.outcome != "answered"]


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(":memory:", config={"threads": 1}) as opened:
        opened.execute((HERE / "schema.sql").read_text(encoding="utf-8"))
        yield opened


@pytest.fixture(scope="module")
def databases(connection, tmp_path_factory) -> Iterator[dict[str, hr.Database]]:
    """One database for each dialect, all of the same rows and the same ledger."""
    ledger = tmp_path_factory.mktemp("bi") / "wellness.ledger"
    opened = {d: hr.connect(connection, catalog=HERE / "catalog.yaml", ledger=ledger, dialect=d) for d in DIALECTS}
    yield opened
    for database in opened.values():
        database.close()


@pytest.fixture(scope="module")
def plainly(connection):
    """The columns and rows of plain DuckDB."""
    cursor = connection.cursor()
    cursor.execute(CLIP)

    def run(tree):
        result = cursor.execute(tree.sql("duckdb"))
        return [column[0] for column in result.description], result.fetchall()

    return run


def in_order(answer: hr.Answer, tree: exp.Expression) -> bool:
    """True if the rows stand as the first term of ORDER BY says, where it names a column of the answer."""
    order = tree.args.get("order")
    term = order.expressions[0] if order else None
    names = [name.casefold() for name in answer.columns]
    if term is None or not isinstance(term.this, exp.Column) or term.this.name.casefold() not in names:
        return True
    values = [row[names.index(term.this.name.casefold())] for row in answer]
    known = [value for value in values if value is not None]
    return known == sorted(known, reverse=bool(term.args.get("desc")))


def test_the_corpus_is_large_and_of_every_dialect_and_has_no_entry_twice():
    assert len(CORPUS) >= 80
    assert len({(e.dialect, e.query) for e in CORPUS}) == len(CORPUS)
    assert min(Counter(entry.dialect for entry in CORPUS)[dialect] for dialect in DIALECTS) >= 6


def test_most_of_the_corpus_is_answered_and_not_all():
    assert 0.8 <= len(ANSWERED) / len(CORPUS) <= 0.95


@pytest.mark.parametrize("entry", ANSWERED, ids=str)
def test_an_answered_query_gives_the_numbers_of_plain_sql(databases, plainly, beside, nearly_exact, entry):
    names, rows = plainly(entry.tree())
    answer = databases[entry.dialect].sql(entry.query, **nearly_exact, **entry.options)
    compared = beside(answer, names, rows)
    assert rows
    compared.check()
    assert in_order(answer, entry.tree())
    assert not compared.noisy or compared.sharpness() < SHARP


IN_DUCKDB = [entry for entry in ANSWERED if entry.dialect == "duckdb"]


@pytest.mark.parametrize("entry", IN_DUCKDB, ids=str)
def test_an_unrelated_window_column_changes_no_other_error_bar(databases, entry):
    options = {"epsilon": 1.0, "mechanism": "laplace", **entry.options}
    alone = databases["duckdb"].sql(entry.query, **options)
    query = f"SELECT whole.*, COUNT(*) OVER () AS unrelated FROM ({entry.query}) AS whole"
    beside = databases["duckdb"].sql(query, **options)
    assert beside.receipt.reused, "both must tell of the same noise"
    bars = {tuple(map(str, row[:-1])): by_name for row, by_name in zip(beside, beside.intervals, strict=True)}
    for row, by_name in zip(alone, alone.intervals, strict=True):
        for name, bar in by_name.items():
            other = bars[tuple(map(str, row))][name]
            assert (bar.kind, bar.reason) == (other.kind, other.reason)
            if bar.reason != "simulated":
                assert (bar.lower, bar.upper) == pytest.approx((other.lower, other.upper), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("spoil", [lambda rows: rows[1:], lambda rows: [(rows[0][0], rows[0][1] + 1), *rows[1:]]])
def test_a_missing_key_and_a_wrong_number_would_be_noticed(databases, beside, nearly_exact, plainly, spoil):
    query = "SELECT region, COUNT(*) AS n FROM members GROUP BY region"
    answer = databases["duckdb"].sql(query, **nearly_exact)
    names, rows = plainly(sqlglot.parse_one(query, read="duckdb"))
    beside(answer, names, rows).check()
    with pytest.raises(AssertionError):
        beside(answer, names, spoil(rows)).check()


@pytest.mark.parametrize("entry", REFUSED, ids=str)
def test_a_refused_query_has_its_code_and_a_place_or_a_hint_and_costs_nothing(databases, entry):
    database = databases[entry.dialect]
    before = database.budget.queries
    with pytest.raises(HedgerowError) as caught:
        database.sql(entry.query, **entry.options)
    assert caught.value.code == entry.outcome, str(caught.value)
    assert caught.value.hint or caught.value.span
    assert database.budget.queries == before
