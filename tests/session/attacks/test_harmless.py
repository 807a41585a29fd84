"""Every hostile query that is answered: one person moves what is measured by no more than was charged for.

The proof of harmlessness is not the answer, which is noise, but the integers before the noise, read by the statements
that would run, from the shop with everybody and from the shop without one person.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

from hedgerow.compile import program
from hedgerow.compiled import KEY_INDEX, SELECTED, UNITS
from hedgerow.dialects import DUCKDB
from hedgerow.release.draw import _to_grid

from ...internals import session_of

pytestmark = pytest.mark.hostile

NONCE = "00112233445566778899aabbccddeeff"
PUBLIC = {"countries", "cities", "bridge", "labels", "numbers"}


@dataclass(frozen=True)
class Measured:
    """A release before the noise, by key: its people; its coordinates, exact and on the noise's lattice."""

    units: dict
    exact: dict
    released: dict


@pytest.fixture(scope="module")
def first_rows(shops, understood):
    """Return the number of people of each key of an entry's release, in one shop or another; each is read once."""

    @cache
    def first_pass(entry, index, without=None):
        return people(shops(without, entry.dialect), understood(entry)[1].parts[index])

    return first_pass


def people(shop, plan):
    """Return the number of people of each key, however few (where that is tested), and the first pass."""
    with session_of(shop).backend.snapshot() as snapshot:
        first_pass = snapshot.run(program(replace(plan, minimum=1), DUCKDB, NONCE).first_pass)
    units = first_pass.exact_integers(UNITS).tolist() if UNITS in first_pass.names else [0] * len(first_pass)
    return dict(zip(keys_of(first_pass), units, strict=True)), first_pass


def measure(shop, plan, first_rows, selected):
    """The coordinates over the `selected` keys, as the plan's own statements have them."""
    units, first_pass = first_rows
    steps = program(replace(plan, minimum=1), DUCKDB, NONCE)
    if steps.measure is None:
        return Measured(units, *vectors(first_pass, list(units), plan))
    with session_of(shop).backend.snapshot() as snapshot:
        snapshot.load(SELECTED, as_table(selected, first_pass))
        actual = snapshot.run(steps.measure)
    return Measured(units, *vectors(actual, [selected[i] for i in actual.exact_integers(KEY_INDEX).tolist()], plan))


def keys_of(table):
    columns = [[one_nan(value) for value in column.to_pylist()] for column in table.exact_keys().columns]
    return list(zip(*columns, strict=True)) if columns else [()] * len(table)


def one_nan(value):
    return math.nan if isinstance(value, float) and math.isnan(value) else value


def as_table(places, first_pass):
    schema = first_pass.exact_keys().schema
    columns = [pa.array([key[i] for key in places], type=column.type) for i, column in enumerate(schema)]
    return pa.table([*columns, pa.array(range(len(places)), type=pa.int64())], names=[*schema.names, KEY_INDEX])


def lattice(coordinate, plan):
    """Return the number of steps of the noise's lattice that make one unit of the coordinate."""
    return Fraction(coordinate.denominator << plan.weight_bits) * Fraction(2) ** coordinate.shift


def vectors(table, keys, plan):
    sums = [table.exact_integers(f"s{i}") for i in range(len(plan.sums))]
    exact, released = [], []
    for coordinate in plan.noisy_sums:
        total = sum((sums[i] * factor for i, factor in coordinate.combination), np.zeros(len(table), dtype=object))
        exact.append([Fraction(int(value), coordinate.denominator << plan.weight_bits) for value in total])
        released.append([int(value) / lattice(coordinate, plan) for value in _to_grid(total, coordinate.shift)])
    return [dict(zip(keys, zip(*rows, strict=True), strict=True)) if rows else {} for rows in (exact, released)]


def moved(one, other, width):
    """The differences by key, where there are any."""
    nothing = (Fraction(0),) * width
    pairs = {key: (one.get(key, nothing), other.get(key, nothing)) for key in one.keys() | other.keys()}
    return [tuple(a - b for a, b in zip(left, right, strict=True)) for left, right in pairs.values() if left != right]


def assert_within_what_is_charged(plan, one, other):
    power = 2 if plan.mechanism == "gaussian" else 1
    people = {key: one.units.get(key, 0) - other.units.get(key, 0) for key in one.units.keys() | other.units.keys()}
    moves = [abs(move) for move in people.values() if move]
    assert all(move == 1 for move in moves)
    assert len(moves) <= (plan.bounding.groups if plan.release.keys else 1)
    limit = plan.bounding.l2_squared if power == 2 else plan.bounding.l1
    exact = moved(one.exact, other.exact, len(plan.noisy_sums))
    spent = Fraction(0)
    for index, coordinate in enumerate(plan.noisy_sums):
        assert sum(abs(row[index]) ** power for row in exact) <= limit
        size = sum(abs(row[index]) ** power for row in moved(one.released, other.released, len(plan.noisy_sums)))
        spent += size / (Fraction(coordinate.scale) / lattice(coordinate, plan)) ** power
    if plan.selection is not None:
        spent += len(moves) / (Fraction(plan.selection.scale) / (1 << plan.selection.shift)) ** power
    cost = plan.charge.cost
    assert spent <= (cost.gaussian if power == 2 else cost.pure)


def test_a_harmless_query_reads_public_tables_or_is_charged(shops, understood, harmless):
    logical, priced = understood(harmless)
    if priced is None:
        texts = shops(dialect=harmless.dialect).quote(harmless.query, **harmless.options).sql
        trees = [sqlglot.parse_one(text, dialect="duckdb") for text in texts]
        assert {table.name for tree in trees for table in tree.find_all(exp.Table)} <= PUBLIC
    else:
        cost = priced.charge.cost
        assert cost.gaussian + cost.pure > 0
        assert len(priced.parts) == len(logical.releases)


def test_nobody_moves_a_harmless_query_by_more_than_is_charged(shops, understood, first_rows, harmless, removed):
    _, priced = understood(harmless)
    for index, plan in enumerate(priced.parts if priced is not None else ()):
        surveys = {person: first_rows(harmless, index, person) for person in (None, *removed)}
        keys = list(dict.fromkeys(key for units, _ in surveys.values() for key in units))
        whole, *others = [measure(shops(p, harmless.dialect), plan, surveys[p], keys) for p in surveys]
        for other in others:
            assert_within_what_is_charged(plan, whole, other)


def test_the_order_of_rows_moves_nothing(shops, understood, first_rows, harmless, turned_round):
    """Each person's own rows decide which are first, last or equal: else one person would move another's."""
    _, priced = understood(harmless)
    for index, plan in enumerate(priced.parts if priced is not None else ()):
        keys = list(first_rows(harmless, index)[0])
        one, other = [
            measure(shops(order, harmless.dialect), plan, first_rows(harmless, index, order), keys)
            for order in (None, turned_round)
        ]
        assert one == other


def test_the_rows_that_are_turned_round_do_lie_otherwise(shops, turned_round):
    first = "SELECT id FROM orders LIMIT 1"
    assert session_of(shops()).backend._cursor().execute(first).fetchall() != (
        session_of(shops(turned_round)).backend._cursor().execute(first).fetchall()
    )


def test_the_answer_to_a_harmless_query_shows_nobody(shops, understood, harmless, canaries, removed, caplog, capfd):
    caplog.set_level(0)
    assert understood(harmless, removed[0]) == understood(harmless)
    answer = shops(dialect=harmless.dialect).sql(harmless.query, **harmless.options)
    texts = [str(answer), repr(answer), str(answer.to_dict()), str(answer.receipt), answer._repr_html_()]
    shown = "\n".join([*texts, str(list(answer)), caplog.text, *capfd.readouterr()])
    assert not [canary for canary in canaries if canary in shown]


def test_a_plan_without_its_weights_would_not_be_harmless(shops, understood, corpus):
    """The proof above can fail: person 7 has sixty orders, of which ten are paid for."""
    query = "SELECT COUNT(*) AS n FROM orders AS o CROSS JOIN numbers AS x"
    (entry,) = [entry for entry in corpus if entry.query == query]
    (plan,) = understood(entry)[1].parts
    unweighted = replace(plan, bounding=replace(plan.bounding, weighted=False))
    one, other = [measure(shop, unweighted, people(shop, unweighted), [()]) for shop in (shops(), shops(7))]
    with pytest.raises(AssertionError):
        assert_within_what_is_charged(unweighted, one, other)
