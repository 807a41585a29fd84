"""Facts about rows change the time of a statement and never an integer, on every engine that keeps them."""

from dataclasses import replace

import pytest

from hedgerow.backends.facts import as_words
from hedgerow.compile import program
from hedgerow.compiled import SELECTED

from ..privacy.neighbours.forms import allowed_forms, integers
from .test_queries import CATALOG, NONCE, _chosen, planned

QUESTIONS = (
    "SELECT COUNT(*) AS n, SUM(amount) AS s FROM orders",
    "SELECT status, channel, AVG(amount) AS a, COUNT(DISTINCT member_id) AS n FROM orders GROUP BY status, channel",
    "SELECT coupon, SUM(amount) AS s FROM orders WHERE amount > 50 GROUP BY coupon",
    "SELECT ordered_at, COUNT(*) AS n FROM orders GROUP BY ordered_at",
    "SELECT discount, VAR_POP(amount) AS v FROM orders GROUP BY discount",
    "SELECT m.region, SUM(o.amount) AS s FROM orders o JOIN members m ON o.member_id = m.member_id GROUP BY 1",
)
ONLY = ("clickhouse", "postgres", "spark", "sqlite")
"""Engines that keep facts, besides DuckDB."""

OTHERS = (3, 8, 21)
"""Owners who are treated as if they were beyond a limit."""


def limited(rows):
    """The catalog in which a person has at most so many orders."""
    orders = replace(CATALOG.tables["orders"], max_rows=rows, max_rows_per_group=None, max_groups=None)
    return replace(CATALOG, tables={**CATALOG.tables, "orders": orders})


@pytest.mark.parametrize("text", QUESTIONS)
@pytest.mark.parametrize("rows", [2, 1000])
def test_every_form_of_a_statement_has_the_same_integers(engine, text, rows):
    """With limits that some people exceed, and with limits that nobody reaches."""
    [part] = planned(engine.schema, text, catalog=limited(rows))
    used = equal_forms(engine.engine, part)
    assert "apart" in used
    assert ("within" in used) is (rows == 1000)


def equal_forms(backend, part):
    """Run every form of both passes; return the names of the forms."""
    steps, used, first = program(part, backend.dialect, NONCE, shortcuts=True), set(), None
    with backend.snapshot() as snapshot:
        for name, table in steps.declared:
            snapshot.load(name, table)
        for query in (steps.first_pass, steps.measure):
            if query is None:
                continue
            if first is not None:
                snapshot.load(SELECTED, _chosen(first.exact_keys()))
            forms = allowed_forms(query, lambda fact: as_words(snapshot.read(fact), fact), snapshot.load, OTHERS)
            results = {name: snapshot.run(form) for name, form in forms.items()}
            first = first or results["ordinary"]
            for name, result in results.items():
                assert integers(result) == integers(results["ordinary"]), (name, forms[name].sql)
            used |= forms.keys()
    return used
