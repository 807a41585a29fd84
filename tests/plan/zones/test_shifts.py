"""Offsets of time zones are those of Python's own zones, and nothing is lost on the way back."""

import datetime as dt
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.expressions import zones

NAMES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia", "Europe/Dublin")
MOMENTS = st.datetimes(dt.datetime(1, 1, 4), dt.datetime(2099, 12, 31))  # noqa: DTZ001 - at UTC


def python(moment, name):
    return moment.replace(tzinfo=dt.UTC).astimezone(ZoneInfo(name)).replace(tzinfo=None)


@settings(deadline=None)  # the first look at a zone reads all of it
@given(MOMENTS, st.sampled_from(NAMES))
def test_a_point_in_time_is_shown_as_python_shows_it(moment, name):
    assert zones.shift("UTC", name).of(moment) == python(moment, name)


@pytest.mark.parametrize("name", NAMES)
def test_the_offset_changes_in_the_very_microsecond(name):
    shift = zones.shift("UTC", name)
    for change in shift.changes:
        for moment in (change - dt.timedelta(microseconds=1), change):
            assert shift.of(moment) == python(moment, name)


@settings(deadline=None)
@given(MOMENTS, st.sampled_from(NAMES), st.sampled_from(NAMES))
def test_a_date_and_time_is_read_as_python_reads_the_first_of_two(moment, source, target):
    expected = moment.replace(tzinfo=ZoneInfo(source)).astimezone(ZoneInfo(target)).replace(tzinfo=None)
    assert zones.shift(source, target).of(moment) == expected or expected >= zones.END - dt.timedelta(days=2)


@pytest.mark.parametrize(
    ("shown", "at_utc"),
    [
        ("2024-03-31 01:59:59.999999", "2024-03-31 00:59:59.999999"),
        ("2024-03-31 02:30:00", "2024-03-31 01:30:00"),
        ("2024-03-31 03:00:00", "2024-03-31 01:00:00"),
        ("2024-10-27 02:30:00", "2024-10-27 00:30:00"),
        ("2024-10-27 03:00:00", "2024-10-27 02:00:00"),
    ],
)
def test_a_time_that_exists_twice_is_the_first_and_one_that_was_skipped_keeps_the_offset(shown, at_utc):
    moved = zones.shift("Europe/Berlin", "UTC").of(dt.datetime.fromisoformat(shown))
    assert moved == dt.datetime.fromisoformat(at_utc)


@pytest.mark.parametrize("moment", [dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31)])  # noqa: DTZ001 - at UTC
@pytest.mark.parametrize("name", NAMES)
def test_the_ends_of_time_stay_where_they_are(moment, name):
    assert zones.shift("UTC", name).of(moment) == moment


@pytest.mark.parametrize("name", ["", "Mars", "../UTC", "/etc/passwd", "europe/berlin "])
def test_what_is_no_zone_is_none(name):
    assert not zones.exists(name)
