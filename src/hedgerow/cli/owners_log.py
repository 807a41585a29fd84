"""The owner's log of the command line, where the environment names one."""

import os
import sys
from pathlib import Path

from hedgerow.owners_log import VARIABLE, keep


def keep_owners_log() -> None:
    """Keep the owner's log in the file that the environment names; otherwise it is kept beside the ledger, once known.

    It is a variable and no option, so that a host program can pass on an analyst's options without care.
    """
    file = os.environ.get(VARIABLE)
    if not file:
        return
    path = Path(os.path.realpath(file))
    if not os.access(path.parent, os.W_OK | os.X_OK) or (path.exists() and not os.access(path, os.W_OK)):
        sys.stderr.write(f"hedgerow: the file in {VARIABLE} cannot be written; going on without the owner's log.\n")
        return
    keep(path)
