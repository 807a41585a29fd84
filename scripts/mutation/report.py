"""Printed and written reports of the results."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from scripts.mutation.trial import Result, Verdict

WIDE = 160
STYLES = {Verdict.CAUGHT: "green", Verdict.CAUGHT_ELSEWHERE: "yellow", Verdict.SURVIVED: "red", Verdict.BROKEN: "red"}


def line(result: Result, done: int, of: int) -> str:
    """One line of progress."""
    return f"[{done:>3}/{of}] {result.verdict:<16} {result.seconds:6.1f} s  {result.fault.name}"


def show(results: Sequence[Result], console: Console) -> None:
    """A table of all faults, and their numbers by verdict."""
    table = Table(title="Faults in the privacy core")
    for column in ("file", "fault", "verdict"):
        table.add_column(column, no_wrap=True)
    table.add_column("by", overflow="fold")
    for result in results:
        verdict = f"[{STYLES[result.verdict]}]{result.verdict}[/]"
        table.add_row(result.fault.file, result.fault.name, verdict, escape(result.by))
    console.print(table, width=max(console.width, WIDE))
    counted = Counter(result.verdict for result in results)
    console.print(", ".join(f"{number} {verdict}" for verdict, number in counted.items()))


def write(results: Sequence[Result], path: Path) -> None:
    """The same as JSON."""
    rows = [
        {
            "name": result.fault.name,
            "file": str(result.fault.path),
            "verdict": str(result.verdict),
            "by": result.by,
            "tests": result.fault.targets,
            "seconds": round(result.seconds, 1),
        }
        for result in results
    ]
    path.write_text(json.dumps({"faults": rows, "survived": survivors(results)}, indent=2) + "\n", encoding="utf-8")


def survivors(results: Sequence[Result]) -> list[str]:
    """The faults that were not caught, or could not be tried."""
    return [result.fault.name for result in results if result.verdict in {Verdict.SURVIVED, Verdict.BROKEN}]
