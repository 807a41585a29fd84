"""Record of what has been spent: durable, append-only, one transaction for each charge."""

from hedgerow.ledger.base import Ledger
from hedgerow.ledger.connect import create_ledger, file_of, open_ledger, raise_budget
from hedgerow.ledger.history import AnalystView, BudgetView, HistoryEntry, Verification
from hedgerow.ledger.limits import Caps, Units, caps_for
from hedgerow.ledger.position import Position, QuestionState
from hedgerow.ledger.store import AnsweredQuestion, Store, StoredRelease

__all__ = [
    "AnalystView",
    "AnsweredQuestion",
    "BudgetView",
    "Caps",
    "HistoryEntry",
    "Ledger",
    "Position",
    "QuestionState",
    "Store",
    "StoredRelease",
    "Units",
    "Verification",
    "caps_for",
    "create_ledger",
    "file_of",
    "open_ledger",
    "raise_budget",
]
