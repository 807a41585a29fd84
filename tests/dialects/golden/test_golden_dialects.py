"""One question, many engines: what each of them is told, written down.

`questions.sql` holds the questions, and `<engine>.sql` what they become in each dialect of the registry, in the form of
`tests/compile/golden`. Where a dialect lacks something, its refusal stands there. Selected keys are shown once, as they
are written into a statement on engines that have no place for them. Set HEDGEROW_REWRITE_GOLDEN=1 to
write the files anew, and read the difference before you keep it.
"""

import difflib
import os
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
import sqlglot

import hedgerow as hr
from hedgerow.backends.duckdb import DuckDB
from hedgerow.backends.results import with_rows
from hedgerow.catalog import load_catalog
from hedgerow.compiled import KEY_INDEX, SELECTED, Query
from hedgerow.dialects import DIALECTS
from hedgerow.dialects.statement import StatementParts, Step
from hedgerow.errors import UnsupportedSQLError
from hedgerow.schema import Schema

from ...compile.golden.test_golden import REWRITE, USUAL, Case, folded, read

HERE = Path(__file__).parent
OURS = ("bigquery", "mssql", "mysql", "snowflake", "trino")
PARSERS = {"mssql": "tsql"}
CASES = read((HERE / "questions.sql").read_text(encoding="utf-8"))
KEYS = pa.table(
    {
        "k0": ["it's \\ é", None],
        "k1": pa.array([Decimal("1.50"), None], pa.decimal128(38, 2)),
        "k2": [0.1, -2.5],
        "k3": pa.array([True, None], pa.bool_()),
        KEY_INDEX: [0, 1],
    }
)


@pytest.fixture(scope="module")
def quoted(tmp_path_factory):
    """Statements for a database that spoke the dialect."""
    catalog = load_catalog(HERE / "catalog.yaml")
    with duckdb.connect(":memory:") as connection:
        connection.execute((HERE / "schema.sql").read_text(encoding="utf-8"))

        def compiled(name, case):
            backend = Collated(connection, handed_in=True)
            known = backend.schema()  # by the names that DuckDB has, before another dialect is spoken
            backend.schema = lambda: known
            backend.dialect = DIALECTS[name]()
            ledger = tmp_path_factory.mktemp(name) / "shop.ledger"
            with hr.connect(backend, catalog=catalog, ledger=ledger) as database:
                return _statements(database, case)

        yield compiled


class Collated(DuckDB):
    """Text may be compared in any way, as on most servers."""

    def schema(self):
        tables = super().schema().tables
        return Schema({name: replace(table, columns=_collated(table)) for name, table in tables.items()})


def _collated(table):
    return {name: replace(column, collated=True) for name, column in table.columns.items()}


def _statements(database, case):
    try:
        statements = database.explain(case.query, **{**USUAL, **case.options}).statements
    except UnsupportedSQLError as refusal:
        assert refusal.code == "engine-lacks"  # noqa: PT017 - any other refusal is a fault
        return {"refused": str(refusal).partition(" See ")[0]}
    return {statement.step: folded(statement.sql) for statement in statements if statement.step != "postprocess"}


def _given(name):
    """The keys as part of a statement."""
    dialect = DIALECTS[name]()
    statement = StatementParts((Step("kept", f"SELECT * FROM {SELECTED}"),), "SELECT * FROM kept")
    query = Query(dialect.statement_text(statement), (), (), statement=statement)
    sql = with_rows(query, {SELECTED: KEYS}, dialect)
    return Case("keys that were selected, as part of a statement", {}, "-- hedgerow_selected", {"measure": sql})


def _written(case):
    """A case as text; a refusal is a comment."""
    refusal = case.statements.get("refused")
    shown = replace(case, statements={}) if refusal else case
    return shown.text() + (f"-- refused: {refusal}\n" if refusal else "")


def built(name, quoted):
    cases = [replace(case, statements=quoted(name, case)) for case in CASES]
    return "\n".join(_written(case) for case in [*cases, _given(name)])


ENGINES = sorted(DIALECTS.keys() - {"duckdb"})
"""DuckDB's own spelling is in `tests/compile/golden`."""


@pytest.mark.parametrize("name", ENGINES)
def test_each_question_becomes_the_sql_that_is_written_down(quoted, name):
    path = HERE / f"{name}.sql"
    actual = built(name, quoted)
    if os.environ.get(REWRITE):
        path.write_text(actual, encoding="utf-8")
        pytest.skip(f"{path.name} was written anew")
    written = path.read_text(encoding="utf-8")
    difference = difflib.unified_diff(
        written.splitlines(), actual.splitlines(), f"{name} (written down)", f"{name} (now)", lineterm="", n=4
    )
    assert actual == written, "\n" + "\n".join(difference) + f"\n\nIf this is meant, run with {REWRITE}=1."


def statements(name):
    """The statements that are written down for an engine."""
    for case in read((HERE / f"{name}.sql").read_text(encoding="utf-8")):
        yield from case.statements.values()


@pytest.mark.parametrize("name", OURS)
def test_a_parser_of_the_dialect_reads_each_statement_and_what_it_writes_of_it(name):
    """The meaning of a statement is tested in `tests/dialects`."""
    parser, count = PARSERS.get(name, name), 0
    for text in statements(name):
        [tree] = sqlglot.parse(text, read=parser)
        assert isinstance(tree, sqlglot.exp.Query)
        written = tree.sql(parser)
        [again] = sqlglot.parse(written, read=parser)
        assert again.sql(parser) == written
        count += 1
    assert count >= len(CASES)


@pytest.mark.parametrize("name", OURS)
def test_our_own_names_are_no_reserved_words(name):
    used = {
        word.name.lower()
        for text in statements(name)
        for tree in sqlglot.parse(text, read=PARSERS.get(name, name))
        for word in tree.find_all(sqlglot.exp.Identifier)
        if not word.args.get("quoted")
    }
    assert len(used) > 40
    assert used & RESERVED[name] == set()


@pytest.mark.parametrize("name", ENGINES)
def test_few_questions_are_refused(name):
    text = (HERE / f"{name}.sql").read_text(encoding="utf-8")
    assert text.count("-- refused") <= 1


RESERVED = {name: set((HERE / "reserved" / f"{name}.txt").read_text(encoding="utf-8").lower().split()) for name in OURS}
"""Words that cannot be names, from the manuals of the engines."""
