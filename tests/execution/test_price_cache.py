"""Prices and compiled statements that a connection keeps, and results of functions that are kept by plan."""

from dataclasses import replace

from hedgerow.execution.caches import PriceCache
from hedgerow.execution.request import resolve_request
from hedgerow.execution.run import PLACEHOLDER, compile_steps
from hedgerow.plan.bind import bind
from hedgerow.recently_used import once_per_plan
from hedgerow.sql.parse import parse

from ..internals import session_of

QUESTIONS = [
    "SELECT COUNT(*) AS n FROM people",
    "SELECT region, AVG(income) AS m FROM people GROUP BY region",
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
]


def _prices(db, text, **options):
    session = session_of(db)
    logical = bind(parse(text).query, session.catalog, session.schema)
    request = resolve_request(session.catalog, **options)
    return session, logical, request


def test_a_kept_price_is_the_price(town):
    for text in QUESTIONS:
        session, logical, request = _prices(town(), text, mechanism="gaussian", delta=1e-7)
        first = session.price(logical, request, session.remaining())
        assert session.price(logical, request, session.remaining()) is first
        assert replace(session, prices=PriceCache()).price(logical, request, session.remaining()) == first
        dearer = resolve_request(session.catalog, mechanism="gaussian", delta=1e-7, epsilon=2 * request.budget.epsilon)
        assert session.price(logical, dearer, session.remaining()) != first


def test_a_price_that_took_another_mass_from_the_ledger_is_computed_again(town):
    session, logical, request = _prices(town(), QUESTIONS[2], mechanism="gaussian", delta=1e-7)
    remaining = session.remaining()
    first = session.price(logical, request, remaining)
    tighter = replace(remaining, fair_mass=lambda cost: remaining.fair_mass(cost) / 1000)
    again = session.price(logical, request, tighter)
    assert again.parts[0].selection.threshold > first.parts[0].selection.threshold


def test_each_compiled_statement_has_a_nonce_of_its_own(town):
    session, logical, request = _prices(town(), QUESTIONS[2], min_frequency=10, mechanism="gaussian", delta=1e-7)
    private = session.price(logical, request, session.remaining())
    programs = [compile_steps(private, session.backend)[0] for _ in range(3)]
    assert len({steps.first_pass.sql for steps in programs}) == 3
    assert not any(PLACEHOLDER in repr(steps) for steps in programs)


def test_results_are_kept_by_the_identity_of_plans_and_by_the_value_of_options():
    calls = []

    @once_per_plan
    def length(items: tuple[object, ...], *, twice: bool = False) -> int:
        calls.append(items)
        return len(items) * (2 if twice else 1)

    item = object()
    assert [length((item,)), length((item,)), length((object(),)), length((item,), twice=True)] == [1, 1, 1, 2]
    assert len(calls) == 3
