"""Query in, SQL out: what reaches the database, written down.

Each `.sql` file here is a list of cases. A case is a comment that says what it shows, the query, and under
`-- first pass`, `-- measure`, `-- buckets`, `-- values`, `-- postprocess` or `-- public` the statements that it becomes
(`-- postprocess` is written down in postprocess.sql alone). Where a case says nothing else (`-- with`), noise is
Gaussian and the minimum frequency 10. Set HEDGEROW_REWRITE_GOLDEN=1 to write the files anew, and read the difference
before you keep it.
"""

import difflib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

import hedgerow as hr
from hedgerow.catalog import load_catalog
from hedgerow.compiled import SELECTED

HERE = Path(__file__).parent
FILES = sorted(path.name for path in HERE.glob("*.sql") if path.name != "schema.sql")
REWRITE = "HEDGEROW_REWRITE_GOLDEN"
WHOLE = {"INTEGER", "BIGINT", "HUGEINT"}
USUAL = {"mechanism": "gaussian", "min_frequency": 10}
STEP = r"(?<=\),) (?=\w+ AS (?:(?:NOT )?MATERIALIZED )?\()"
CLAUSES = rf"{STEP}|(?<!DISTINCT) FROM\b| (?:WHERE|GROUP BY|HAVING|LIMIT|LEFT JOIN)\b|(?<=\)) SELECT\b"


@dataclass(frozen=True)
class Case:
    """One query, with what its comment says and what it becomes."""

    title: str
    options: dict[str, object]
    query: str
    statements: dict[str, str]

    def text(self) -> str:
        head = [f"-- {self.title}"]
        head += [f"-- with {json.dumps(self.options)}"] if self.options else []
        tail = [f"-- {name}\n{sql};" for name, sql in self.statements.items()]
        return "\n".join([*head, f"{self.query};", *tail]) + "\n"


def read(text: str) -> list[Case]:
    """The cases of a file; they are set apart by an empty line."""
    return [_case(block) for block in text.strip().split("\n\n")]


def _case(block: str) -> Case:
    head, *tail = re.split(r"^-- (first pass|measure|buckets|values|postprocess|public)\n", block, flags=re.MULTILINE)
    title, *rest = head.strip().split("\n")
    options = json.loads(rest.pop(0).removeprefix("-- with ")) if rest[0].startswith("-- with ") else {}
    statements = {name: sql.strip().rstrip(";") for name, sql in zip(tail[::2], tail[1::2], strict=True)}
    return Case(title.removeprefix("-- "), options, "\n".join(rest).rstrip(";"), statements)


def folded(sql: str) -> str:
    """The same text with a line for each clause: blanks become line ends, nothing else changes."""
    return re.sub(CLAUSES, lambda actual: "\n" + actual[0][1:], sql)


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(":memory:") as built:
        built.execute((HERE / "schema.sql").read_text(encoding="utf-8"))
        yield built


@pytest.fixture(scope="module")
def compiled(connection, tmp_path_factory):
    catalog = load_catalog(HERE / "catalog.yaml")
    ledger = tmp_path_factory.mktemp("golden") / "shop.ledger"
    with hr.connect(connection, catalog=catalog, ledger=ledger) as database:
        yield lambda query, options: _compile(database, query, {**USUAL, **options})


def _compile(database: hr.Database, query: str, options: dict[str, object]) -> dict[str, str]:
    """The statements of an explanation: its nonce is fixed. Of several statements of one step, the first."""
    first: dict[str, str] = {}
    for statement in database.explain(query, **options).statements:
        first.setdefault(statement.step, folded(statement.sql))
    return first


@pytest.mark.parametrize("name", FILES)
def test_each_query_becomes_the_sql_that_is_written_down(compiled, name):
    written = (HERE / name).read_text(encoding="utf-8")
    cases = [_now(case, compiled, with_postprocess=name == "postprocess.sql") for case in read(written)]
    actual = "\n".join(case.text() for case in cases)
    if os.environ.get(REWRITE):
        (HERE / name).write_text(actual, encoding="utf-8")
        pytest.skip(f"{name} was written anew")
    difference = difflib.unified_diff(
        written.splitlines(), actual.splitlines(), f"{name} (written down)", f"{name} (now)", lineterm="", n=4
    )
    assert actual == written, "\n" + "\n".join(difference) + f"\n\nIf this is meant, run with {REWRITE}=1."


def _now(case: Case, compiled, *, with_postprocess: bool) -> Case:
    built = compiled(case.query, case.options)
    shown = {name: sql for name, sql in built.items() if with_postprocess or name != "postprocess"}
    return Case(case.title, case.options, case.query, shown)


@pytest.mark.parametrize("name", FILES)
def test_the_database_accepts_each_statement_that_is_written_down(connection, name):
    for case in read((HERE / name).read_text(encoding="utf-8")):
        first_rows = case.statements.get("first pass", case.statements.get("public"))
        rows = connection.sql(first_rows).to_arrow_table()
        further = [case.statements[name] for name in ("measure", "buckets", "values") if name in case.statements]
        if further:
            keys = [column for column in rows.column_names if re.fullmatch(r"k\d+", column)]
            listed = ", ".join([*keys, "0 AS hedgerow_place"])
            connection.register(SELECTED, connection.sql(f"SELECT {listed} FROM rows").to_arrow_table())
        for statement in further:
            actual = connection.sql(statement)
            assert {str(kind) for kind in actual.types} <= WHOLE, (case.title, actual.types)
            actual.fetchall()


@pytest.mark.parametrize("name", FILES)
def test_no_statement_returns_anything_but_keys_and_whole_numbers(connection, name):
    for case in read((HERE / name).read_text(encoding="utf-8")):
        if "first pass" not in case.statements:
            continue
        actual = connection.sql(case.statements["first pass"])
        kinds = {n: str(t) for n, t in zip(actual.columns, actual.types, strict=True) if not re.fullmatch(r"k\d+", n)}
        assert set(kinds.values()) <= WHOLE, (case.title, kinds)


def test_a_case_survives_reading_and_writing():
    text = (HERE / FILES[0]).read_text(encoding="utf-8")
    assert "\n".join(case.text() for case in read(text)) == text
