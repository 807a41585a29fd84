"""Plugin of pytest: measure which lines of hedgerow the tests run, and print the total and the least covered modules.

`pytest -p scripts.line_coverage -n 2` measures in the processes that run tests; programs that tests start are not
counted. The measured package is the one that tests import, wherever it is installed.

slipcover removes a probe from the code once it was reached: each process pays some seconds while it imports hedgerow
and runs its lines for the first time, and hardly anything afterwards.
"""

import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest
from slipcover import FileMatcher, ImportManager, Slipcover

SHOWN = 10
Lines = dict[str, list[list[int]]]
"""By module, the lines that were run and those that were not."""


def _source() -> Path:
    """Return the folder of the package that tests import; it is not imported here."""
    package = find_spec("hedgerow")
    if package is None or package.origin is None:
        raise pytest.UsageError("hedgerow is not installed, so its lines cannot be counted.")
    return Path(package.origin).resolve().parent


SOURCE = _source()
measured: Slipcover | None = None
lines_of_modules: dict[str, tuple[set[int], set[int]]] = {}
"""By module, the lines that some process ran, and all lines."""

if "PYTEST_XDIST_WORKER" in os.environ:  # before conftest.py imports hedgerow
    measured = Slipcover(source=[str(SOURCE)])
    ImportManager(measured, FileMatcher(sources=[SOURCE])).__enter__()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the lines of this process to the one that prints."""
    if measured is not None:
        files = measured.get_coverage()["files"]
        lines = {
            str(Path(name).resolve()): [file["executed_lines"], file["missing_lines"]] for name, file in files.items()
        }
        session.config.workeroutput["lines"] = lines  # type: ignore[attr-defined]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object) -> None:
    """Take the lines of a process that has ended."""
    add(getattr(node, "workeroutput", {}).get("lines", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the lines that all processes ran together."""
    if lines_of_modules:
        terminalreporter.section("lines of hedgerow that the tests ran")
        for line in report(lines_of_modules):
            terminalreporter.write_line(line)


def add(lines: Lines) -> None:
    """Add the lines that one process ran."""
    for name, (run, missed) in lines.items():
        ran, known = lines_of_modules.setdefault(str(Path(name).resolve()), (set(), set()))
        ran.update(run)
        known.update(run, missed)


def report(lines: Mapping[str, tuple[set[int], set[int]]]) -> list[str]:
    """Return the total, and the modules of which the smallest share was run."""
    ran, known = (sum(len(sets[index]) for sets in lines.values()) for index in (0, 1))
    shares = sorted((len(some) / len(every), name) for name, (some, every) in lines.items() if every)
    listed = [f"{share:6.1%}  {Path(name).relative_to(SOURCE)}" for share, name in shares[:SHOWN]]
    return [f"{ran / known:6.1%}  of {known:,} lines (without those of programs that tests start); least of:", *listed]
