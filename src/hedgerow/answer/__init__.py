"""The answer that an analyst gets back."""

from hedgerow.answer.batch import Batch, Savings
from hedgerow.answer.captions import WARNINGS, bounds_note, caption, notes, percent_above
from hedgerow.answer.released import BoundsWarning, FoundBounds, Mechanism, Note, NoteKind, Payment, Summary
from hedgerow.answer.render import rich_table
from hedgerow.answer.table import Answer, Clipped, Diagnostics, diagnosable

__all__ = [
    "WARNINGS",
    "Answer",
    "Batch",
    "BoundsWarning",
    "Clipped",
    "Diagnostics",
    "FoundBounds",
    "Mechanism",
    "Note",
    "NoteKind",
    "Payment",
    "Savings",
    "Summary",
    "bounds_note",
    "caption",
    "diagnosable",
    "notes",
    "percent_above",
    "rich_table",
]
