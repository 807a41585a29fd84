"""A hundred statements that are after time and memory: each is refused, stopped or answered, and the next one runs."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from .attack import MEMORY, statements
from .conftest import ATTACKED, SERVERS

pytestmark = pytest.mark.hostile

ROOT = Path(__file__).parents[2]
REFUSED = {"constant-needed", "engine-lacks", "too-many-joined-rows", "too-many-rows", "unsupported-expression"}
STOPPED = {"after-failed", "out-of-memory", "timed-out"}
JAVA = 3 * 1024
"""Megabytes for Spark's Java, whose heap has 2048."""


def attacked(engine, seconds, step):
    """Return the outcome of every `step`-th statement on an engine, in a process of its own."""
    if engine in (*SERVERS, "mariadb"):
        reason = importlib.import_module(f"..conformance.engines.{engine}", __package__).why_not()
        if reason is not None:
            pytest.skip(f"NOT TESTED on {engine}: {reason}")
    command = [sys.executable, "-m", "tests.limits.attack", engine, str(seconds), str(step)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own module
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def check(actual):
    for statement in actual["statements"]:
        assert statement["code"] in {"answered", *REFUSED, *STOPPED}, statement
        assert statement["next"] == [25]
    assert actual["megabytes"] < MEMORY
    assert actual["java"] < JAVA


def test_there_are_a_hundred():
    assert len(set(statements())) == 100


@pytest.mark.parametrize("engine", [name for name in ATTACKED if name not in {"folder", "frames", "spark"}])
def test_some_hostile_statements_end_within_the_limits(engine):
    """Spark, which needs seconds for a statement of one row, is attacked in `make slow` alone."""
    check(attacked(engine, 0.5, 9))


@pytest.mark.slow
@pytest.mark.parametrize("engine", ATTACKED)
def test_every_hostile_statement_ends_within_the_limits(engine):
    check(attacked(engine, 10 if engine == "spark" else 2, 1))
