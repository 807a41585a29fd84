"""The answer that an analyst gets back."""

from hedgerow.answer.captions import caption, notes
from hedgerow.answer.diagnostics import Clipped, Diagnostics
from hedgerow.answer.released import FoundBounds, Mechanism, Payment, Summary
from hedgerow.answer.render import rich_table
from hedgerow.answer.table import Answer, diagnosable

__all__ = [
    "Answer",
    "Clipped",
    "Diagnostics",
    "FoundBounds",
    "Mechanism",
    "Payment",
    "Summary",
    "caption",
    "diagnosable",
    "notes",
    "rich_table",
]
