"""Engines on which nothing was ever run are apart, and the documents say so."""

from pathlib import Path

from hedgerow.dialects import DIALECTS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "engines.md"
LABELS = {"BigQuery", "MySQL", "SQL Server", "Snowflake", "Trino"}


def test_a_dialect_is_experimental_where_it_is_kept_apart():
    for dialect in (load() for load in DIALECTS.values()):
        apart = type(dialect).__module__.startswith("hedgerow.dialects.experimental.")
        assert dialect.experimental is apart, dialect.label


def test_the_page_of_engines_marks_the_experimental_ones():
    assert {load().label for load in DIALECTS.values() if load().experimental} == LABELS
    [row] = [line for line in PAGE.read_text().splitlines() if line.startswith("| *experimental:* ")]
    assert set(row.split("|")[1].removeprefix(" *experimental:* ").strip().split(", ")) == LABELS
