"""Tests that planted faults asked for. They draw much, so `make slow` and `make mutation` run them."""

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if "mutation_gaps" in item.nodeid:
            item.add_marker(pytest.mark.slow)
