"""Notes on an answer as a whole: limits that shaped it, groups that may be missing. They follow from the plan alone."""

from dataclasses import dataclass
from enum import Enum


class NoteKind(Enum):
    """Subject of a note."""

    EMPTY = "empty"
    MISSING_GROUPS = "missing-groups"
    PARTIAL_TOTALS = "partial-totals"
    ROW_LIMIT = "row-limit"
    JOIN_LIMIT = "join-limit"
    VALUE_BOUNDS = "value-bounds"
    FOUND_BOUNDS = "found-bounds"
    QUANTILE_WEIGHTS = "quantile-weights"
    MEASURED_TOGETHER = "measured-together"
    SUMS_TOGETHER = "sums-together"
    NONNEGATIVE = "nonnegative"


@dataclass(frozen=True, slots=True)
class Note:
    """One note on an answer as a whole; `str(note)` is its text.

    Attributes:
        kind: The subject.
        text: The whole note, in sentences.
        short: The note on one line, as shown below a table; None if it is shown on request only. The note on an empty
            answer is shown only below one.
        of: The value in words, for a note on the bounds of one.
        people: Number of people from which a group is usually shown, for a note on groups.
        for_readers: The short note without advice on how to ask, for people who only read; None if it has no advice.
    """

    kind: NoteKind
    text: str
    short: str | None = None
    of: str | None = None
    people: float | None = None
    for_readers: str | None = None

    def __str__(self) -> str:
        return self.text
