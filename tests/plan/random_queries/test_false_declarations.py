"""Declarations of the owner may be false: the charge holds all the same."""

from dataclasses import replace

import pytest

from hedgerow.catalog.model import Through

from .checks import within_the_charge
from .laboratory import Planned
from .queries import Question
from .worlds import Column, Table, World

PEOPLE = range(3)
OIDS, IIDS = (1, 1, 2, None), (7, 7, 8, None)
OPTIONS = {"epsilon": 1.0, "minimum": 1, "mask": 0b11111111}

UNIT = Column("uid", "int", role="unit")
ORDERS = Table("orders", (Column("oid", "int"), UNIT, Column("o_int", "int", bounded=True)), "uid", max_rows=3)
ITEMS = Table(
    "items",
    (Column("oid", "int"), Column("iid", "int"), Column("l_int", "int", bounded=True)),
    Through("orders", (("oid", "oid"),)),
    max_rows=3,
)
PARCELS = Table(
    "parcels", (Column("iid", "int"), Column("s_int", "int")), Through("items", (("iid", "iid"),)), max_rows=3
)
VISITS = Table("people", (UNIT, Column("p_int", "int", bounded=True)), "uid", unit_unique=True)
PLACES = Table("places", (Column("place", "int"), Column("size", "int", bounded=True)))

FALSE = World(
    {table.name: table for table in (VISITS, ORDERS, ITEMS, PARCELS, PLACES)},
    {
        "people": [(uid, 3) for uid in (*PEOPLE, *PEOPLE, None)],
        "orders": [(oid, uid, 2) for uid in PEOPLE for oid in OIDS],
        "items": [(oid, iid, 5) for oid in OIDS for iid in IIDS],
        "parcels": [(iid, 1) for iid in IIDS],
        "places": [(1, 4), (1, 5), (2, 6), (None, 1)],
    },
)
"""Every key that the catalog calls unique is shared: each item leads to three people, each parcel by several ways."""

QUESTIONS = """
SELECT COUNT(*) FROM items a JOIN items b ON a.oid = b.oid
SELECT COUNT(*) FROM items a, items b WHERE a.oid = b.oid
SELECT SUM(a.l_int) FROM items a JOIN items b USING (oid) JOIN items c USING (oid)
SELECT COUNT(*) FROM orders a JOIN orders b ON a.oid = b.oid
SELECT COUNT(*) FROM items JOIN orders ON items.oid = orders.oid
SELECT COUNT(*) FROM items LEFT JOIN orders ON items.oid = orders.oid
SELECT COUNT(*) FROM orders LEFT JOIN items ON items.oid = orders.oid
SELECT COUNT(*) FROM items FULL JOIN orders ON items.oid = orders.oid
SELECT COUNT(*) FROM items a FULL JOIN (items b JOIN items c ON b.oid = c.oid) ON a.oid = b.oid
SELECT COUNT(*) FROM items a LEFT JOIN (items b JOIN items c ON b.oid = c.oid) ON a.oid = b.oid
SELECT COUNT(*) FROM parcels JOIN items ON parcels.iid = items.iid
SELECT COUNT(*) FROM parcels JOIN items ON parcels.iid = items.iid JOIN orders ON items.oid = orders.oid
SELECT COUNT(*) FROM parcels a JOIN parcels b ON a.iid = b.iid
SELECT COUNT(*) FROM parcels a LEFT JOIN parcels b ON a.iid = b.iid
SELECT COUNT(*) FROM items a SEMI JOIN items b ON a.oid = b.oid
SELECT COUNT(*) FROM items a ANTI JOIN orders b ON a.oid = b.oid AND b.o_int > 2
SELECT COUNT(*) FROM items WHERE oid IN (SELECT oid FROM orders WHERE o_int = 2)
SELECT COUNT(*) FROM items WHERE oid NOT IN (SELECT oid FROM orders WHERE o_int = 7)
SELECT COUNT(*) FROM orders o WHERE EXISTS (SELECT 1 FROM items a JOIN items b ON a.oid = b.oid WHERE a.oid = o.oid)
SELECT SUM(n) FROM (SELECT oid, COUNT(*) AS n FROM items GROUP BY oid) AS q WHERE n < 9
SELECT SUM(n) FROM (SELECT o.oid, COUNT(*) AS n FROM items i JOIN orders o ON i.oid = o.oid GROUP BY o.oid) AS q
SELECT COUNT(*) FROM (SELECT DISTINCT a.uid FROM orders a JOIN orders b ON a.oid = b.oid) AS q
SELECT COUNT(*) FROM (SELECT DISTINCT b.uid FROM orders a JOIN orders b ON a.oid = b.oid) AS q
SELECT COUNT(*) FROM (SELECT b.uid FROM orders a JOIN orders b ON a.oid = b.oid GROUP BY b.uid) AS q
SELECT COUNT(*) FROM (SELECT b.uid FROM items a JOIN orders b ON a.oid = b.oid GROUP BY b.uid) AS q
SELECT SUM(r) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY oid ORDER BY o_int) AS r FROM orders) AS q
SELECT COUNT(DISTINCT b.uid) FROM items a JOIN orders b ON a.oid = b.oid
SELECT COUNT(*) FROM people a JOIN people b ON a.uid = b.uid
SELECT COUNT(*) FROM people JOIN places ON people.p_int >= places.place
SELECT COUNT(*) FROM people p JOIN orders o ON p.uid = o.uid JOIN places ON places.place = o.oid
"""


@pytest.mark.parametrize("sql", QUESTIONS.strip().splitlines())
def test_keys_that_are_not_unique_move_no_release_beyond_its_charge(laboratory, sql):
    question = Question(FALSE, sql, frozenset(), ordered=False)
    assert isinstance(within_the_charge(laboratory, question, mechanism="gaussian", **OPTIONS), Planned)


@pytest.mark.parametrize("sql", QUESTIONS.strip().splitlines())
def test_nor_do_they_where_only_a_few_rows_of_each_person_are_joined(laboratory, sql, monkeypatch):
    monkeypatch.setattr(laboratory, "rows_per_person", 8)
    question = Question(FALSE, sql, frozenset(), ordered=False)
    assert isinstance(within_the_charge(laboratory, question, mechanism="gaussian", **OPTIONS), Planned)


SMALL = replace(ORDERS, size=1, max_rows=9)
MANY = World(
    {"orders": SMALL, "places": PLACES},
    {"orders": [(number, uid, number) for uid in PEOPLE for number in range(6)], "places": []},
)
"""Tables of which the catalog says that they have one row."""


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize("epsilon", [0.01, 1.0])
def test_more_rows_than_the_declared_size_move_no_release_beyond_its_charge(laboratory, mechanism, epsilon):
    sql = "SELECT oid, COUNT(*), SUM(o_int), MEDIAN(o_int) FROM orders GROUP BY oid"
    options = {**OPTIONS, "epsilon": epsilon}
    actual = within_the_charge(laboratory, Question(MANY, sql), mechanism=mechanism, **options)
    assert isinstance(actual, Planned)


@pytest.mark.parametrize("sql", ["SELECT AVG(x) FROM pairs", "SELECT CORR(x, y) FROM pairs"])
def test_sums_have_as_much_room_with_a_small_declared_size_as_with_none(laboratory, sql):
    columns = (UNIT, *(Column(name, "double", bounded=True) for name in "xy"))
    plans = []
    for size in (1, 10**12):
        world = World({"pairs": Table("pairs", columns, "uid", max_rows=9, size=size)}, {"pairs": []})
        planned = laboratory.plan(sql, world, laboratory.enter(world))
        plans.append([(part.sums, part.weight_bits) for part in planned.statement.parts])
    assert plans[0] == plans[1]
