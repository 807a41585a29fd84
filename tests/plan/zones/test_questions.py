"""Points in time and times of day, asked for as users do: of files, frames and connections handed in."""

import datetime as dt
import sqlite3
import uuid
from collections import Counter
from contextlib import closing
from zoneinfo import ZoneInfo

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hedgerow as hr

FIRST = dt.datetime(2024, 3, 30, tzinfo=dt.UTC)
SEEN = [FIRST + dt.timedelta(hours=person % 72) for person in range(2_000)]
"""Three days around the night in which Europe puts its clocks forward."""

CATALOG = """
dataset: visits
timezone: {zone}
budget: {{epsilon: 100000, delta: 1e-6}}
defaults: {{epsilon: 1000, delta: 1e-9, min_frequency: 1}}
tables:
  visits:
    unit: id
    max_rows: 1
    columns:
      id: {{type: integer}}
      seen: {{type: timestamptz}}
  holidays: {{public: true}}
"""
BY_DAY = "SELECT CAST(seen AS DATE) AS day, COUNT(*) AS n FROM visits GROUP BY 1"
NOISE = 5
"""Twenty times the noise at this epsilon, and less than what one hour more or less makes of a day."""


def by_day(zone):
    return Counter(seen.astimezone(ZoneInfo(zone)).date() for seen in SEEN)


def numbers():
    return list(range(len(SEEN)))


@pytest.fixture
def ask(tmp_path):
    """Asks one question of a source, in a time zone."""

    def ask_of(source, text=BY_DAY, zone="Europe/Berlin", **options):
        tables = CATALOG if "holidays" in text else CATALOG.replace("  holidays: {{public: true}}\n", "")
        path = tmp_path / "visits.yaml"
        path.write_text(tables.format(zone=zone), encoding="utf-8")
        with closing(hr.connect(source, catalog=path, ledger=tmp_path / f"{uuid.uuid4()}.ledger")) as db:
            return db.sql(text, **options).arrow().to_pylist()

    return ask_of


def same(rows, zone="Europe/Berlin"):
    """True if the days are those of the zone, with as many people in each."""
    expected = by_day(zone)
    actual = {row["day"]: row["n"] for row in rows}
    return actual.keys() == expected.keys() and all(abs(actual[day] - expected[day]) < NOISE for day in expected)


@pytest.fixture
def connection():
    with duckdb.connect(":memory:") as built:
        built.execute("CREATE TABLE visits (id BIGINT, seen TIMESTAMPTZ)")
        rows = pa.table({"id": numbers(), "seen": pa.array(SEEN, pa.timestamp("us", "UTC"))})
        built.register("rows", rows)
        built.execute("INSERT INTO visits SELECT * FROM rows")
        yield built


@pytest.mark.parametrize("setting", ["UTC", "America/New_York", "Asia/Kolkata"])
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_the_time_zone_of_a_session_changes_nothing(ask, connection, setting, zone):
    connection.execute(f"SET GLOBAL TimeZone = '{setting}'")
    assert same(ask(connection, zone=zone), zone)


def test_frames_with_a_zone_are_read_in_that_of_the_catalog(ask):
    seen = pd.Series(pd.to_datetime(SEEN)).dt.tz_convert("Asia/Tokyo")
    assert same(ask({"visits": pd.DataFrame({"id": numbers(), "seen": seen})}))


def test_parquet_files_have_points_in_time(ask, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    kept = pa.array(SEEN, pa.timestamp("us", "America/New_York"))
    pq.write_table(pa.table({"id": numbers(), "seen": kept}), folder / "visits.parquet")
    assert same(ask(folder))


@pytest.mark.parametrize("form", [dt.datetime.isoformat, lambda seen: f"{seen:%Y-%m-%dT%H:%M:%SZ}"])
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_text_in_a_csv_file_is_read_with_its_offset(ask, tmp_path, form, zone):
    folder = tmp_path / "data"
    folder.mkdir()
    lines = [f"{number},{form(seen)}" for number, seen in zip(numbers(), SEEN, strict=True)]
    (folder / "visits.csv").write_text("\n".join(["id,seen", *lines]), encoding="utf-8")
    assert same(ask(folder, zone=zone), zone)


def test_text_without_an_offset_is_a_date_and_time_in_the_zone(ask):
    local = [seen.astimezone(ZoneInfo("Europe/Berlin")).replace(tzinfo=None).isoformat() for seen in SEEN]
    assert same(ask({"visits": pa.table({"id": numbers(), "seen": local})}))


def test_sqlite_has_points_in_time_as_text(ask, tmp_path):
    with closing(sqlite3.connect(tmp_path / "visits.sqlite")) as built:
        built.execute("CREATE TABLE visits (id INTEGER, seen TIMESTAMPTZ)")
        built.executemany("INSERT INTO visits VALUES (?, ?)", zip(numbers(), map(str, SEEN), strict=True))
        built.commit()
    assert same(ask(tmp_path / "visits.sqlite"))


def test_a_parameter_with_a_zone_is_a_point_in_time(ask, connection):
    text = "SELECT COUNT(*) AS n FROM visits WHERE seen < ?"
    border = dt.datetime(2024, 3, 31, 12, tzinfo=ZoneInfo("Asia/Tokyo"))
    [row] = ask(connection, text, params=[border])
    assert abs(row["n"] - sum(seen < border for seen in SEEN)) < NOISE


def test_a_public_table_is_joined_after_the_aggregation(ask, connection):
    connection.execute("SET GLOBAL TimeZone = 'America/New_York'")
    connection.execute("CREATE TABLE holidays AS SELECT TIMESTAMPTZ '2024-03-31 22:30:00+00' AS start")
    text = f"WITH days AS ({BY_DAY}) SELECT d.day, d.n FROM days d JOIN holidays h ON CAST(h.start AS DATE) = d.day"
    [row] = ask(connection, text)
    assert row["day"] == dt.date(2024, 4, 1)


def test_one_column_may_have_a_zone_of_its_own(tmp_path, connection):
    own = CATALOG.replace("{{type: timestamptz}}", "{{timezone: Asia/Tokyo}}").replace(
        "  holidays: {{public: true}}\n", ""
    )
    (tmp_path / "visits.yaml").write_text(own.format(zone="Europe/Berlin"), encoding="utf-8")
    with closing(hr.connect(connection, catalog=tmp_path / "visits.yaml")) as db:
        assert same(db.sql(BY_DAY).arrow().to_pylist(), "Asia/Tokyo")


@pytest.mark.parametrize("place", ["timezone: Europe/Berlinn", "tables: {visits: {unit: id, timezone: UTCC}}"])
def test_a_zone_that_does_not_exist_is_refused_by_its_line(tmp_path, place):
    start = "dataset: visits\nbudget: {epsilon: 1, delta: 1e-6}\n"
    tables = "" if place.startswith("tables") else "\ntables: {visits: {unit: id}}"
    (tmp_path / "visits.yaml").write_text(f"{start}{place}{tables}\n", encoding="utf-8")
    with pytest.raises(hr.CatalogError) as caught:
        hr.connect({"visits": pa.table({"id": [1]})}, catalog=tmp_path / "visits.yaml")
    assert caught.value.code == "catalog-timezone"
    assert "Did you mean" in caught.value.hint


def test_infinite_and_far_points_in_time_are_no_errors(ask):
    with duckdb.connect(":memory:") as built:
        built.execute("CREATE TABLE visits (id BIGINT, seen TIMESTAMPTZ)")
        far = (
            "'infinity'",
            "'-infinity'",
            "'294247-01-10 04:00:54.775806+00'",
            "'0044-03-15 (BC) 12:00:00+00'",
            "NULL",
        )
        for place, value in enumerate(far):
            built.execute(f"INSERT INTO visits SELECT {place} * 500 + i, {value} FROM range(500) AS t (i)")
        [row] = ask(built, "SELECT COUNT(*) AS n FROM visits WHERE seen > '2024-01-01'")
        assert abs(row["n"] - 1_000) < NOISE
        assert ask(built, "SELECT DATE_TRUNC('day', seen) AS d, COUNT(*) AS n FROM visits GROUP BY 1") is not None


def test_an_identifier_can_be_the_unit_and_a_key(tmp_path):
    with duckdb.connect(":memory:") as built:
        built.execute("CREATE TABLE people (token UUID PRIMARY KEY, friend UUID)")
        rows = [(uuid.UUID(int=number), uuid.UUID(int=1 << 127 | number % 2)) for number in range(1_000)]
        built.executemany("INSERT INTO people VALUES (?, ?)", rows)
        path = tmp_path / "people.yaml"
        defaults = "defaults: {epsilon: 1000, delta: 1e-9, min_frequency: 1}\n"
        tables = "tables: {people: {unit: token, unit_unique: true}}\n"
        path.write_text(f"dataset: p\nbudget: {{epsilon: 1e5, delta: 1e-6}}\n{defaults}{tables}", encoding="utf-8")
        with closing(hr.connect(built, catalog=path)) as db:
            actual = db.sql("SELECT friend, COUNT(*) AS n FROM people GROUP BY 1").arrow().to_pylist()
            [row] = db.sql("SELECT COUNT(*) AS n FROM people WHERE friend = token OR friend < 'A'").arrow().to_pylist()
    assert {row["friend"] for row in actual} == {str(friend) for _, friend in rows}
    assert all(abs(row["n"] - 500) < NOISE for row in actual)
    assert abs(row["n"] - 1_000) < NOISE
