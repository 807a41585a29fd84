"""What has been spent: durable, append-only, one transaction for each charge."""

from hedgerow.ledger.base import Ledger
from hedgerow.ledger.caps import Caps, Units, caps_for
from hedgerow.ledger.opening import create_ledger, open_ledger, raise_budget
from hedgerow.ledger.places import file_of
from hedgerow.ledger.store import Store, StoredRelease
from hedgerow.ledger.trail import Verification
from hedgerow.ledger.view import AnalystView, BudgetView, HistoryEntry

__all__ = [
    "AnalystView",
    "BudgetView",
    "Caps",
    "HistoryEntry",
    "Ledger",
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
