"""Nothing is released on a receipt for something else."""

from dataclasses import replace

import numpy as np
import pytest

from hedgerow.errors import BudgetError, InternalError
from hedgerow.execution.request import asked
from hedgerow.execution.run import compile_steps, release, survey
from hedgerow.plan.bind import bind
from hedgerow.release import measure, select_keys
from hedgerow.sql.parse import parse

pytestmark = pytest.mark.mutation

QUERY = "SELECT g, SUM(x) AS s FROM t GROUP BY g"


@pytest.fixture
def desk(build):
    db = build(
        [
            "CREATE TABLE t (u BIGINT, g INTEGER, x DOUBLE)",
            "INSERT INTO t SELECT i % 50, i % 7, i % 3 FROM range(700) r(i)",
        ],
        "t: {unit: u, max_rows: 20, max_groups: 1, columns: {x: {lower: 0, upper: 2}}}",
        min_frequency=2,
    )
    return db._desk


def priced(desk, text, **options):
    logical = bind(parse(text).query, desk.catalog, desk.schema)
    request = asked(desk.catalog, **options)
    return logical, desk.price(logical, request, desk.room())


def paid(desk, statement):
    return desk.ledger.charge(statement.charge, analyst=None, question={"text": "paid"})


def released(desk, steps, statement, receipt):
    with desk.backend.snapshot() as snapshot:
        return release(survey(steps, statement, receipt, snapshot), steps, statement, receipt, snapshot)


def test_a_receipt_for_a_cheaper_statement_releases_nothing(desk):
    _, statement = priced(desk, QUERY, epsilon=2.0, mechanism="gaussian")
    _, cheaper = priced(desk, QUERY, epsilon=0.1, mechanism="gaussian")
    steps = compile_steps(statement, desk.backend)
    with pytest.raises(InternalError, match="without a receipt for it"):
        released(desk, steps, statement, paid(desk, cheaper))
    assert released(desk, steps, statement, paid(desk, statement))


def test_a_receipt_for_more_than_the_statement_releases_nothing(desk):
    """It is the receipt of another statement, which has its own answer."""
    _, statement = priced(desk, QUERY, epsilon=2.0, mechanism="gaussian")
    steps = compile_steps(statement, desk.backend)
    good = paid(desk, statement)
    larger = replace(good, charge=replace(good.charge, events=good.charge.events * 2))
    with pytest.raises(InternalError, match="without a receipt for it"):
        released(desk, steps, statement, larger)


def test_each_room_asks_for_the_receipt_itself(desk):
    _, statement = priced(desk, QUERY, epsilon=2.0, mechanism="gaussian")
    (plan,) = statement.parts
    (steps,) = compile_steps(statement, desk.backend)
    _, cheaper = priced(desk, QUERY, epsilon=0.1, mechanism="gaussian")
    good, wrong = paid(desk, statement), paid(desk, cheaper)
    with desk.backend.snapshot() as snapshot:
        exact = snapshot.run(steps.survey)
    selected = select_keys(exact, plan, good)
    for bad in (wrong, None, replace(good, charge=replace(good.charge, events=good.charge.events[1:]))):
        with pytest.raises(InternalError, match="without a receipt for it"):
            select_keys(exact, plan, bad)
        with pytest.raises(InternalError, match="without a receipt for it"):
            measure(exact, selected, plan, bad)


def test_whoever_kept_no_room_for_laplace_noise_is_told_so_before_the_ledger_is_asked(build, ask):
    db = build(
        "CREATE TABLE t (u BIGINT PRIMARY KEY)",
        "t: {unit: u, unit_unique: true}",
        budget="{epsilon: 1, delta: 1e-6}",
    )
    with pytest.raises(BudgetError, match="There is no room for Laplace noise"):
        ask(db, "SELECT COUNT(*) FROM t", mechanism="laplace", epsilon=0.1)


def test_an_owner_of_many_keys_chooses_anew_in_every_statement(desk):
    _, statement = priced(desk, QUERY, epsilon=2.0, mechanism="gaussian")
    first, second = (compile_steps(statement, desk.backend)[0].survey.sql for _ in range(2))
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
    desk = db._desk
    _, statement = priced(desk, QUERY, epsilon=5.0, mechanism="gaussian")
    steps = compile_steps(statement, desk.backend)
    (noisy,) = released(desk, steps, statement, paid(desk, statement))
    assert noisy.shown.tolist() == [False, False, True]
    for coordinate in noisy.coordinates:
        assert np.isnan(coordinate).tolist() == [True, True, False]
