"""The examples in the docstrings of the two rooms are true."""

import doctest
import importlib
import pkgutil

import pytest

import hedgerow.accounting
import hedgerow.ledger

MODULES = [
    f"{package.__name__}.{module.name}"
    for package in (hedgerow.accounting, hedgerow.ledger)
    for module in pkgutil.iter_modules(package.__path__)
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
