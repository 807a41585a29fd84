"""Where the owner's log goes, if the owner wants one: the causes of failures, which may quote private values."""

import logging
import os
import sys

VARIABLE = "HEDGEROW_OWNER_LOG"


def keep_owners_log() -> None:
    """Write the owner's log to the file that the environment names; without it, causes are kept nowhere.

    It is a variable and no option, so that a host program can pass on an analyst's options without care.
    """
    file = os.environ.get(VARIABLE)
    if not file:
        return
    try:
        handler = logging.FileHandler(file, encoding="utf-8", delay=False)
    except OSError:
        sys.stderr.write(f"hedgerow: the file in {VARIABLE} cannot be written; going on without the owner's log.\n")
        return
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    logging.getLogger("hedgerow.owner").addHandler(handler)
