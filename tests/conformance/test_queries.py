"""Every query of the corpus gives, before the noise, the same keys and the same integers on every engine."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import partial

import pyarrow as pa
import pytest

from hedgerow.accounting.budget import Budget, RemainingBudget
from hedgerow.catalog import load_catalog
from hedgerow.compile import program
from hedgerow.compiled import KEY_INDEX, SELECTED
from hedgerow.errors import BackendError, QueryError, UnsupportedSQLError
from hedgerow.execution.run import nothing_of, require_readable
from hedgerow.plan.bind import bind
from hedgerow.privacy.keys import KeyRule
from hedgerow.privacy.price import price
from hedgerow.sql.parse import parse

from ..corpora.bi.test_bi import read
from .questions import CLAUSES, QUESTIONS
from .tables import SHOP

NONCE = "00112233445566778899aabbccddeeff"
REMAINING = RemainingBudget(
    gaussian_left=Fraction(10**6), pure_left=Fraction(10**6), fair_mass=lambda _: Fraction(1, 10**6)
)
CATALOG = load_catalog(SHOP / "catalog.yaml")
CORPUS = [entry for entry in read((SHOP / "queries.txt").read_text(encoding="utf-8")) if entry.outcome == "answered"]


def planned(schema, text, dialect="duckdb", params=None, *, mechanism="gaussian", method="auto", catalog=CATALOG):
    """The priced releases of a query; none where it asks for more than a plan (options, public rows alone)."""
    logical = bind(parse(text, dialect).query, catalog, schema, params=params)
    if not logical.releases:
        return []
    budget = Budget(1.0, 1e-8, mechanism)
    return [
        replace(part, minimum=1) for part in price(logical, budget, REMAINING, min_frequency=1, method=method).parts
    ]


def measured(backend, part):
    """All integers of one release, by key; of places, those of every second key that there is."""
    steps = program(part, backend.dialect, NONCE)
    actual = {}
    with backend.snapshot() as snapshot:
        for name, table in steps.declared:
            snapshot.load(name, table)
        first_pass = snapshot.run(steps.first_pass)
        keys = first_pass.exact_keys()
        actual["first_pass"] = _rows(first_pass, _cells(keys))
        if steps.measure is None and not steps.buckets and not steps.distinct:
            return actual
        if part.release.keys:
            chosen = _chosen(keys)
            snapshot.load(SELECTED, chosen)
        for name, some in (("measure", [steps.measure] if steps.measure else []), ("buckets", steps.buckets)):
            for i, query in enumerate(some):
                actual[f"{name}{i}"] = _rows(snapshot.run(query), None)
        for i, query in enumerate(steps.distinct):
            actual[f"distinct{i}"] = _labels(snapshot.run(query))
    return actual


def _cells(keys):
    columns = [[_plain(value) for value in column.to_pylist()] for column in keys.columns]
    return list(zip(*columns, strict=True)) if columns else None


def _plain(value):
    if isinstance(value, bool):
        return int(value)
    return "NaN" if isinstance(value, float) and value != value else value  # noqa: PLR0124 - NaN


def _rows(table, keys):
    numbers = [table.exact_integers(name).tolist() for name in table.names]
    rows = list(zip(*numbers, strict=True)) if numbers else [()] * len(table)
    return Counter(zip(keys, rows, strict=True) if keys is not None else rows)


def _labels(table):
    """Counts of different values; pairs of person and value by how often each occurs, whatever its number."""
    rows = list(zip(*(table.exact_integers(name).tolist() for name in table.names), strict=True))
    if len(table.names) == 2:
        return Counter(rows)
    owners, values = Counter((place, o) for place, o, _ in rows), Counter((place, v) for place, _, v in rows)
    return Counter((place, owners[place, o], values[place, v]) for place, o, v in rows)


def _chosen(keys):
    """Every second key, in an order that all engines share, with its place."""
    order = sorted(range(keys.num_rows), key=lambda i: repr([_plain(column[i].as_py()) for column in keys.columns]))
    kept = keys.take(pa.array(order[::2], type=pa.int64()))
    return kept.append_column(KEY_INDEX, pa.array(range(kept.num_rows), type=pa.int64()))


def agree(engine, text, **options):
    """Compare; or see that the engine refuses before anything is run."""
    theirs, ours = planned(engine.schema, text, **options), planned(engine.duckdb_schema, text, **options)
    for other, one in zip(theirs, ours, strict=True):
        try:
            actual = measured(engine.engine, other)
        except UnsupportedSQLError as refusal:
            assert refusal.code == "engine-lacks"  # noqa: PT017 - listed in docs/reference/engines.md
            return False
        assert actual == engine.expected(one, partial(measured, engine.duckdb, one))
        assert one.keys.rule is not KeyRule.SELECTED or actual["first_pass"], "nothing was compared"
    return True


@pytest.mark.parametrize("entry", CORPUS, ids=str)
def test_a_dashboard_is_the_same_everywhere(engine, entry):
    params = entry.options.get("params")
    try:
        planned(engine.duckdb_schema, entry.query, entry.dialect, params)
    except QueryError:
        return  # answered with options of its own, which are no matter of engines
    agree(engine, entry.query, dialect=entry.dialect, params=params)


@pytest.mark.parametrize("text", QUESTIONS)
def test_a_construct_is_the_same_everywhere(engine, text):
    agree(engine, text)


@pytest.mark.parametrize("text", CLAUSES)
def test_a_construct_is_the_same_everywhere_under_the_other_cap(engine, text):
    agree(engine, text, mechanism="laplace")


@pytest.mark.parametrize("method", ["flow", "simple"])
def test_different_values_are_the_same_everywhere(engine, method):
    assert agree(engine, "SELECT status, COUNT(DISTINCT channel) AS n FROM orders GROUP BY status", method=method)
    assert agree(engine, "SELECT COUNT(DISTINCT amount) AS n FROM orders", method=method)


def test_the_plainest_questions_are_answered_by_every_engine(engine):
    for text in ("SELECT COUNT(*) FROM members", "SELECT status, SUM(amount) FROM orders GROUP BY status"):
        assert agree(engine, text)


def test_tables_are_looked_at_without_a_row_being_read(engine):
    """Before a charge: tables that are there pass on every engine; one without a column that was bound does not."""
    backend = engine.engine
    with backend.snapshot() as snapshot:
        declared = [snapshot.table(name) for name in backend.schema().tables]
        require_readable(snapshot, backend, declared, set())
    first = next(iter(declared[0].columns.values()))
    lost = replace(declared[0], columns={**declared[0].columns, "gone": replace(first, name="gone")})
    with pytest.raises(BackendError), backend.snapshot() as snapshot:
        require_readable(snapshot, backend, [lost], set())
    with pytest.raises(BackendError), backend.snapshot() as snapshot:
        snapshot.run(nothing_of(lost, backend.dialect))
