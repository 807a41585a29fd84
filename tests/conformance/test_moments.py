"""Points in time, times of day and identifiers are the same everywhere, to the microsecond."""

import datetime as dt
from zoneinfo import ZoneInfo

import pytest

from hedgerow.catalog import BudgetPolicy, Catalog, DeclaredColumn, DeclaredTable
from hedgerow.compile import query_text
from hedgerow.compiled import Query, arrow_type
from hedgerow.expressions.types import Type
from hedgerow.plan.bind import bind
from hedgerow.sql.parse import parse

from .tables import ZONES, moments

LAST = dt.datetime(2100, 1, 1, tzinfo=dt.UTC)


def rows_of(engine, text, zone):
    """The rows of a query over the table of points in time, as if it were public."""
    seen = DeclaredColumn("seen", type=Type.TIMESTAMP, instant=True)  # where the database does not say so itself
    written = DeclaredColumn("written", type=Type.TIMESTAMP, instant=True)
    tables = {"moments": DeclaredTable("moments", public=True, columns={"seen": seen, "written": written})}
    catalog = Catalog("moments", BudgetPolicy(1.0, 1e-6), tables, timezone=zone)
    plan = bind(parse(text).query, catalog, engine.schema)
    names = tuple(column.name for column in plan.root.columns)
    types = tuple(arrow_type(column.expr) for column in plan.root.columns)
    return engine.engine.public(Query(query_text(plan.root, engine.engine.dialect), names, (), types)).to_pylist()


def shown(value, zone):
    """The answer of Python's own zone."""
    return None if value is None else value.astimezone(ZoneInfo(zone)).replace(tzinfo=None)


def near(rows):
    """Rows before 2100, whose offset is that of the time zone database."""
    return [row for row in rows if row[1] is None or row[1] < LAST]


@pytest.mark.parametrize("zone", ["UTC", *ZONES])
def test_a_point_in_time_is_read_in_the_zone_of_the_catalog(engine, zone):
    actual = rows_of(engine, "SELECT id, seen FROM moments", zone)
    got = {row["c0"]: row["c1"] for row in actual}
    rows = moments().rows
    assert got.keys() == {row[0] for row in rows}
    assert [(row[0], got[row[0]]) for row in near(rows)] == [(row[0], shown(row[1], zone)) for row in near(rows)]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_text_with_an_offset_is_the_point_in_time_that_it_says(engine, zone):
    got = {row["c0"]: row["c1"] for row in rows_of(engine, "SELECT id, written FROM moments", zone)}
    assert [got[row[0]] for row in near(moments().rows)] == [shown(row[1], zone) for row in near(moments().rows)]


@pytest.mark.parametrize("zone", ZONES)
def test_another_zone_is_named_in_the_query(engine, zone):
    text = f"SELECT id, seen AT TIME ZONE '{zone}' FROM moments"
    got = {row["c0"]: row["c1"] for row in rows_of(engine, text, "Asia/Tokyo")}
    assert [got[row[0]] for row in near(moments().rows)] == [shown(row[1], zone) for row in near(moments().rows)]


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Australia/Lord_Howe"])
def test_functions_of_dates_are_those_of_the_zone(engine, zone):
    text = (
        "SELECT id, EXTRACT(hour FROM seen), DATE_TRUNC('day', seen), CAST(seen AS DATE), "
        "EXTRACT(epoch FROM seen), seen + INTERVAL 1 DAY FROM moments"
    )
    got = {row["c0"]: tuple(row.values())[1:] for row in rows_of(engine, text, zone)}
    for number, seen, *_ in near(moments().rows):
        local = shown(seen, zone)
        if local is None:
            assert got[number] == (None,) * 5
            continue
        midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
        expected = (local.hour, midnight, local.date(), pytest.approx(seen.timestamp(), abs=1e-5))
        assert got[number] == (*expected, local + dt.timedelta(days=1))


@pytest.mark.parametrize(
    "constant",
    ["'2024-03-31 01:00+00'", "'2024-03-31T03:00:00+02:00'", "TIMESTAMPTZ '2024-03-30 21:00:00-04'"],
)
def test_a_constant_with_an_offset_is_a_point_in_time(engine, constant):
    at = dt.datetime(2024, 3, 31, 1, tzinfo=dt.UTC)
    actual = rows_of(engine, f"SELECT id FROM moments WHERE seen < {constant}", "Asia/Kolkata")
    assert {row["c0"] for row in actual} == {n for n, seen, *_ in moments().rows if seen is not None and seen < at}


def test_parts_of_a_time_of_day_are_the_same(engine):
    if engine.schema.tables["moments"].columns["clock"].native.upper() == "STRING":
        pytest.skip("Spark has no times of day")
    text = (
        "SELECT id, EXTRACT(hour FROM clock), EXTRACT(minute FROM clock), EXTRACT(second FROM clock), "
        "EXTRACT(microsecond FROM clock), clock < '12:30', clock FROM moments"
    )
    got = {row["c0"]: tuple(row.values())[1:] for row in rows_of(engine, text, "UTC")}
    for number, _, clock, *_ in moments().rows:
        micros = clock.second * 1_000_000 + clock.microsecond
        assert got[number] == (clock.hour, clock.minute, clock.second, micros, clock < dt.time(12, 30), clock)


def test_a_time_of_day_has_one_text(engine):
    actual = rows_of(engine, "SELECT id, CAST(clock AS VARCHAR) FROM moments", "UTC")
    texts = {number: clock.isoformat() for number, _, clock, *_ in moments().rows}
    assert {row["c0"]: row["c1"] for row in actual} == {
        number: text.rstrip("0") if "." in text else text for number, text in texts.items()
    }


def test_an_identifier_is_text_in_one_form(engine):
    actual = rows_of(engine, "SELECT id, token, LENGTH(token) FROM moments", "UTC")
    assert {(row["c0"], row["c1"], row["c2"]) for row in actual} == {
        (number, str(token), 36) for number, _, _, token, _ in moments().rows
    }


def test_identifiers_can_be_joined_and_compared(engine):
    first = moments().rows[0][3]
    text = f"SELECT a.id FROM moments a JOIN moments b ON a.token = b.token WHERE b.id = 0 AND a.token = '{first}'"
    assert {row["c0"] for row in rows_of(engine, text, "UTC")} == {r[0] for r in moments().rows if r[3] == first}
