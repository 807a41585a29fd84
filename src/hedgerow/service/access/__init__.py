"""Accounts, the datasets that they may ask, and requests that wait for an owner's decision."""

import os
from pathlib import Path

from hedgerow.ledger.postgres_connection import Address, is_address
from hedgerow.service.access.postgres import PostgresAccessStore
from hedgerow.service.access.sqlite import SQLiteAccessStore
from hedgerow.service.access.store import SqlAccessStore

__all__ = ["open_access"]


def open_access(location: str | os.PathLike[str]) -> SqlAccessStore:
    """Open the store at `location`, a file or the URL of a PostgreSQL database; create it if there is none."""
    text = os.fspath(location)
    if is_address(text):
        return PostgresAccessStore(Address.of(text))
    return SQLiteAccessStore(Path(os.path.realpath(text.removeprefix("sqlite:///"))))
