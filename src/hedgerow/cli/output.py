"""What is printed: results to standard output, everything else to standard error."""

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table


def stdout() -> Console:
    """The console for results. It reads no markup: brackets in a query or a key are brackets."""
    return Console(highlight=False, emoji=False, markup=False)


def stderr() -> Console:
    """The console for progress, messages and errors."""
    return Console(stderr=True, highlight=False, emoji=False, markup=False)


def say(text: str) -> None:
    """One line of a result."""
    sys.stdout.write(f"{text}\n")


def say_wrapped(text: str) -> None:
    """A sentence of a result, broken between words on a terminal only: elsewhere, programs read it."""
    console = stdout()
    console.print(text, soft_wrap=not console.is_terminal)


def tell(text: str, *, style: str = "") -> None:
    """A message. It is broken into lines on a terminal only: elsewhere, programs read it."""
    console = stderr()
    console.print(text, style=style, soft_wrap=not console.is_terminal)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """A sign of life with the seconds gone by, on a terminal, while something runs that may take long."""
    console = stderr()
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as shown:
        shown.add_task(what, total=None)
        yield


def write_json(value: object) -> None:
    """One line of JSON on standard output."""
    say(json.dumps(finite(value), allow_nan=False))


def finite(value: object) -> object:
    """`value` as JSON can hold it: there is no infinity and no NaN in it."""
    if isinstance(value, Mapping):
        return {str(name): finite(each) for name, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def printable(text: str, longest: int | None = None) -> str:
    """An analyst's text on one line, without control characters, which could do things to a terminal."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return line if longest is None or len(line) <= longest else f"{line[: longest - 1]}…"


def show(renderable: RenderableType) -> None:
    """Something for people on standard output."""
    stdout().print(renderable)


def show_table(table: Table) -> None:
    """A table that loses no digit: folded on a narrow terminal, as wide as it needs to be in a pipe."""
    console = stdout()
    for column in table.columns:
        column.no_wrap, column.overflow = False, "fold"
    if not console.is_terminal:
        options = console.options.update(max_width=100_000)
        console.width = max(console.width, Measurement.get(console, options, table).maximum)
    console.print(table)
