"""The corridor: text in, private answer out."""

from hedgerow.engine.database import Database
from hedgerow.engine.opening import connect, ledger_path
from hedgerow.engine.quote import Quote

__all__ = ["Database", "Quote", "connect", "ledger_path"]
