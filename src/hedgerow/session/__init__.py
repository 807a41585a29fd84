"""Text in, private answer out: `connect`, `Database`, and the corridor behind it."""

from hedgerow.session.connection import connect, ledger_path
from hedgerow.session.database import Database
from hedgerow.session.explain import Explanation
from hedgerow.session.quote import Quote

__all__ = ["Database", "Explanation", "Quote", "connect", "ledger_path"]
