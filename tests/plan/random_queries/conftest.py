"""The laboratory that all tests of the grammar share."""

import pytest

from .laboratory import Laboratory


@pytest.fixture(scope="session")
def laboratory():
    return Laboratory()
