"""The corridor: text in, private answer out."""

from hedgerow.session.connection import connect, ledger_path
from hedgerow.session.database import Database
from hedgerow.session.quote import Quote

__all__ = ["Database", "Quote", "connect", "ledger_path"]
