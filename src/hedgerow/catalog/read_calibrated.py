"""The note that `hedgerow calibrate` leaves beside what it found."""

from datetime import date

from hedgerow.catalog import codes
from hedgerow.catalog.entry import Entry
from hedgerow.catalog.model import Calibrated
from hedgerow.catalog.strict import text, within

LARGEST = 1e6


def read_calibrated(entry: Entry) -> Calibrated:
    """When, and for how much."""
    found = entry.fields(("date", "epsilon"))
    day = entry.required(found, "date", "date: 2026-01-31")
    paid = entry.required(found, "epsilon", "epsilon: 0.1")
    return Calibrated(_day(day), within(paid, 0, LARGEST))


def _day(entry: Entry) -> str:
    written = text(entry)
    try:
        return date.fromisoformat(written).isoformat()
    except ValueError:
        raise entry.error(
            f"`{entry.name}` is {entry.written}, and a day is expected.",
            code=codes.TEXT,
            hint="Write year, month and day: 2026-01-31.",
        ) from None
