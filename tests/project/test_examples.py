"""Every example in a docstring runs and gives what it says."""

import doctest
import importlib
import pkgutil

import pytest

import hedgerow

NAMES = [
    actual.name
    for actual in pkgutil.walk_packages(hedgerow.__path__, "hedgerow.")
    if actual.name != "hedgerow.__main__"
]


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_a_module_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples_to_run():
    actual = (test for name in NAMES for test in doctest.DocTestFinder().find(importlib.import_module(name)))
    assert sum(len(test.examples) for test in actual) > 30
