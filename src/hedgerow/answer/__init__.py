"""What an analyst gets back."""

from hedgerow.answer.captions import caption, notes
from hedgerow.answer.diagnostics import Clipped, Diagnostics
from hedgerow.answer.show import rich_table
from hedgerow.answer.summary import FoundBounds, Mechanism, Payment, Summary
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
