"""Privacy: in the hour after clocks are put back, two points in time have one date and time, and are not one key."""

from contextlib import closing

import duckdb
import pytest

import hedgerow as hr

TABLES = """
CREATE TABLE visits (seen TIMESTAMPTZ PRIMARY KEY, person BIGINT);
CREATE TABLE notes (visit TIMESTAMPTZ, word VARCHAR);
INSERT INTO visits VALUES ('2024-10-27 00:30:00+00', 1), ('2024-10-27 01:30:00+00', 2);
"""
CATALOG = """
dataset: visits
timezone: {zone}
budget: {{epsilon: 1, delta: 1e-6}}
defaults: {{epsilon: 0.1, delta: 1e-9, min_frequency: 1}}
tables:
  visits: {{unit: person, max_rows: 5}}
  notes: {{unit: {{through: visits, on: {{visit: seen}}}}, max_rows: 5}}
"""
JOINED = "SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.seen = b.seen"
ALONG_THE_PATH = "SELECT COUNT(*) AS n FROM notes"


@pytest.fixture
def ask(tmp_path):
    def ask_in(zone, text):
        path = tmp_path / "visits.yaml"
        path.write_text(CATALOG.format(zone=zone), encoding="utf-8")
        with duckdb.connect(":memory:") as connection:
            connection.execute(TABLES)
            with closing(hr.connect(connection, catalog=path)) as db:
                return db.sql(text)

    return ask_in


@pytest.mark.parametrize("text", [JOINED, ALONG_THE_PATH])
def test_at_utc_a_point_in_time_is_the_key_that_the_database_enforces(ask, text):
    assert ask("UTC", text) is not None


def test_in_a_zone_with_a_doubled_hour_rows_of_two_people_are_not_joined(ask):
    with pytest.raises(hr.UnsupportedSQLError):
        ask("Europe/Berlin", JOINED)


def test_in_a_zone_with_a_doubled_hour_a_path_could_lead_to_two_people(ask):
    with pytest.raises(hr.CatalogError) as caught:
        ask("Europe/Berlin", ALONG_THE_PATH)
    assert caught.value.code == "catalog-type"
