"""Plugin of pytest: measure which lines of hedgerow the tests run, and print the total and the least covered modules.

`pytest -p scripts.line_coverage -n 2` measures in the processes that run tests; programs that tests start are not
counted. slipcover takes its probes out of the code once they were reached, which costs a few seconds for each process
and little afterwards; tracing every line costs four fifths on top of the quick tests, on Python 3.11.
"""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from slipcover import FileMatcher, ImportManager, Slipcover

SOURCE = Path(__file__).resolve().parents[1] / "src" / "hedgerow"
SHOWN = 10
Lines = dict[str, list[list[int]]]
"""By module, the lines that were run and those that were not."""

measured: Slipcover | None = None
found: dict[str, tuple[set[int], set[int]]] = {}

if "PYTEST_XDIST_WORKER" in os.environ:  # before conftest.py imports hedgerow
    measured = Slipcover(source=[str(SOURCE)])
    ImportManager(measured, FileMatcher(sources=[SOURCE])).__enter__()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the lines of this process to the one that prints."""
    if measured is not None:
        files = measured.get_coverage()["files"]
        lines = {name: [each["executed_lines"], each["missing_lines"]] for name, each in files.items()}
        session.config.workeroutput["lines"] = lines  # type: ignore[attr-defined]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object) -> None:
    """Take the lines of a process that has ended."""
    add(getattr(node, "workeroutput", {}).get("lines", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what all processes ran together."""
    if found:
        terminalreporter.section("lines of hedgerow that the tests ran")
        for line in report(found):
            terminalreporter.write_line(line)


def add(lines: Lines) -> None:
    """Add what one process ran."""
    for name, (run, missed) in lines.items():
        ran, known = found.setdefault(str(Path(name).resolve()), (set(), set()))
        ran.update(run)
        known.update(run, missed)


def report(lines: Mapping[str, tuple[set[int], set[int]]]) -> list[str]:
    """Return the total, and the modules of which the smallest share was run."""
    ran, known = (sum(len(each[place]) for each in lines.values()) for place in (0, 1))
    shares = sorted((len(some) / len(every), name) for name, (some, every) in lines.items() if every)
    listed = [f"{share:6.1%}  {Path(name).relative_to(SOURCE)}" for share, name in shares[:SHOWN]]
    return [f"{ran / known:6.1%}  of {known:,} lines; least of:", *listed]
