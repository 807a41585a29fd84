"""Stores of accounts, in a file and in PostgreSQL: every test that asks for one runs on each kind."""

from uuid import uuid4

import pytest

from hedgerow.service.access import open_access


@pytest.fixture(params=["sqlite", "postgres"])
def location(request, tmp_path):
    """The place of a new store."""
    if request.param == "sqlite":
        return tmp_path / "shop.access"
    return f"{request.getfixturevalue('server')}&schema=test_{uuid4().hex}"


@pytest.fixture
def opened(location):
    """Opens the store of a test, as often as wanted, and closes all at the end."""
    stores = []

    def open_it():
        stores.append(open_access(location))
        return stores[-1]

    yield open_it
    for store in stores:
        store.close()


@pytest.fixture
def store(opened):
    return opened()
