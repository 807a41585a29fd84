"""Every planted fault still fits the source, and the tests that should notice it are there."""

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def mutation(monkeypatch):
    """The list of faults, and the module that checks it; both are forgotten afterwards."""
    monkeypatch.syspath_prepend(ROOT)
    known = set(sys.modules)
    yield importlib.import_module("scripts.mutation.faults"), importlib.import_module("scripts.mutation.fault")
    for name in set(sys.modules) - known:
        del sys.modules[name]


def test_every_planted_fault_can_be_tried(mutation):
    faults, checks = mutation
    assert len(faults.FAULTS) > 50
    assert checks.problems(faults.FAULTS, ROOT) == []


def test_a_fault_whose_text_is_gone_is_seen(mutation):
    _, checks = mutation
    gone = checks.Fault("gone", "errors.py", "no such text", "another", ("project",))
    assert checks.problems([gone], ROOT) == ["gone: its text occurs 0 times in src/hedgerow/errors.py"]
