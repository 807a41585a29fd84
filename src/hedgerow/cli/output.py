"""Output: results to standard output, everything else to standard error; bars and figures for people."""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hedgerow.figures import WIDTH, finite, percent, text_bar

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

# Rich is imported where it is used: `--version` and JSON are plain text.


def stdout() -> "Console":
    """Return the console for results. It interprets no markup: brackets in a query or a key stay brackets."""
    return _console(stderr=False)


def stderr() -> "Console":
    """The console for progress, messages and errors."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> "Console":
    from rich.console import Console  # noqa: PLC0415

    return Console(stderr=stderr, highlight=False, emoji=False, markup=False)


def say(text: str) -> None:
    """One line of a result."""
    sys.stdout.write(f"{text}\n")


def say_wrapped(text: str) -> None:
    """Print a sentence of a result, wrapped on a terminal only: elsewhere, programs read it."""
    console = stdout()
    console.print(text, soft_wrap=not console.is_terminal)


def tell(text: str, *, style: str = "") -> None:
    """Print a message, wrapped on a terminal only: elsewhere, programs read it."""
    console = stderr()
    console.print(text, style=style, soft_wrap=not console.is_terminal)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show the elapsed seconds on a terminal while a long operation runs."""
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    console = stderr()
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as shown:
        shown.add_task(what, total=None)
        yield


def write_json(value: object) -> None:
    """One line of JSON on standard output."""
    say(json.dumps(finite(value), allow_nan=False))


def printable(text: str, longest: int | None = None) -> str:
    """Return an analyst's text on one line, without control characters, which could control a terminal."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return line if longest is None or len(line) <= longest else f"{line[: longest - 1]}…"


def show(renderable: "RenderableType") -> None:
    """Something for people on standard output."""
    stdout().print(renderable)


def show_table(table: "Table") -> None:
    """Print a table without losing a digit: folded on a narrow terminal, as wide as needed in a pipe."""
    from rich.measure import Measurement  # noqa: PLC0415

    console = stdout()
    for column in table.columns:
        column.no_wrap, column.overflow = False, "fold"
    if not console.is_terminal:
        options = console.options.update(max_width=100_000)
        console.width = max(console.width, Measurement.get(console, options, table).maximum)
    console.print(table)


NAMES = {"gaussian": "Gaussian noise", "pure": "Laplace noise", "mass": "thresholds"}


def bar(fraction: float, width: int = WIDTH) -> "Text":
    """Return a bar in colour: green, yellow from 60 %, red from 90 %."""
    from rich.text import Text  # noqa: PLC0415

    style = "red" if fraction >= 0.9 else "yellow" if fraction >= 0.6 else "green"
    text = text_bar(fraction, width)
    return Text(text.rstrip("░"), style=style) + Text("░" * text.count("░"), style="dim")


def used_bars(used: Mapping[str, float], pure_epsilon: float | None = None) -> "Table":
    """One bar for each of the three parts of a budget."""
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table.grid(padding=(0, 2))
    for name, fraction in used.items():
        label = NAMES.get(name, name)
        if name == "pure" and pure_epsilon == 0:
            label = "reserve"  # what discrete noise owes; no statement can ask for it
        table.add_row(label, bar(fraction), Text(percent(fraction), justify="right"))
    return table
