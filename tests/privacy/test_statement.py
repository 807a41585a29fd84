"""Several releases in one statement: what they spend together stays within what the statement may spend."""

import math
from fractions import Fraction

import pytest

from hedgerow.accounting import gaussian_delta

from ..internals import price_of

PARTS = [
    "(SELECT COUNT(*) FROM people)",
    "(SELECT SUM(x) FROM people WHERE x > 1)",
    "(SELECT MAX(n) FROM (SELECT g, COUNT(*) AS n FROM people GROUP BY g) AS t)",
]


@pytest.fixture
def priced(build):
    db = build(
        "CREATE TABLE people (u INTEGER PRIMARY KEY, g VARCHAR, x DOUBLE)",
        "people: {unit: u, unit_unique: true, columns: {x: {lower: 0, upper: 9}}}",
        min_frequency=5,
    )

    def price(parts, **options):
        text = f"SELECT {', '.join(f'{part} AS v{i}' for i, part in enumerate(parts))}"
        return price_of(db, text, **options)[1]

    return price


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-8), (1.0, 1e-6), (20.0, 1e-4)])
def test_gaussian_parts_compose_to_the_stated_guarantee(priced, count, epsilon, delta):
    statement = priced(PARTS[:count], epsilon=epsilon, delta=delta, mechanism="gaussian")
    cost = statement.charge.cost
    assert len(statement.parts) == count
    assert cost.gaussian == sum(part.charge.cost.gaussian for part in statement.parts)
    if count > 1:
        spent = gaussian_delta(epsilon, math.sqrt(cost.gaussian)) + float(cost.mass)
        assert spent <= delta
        assert spent >= 0.5 * delta, "and little of it is left unused"


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 20.0])
def test_laplace_parts_add_up_to_the_stated_guarantee(priced, count, epsilon):
    charge = priced(PARTS[:count], epsilon=epsilon, delta=1e-6, mechanism="laplace").charge
    assert Fraction(epsilon) * Fraction(99, 100) <= charge.cost.pure <= Fraction(epsilon)
    assert charge.cost.mass <= Fraction(1, 10**6)


def test_the_charge_of_a_statement_is_all_events_of_its_parts(priced):
    statement = priced(PARTS, epsilon=1.0, delta=1e-6)
    assert statement.charge.events == tuple(e for part in statement.parts for e in part.charge.events)


def test_one_query_used_twice_is_one_release(priced):
    assert len(priced([PARTS[0], PARTS[0]], epsilon=1.0, delta=1e-6).parts) == 1
