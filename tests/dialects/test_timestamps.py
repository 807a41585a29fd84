"""Points in time and times of day on engines of which no server is at hand.

Read by a parser of their dialect, and run on DuckDB (see `reading`): the questions are those that are asked of every
server there is, in a session with another time zone.
"""

from types import SimpleNamespace

import pytest

from hedgerow.backends.duckdb import DuckDB

from ..conformance import test_moments as shared
from ..conformance.tables import moments, reference
from .reading import ENGINES, ReadAs

ZONES = ("UTC", "Africa/Monrovia", "Asia/Kolkata", "Australia/Lord_Howe")


@pytest.fixture(scope="module", params=ENGINES)
def engine(request):
    with reference({"moments": moments()}) as connection:
        connection.execute("SET TimeZone = 'America/St_Johns'")
        schema = DuckDB(connection, handed_in=True).schema()
        backend = ReadAs(request.param, connection, schema)
        yield SimpleNamespace(name=request.param, schema=schema, engine=backend)


@pytest.mark.parametrize("zone", ZONES)
def test_a_point_in_time_is_read_in_the_zone_of_the_catalog(engine, zone):
    shared.test_a_point_in_time_is_read_in_the_zone_of_the_catalog(engine, zone)


def test_another_zone_is_named_in_the_query(engine):
    shared.test_another_zone_is_named_in_the_query(engine, "Asia/Kolkata")


def test_a_constant_with_an_offset_is_a_point_in_time(engine):
    shared.test_a_constant_with_an_offset_is_a_point_in_time(engine, "'2024-03-31T03:00:00+02:00'")


def test_parts_of_a_time_of_day_are_the_same(engine):
    shared.test_parts_of_a_time_of_day_are_the_same(engine)


def test_functions_of_dates_are_those_of_the_zone(engine):
    text = "SELECT id, EXTRACT(hour FROM seen), DATE_TRUNC('day', seen), CAST(seen AS DATE) FROM moments"
    got = {row["c0"]: tuple(row.values())[1:] for row in shared.rows_of(engine, text, "Asia/Kolkata")}
    for number, seen, *_ in shared.near(moments().rows):
        local = shared.shown(seen, "Asia/Kolkata")
        midnight = local and local.replace(hour=0, minute=0, second=0, microsecond=0)
        assert got[number] == ((None,) * 3 if local is None else (local.hour, midnight, local.date()))
