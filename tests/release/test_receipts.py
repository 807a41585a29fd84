"""Nothing is released on a receipt for something else."""

from dataclasses import replace

import numpy as np
import pytest

from hedgerow.errors import BudgetError, InternalError
from hedgerow.execution.request import resolve_request
from hedgerow.execution.run import compile_steps, first_pass, release
from hedgerow.plan.bind import bind
from hedgerow.release import measure, select_keys
from hedgerow.sql.parse import parse

from ..internals import session_of

pytestmark = pytest.mark.mutation

QUERY = "SELECT g, SUM(x) AS s FROM t GROUP BY g"


@pytest.fixture
def session(build):
    db = build(
        [
            "CREATE TABLE t (u BIGINT, g INTEGER, x DOUBLE)",
            "INSERT INTO t SELECT i % 50, i % 7, i % 3 FROM range(700) r(i)",
        ],
        "t: {unit: u, max_rows: 20, max_groups: 1, columns: {x: {lower: 0, upper: 2}}}",
        min_frequency=2,
    )
    return session_of(db)


def priced(session, text, **options):
    logical = bind(parse(text).query, session.catalog, session.schema)
    request = resolve_request(session.catalog, **options)
    return logical, session.price(logical, request, session.remaining())


def paid(session, statement):
    return session.ledger.charge(statement.charge, analyst=None, question={"text": "paid"})


def released(session, steps, statement, receipt):
    with session.backend.snapshot() as snapshot:
        return release(first_pass(steps, statement, receipt, snapshot), steps, statement, receipt, snapshot)


def test_a_receipt_for_a_cheaper_statement_releases_nothing(session):
    _, statement = priced(session, QUERY, epsilon=2.0, mechanism="gaussian")
    _, cheaper = priced(session, QUERY, epsilon=0.1, mechanism="gaussian")
    steps = compile_steps(statement, session.backend)
    with pytest.raises(InternalError, match="without a receipt for it"):
        released(session, steps, statement, paid(session, cheaper))
    assert released(session, steps, statement, paid(session, statement))


def test_a_receipt_for_more_than_the_statement_releases_nothing(session):
    """It is the receipt of another statement, which has its own answer."""
    _, statement = priced(session, QUERY, epsilon=2.0, mechanism="gaussian")
    steps = compile_steps(statement, session.backend)
    good = paid(session, statement)
    larger = replace(good, charge=replace(good.charge, events=good.charge.events * 2))
    with pytest.raises(InternalError, match="without a receipt for it"):
        released(session, steps, statement, larger)


def test_each_room_asks_for_the_receipt_itself(session):
    _, statement = priced(session, QUERY, epsilon=2.0, mechanism="gaussian")
    (plan,) = statement.parts
    (steps,) = compile_steps(statement, session.backend)
    _, cheaper = priced(session, QUERY, epsilon=0.1, mechanism="gaussian")
    good, wrong = paid(session, statement), paid(session, cheaper)
    with session.backend.snapshot() as snapshot:
        exact = snapshot.run(steps.first_pass)
    selected = select_keys(exact, plan, good)
    for bad in (wrong, None, replace(good, charge=replace(good.charge, events=good.charge.events[1:]))):
        with pytest.raises(InternalError, match="without a receipt for it"):
            select_keys(exact, plan, bad)
        with pytest.raises(InternalError, match="without a receipt for it"):
            measure(exact, selected, plan, bad)


def test_who_has_no_room_for_laplace_noise_in_either_sum_is_told_so_before_the_ledger_is_asked(build, ask):
    db = build(
        "CREATE TABLE t (u BIGINT PRIMARY KEY)",
        "t: {unit: u, unit_unique: true}",
        budget="{epsilon: 1, delta: 1e-6}",
    )
    with pytest.raises(BudgetError, match="Laplace noise is charged to pure_epsilon"):
        ask(db, "SELECT COUNT(*) FROM t", mechanism="laplace", epsilon=0.9)


def test_an_owner_of_many_keys_chooses_anew_in_every_statement(session):
    _, statement = priced(session, QUERY, epsilon=2.0, mechanism="gaussian")
    first, second = (compile_steps(statement, session.backend)[0].first_pass.sql for _ in range(2))
    assert first != second
    assert len(first) == len(second)


def test_what_is_held_back_is_not_even_measured(build):
    """So that no number about it is kept with the release."""
    db = build(
        [
            "CREATE TABLE t (u BIGINT PRIMARY KEY, g INTEGER, x DOUBLE)",
            "INSERT INTO t SELECT i, least(i // 3, 2), 1.0 FROM range(500) r(i)",
        ],
        "t: {unit: u, unit_unique: true, columns: {g: {values: [0, 1, 2]}, x: {lower: 0, upper: 2}}}",
        min_frequency=5,
    )
    session = session_of(db)
    _, statement = priced(session, QUERY, epsilon=5.0, mechanism="gaussian")
    steps = compile_steps(statement, session.backend)
    (noisy,) = released(session, steps, statement, paid(session, statement))
    assert noisy.shown.tolist() == [False, False, True]
    for coordinate in noisy.noisy_sums:
        assert np.isnan(coordinate).tolist() == [True, True, False]
