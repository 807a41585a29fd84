"""The trail as JSON Lines, on standard output or in a file of its own."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from hedgerow.cli.faults import UsageError
from hedgerow.cli.output import say


def print_trail(lines: Iterable[str]) -> None:
    """Print the trail."""
    for line in lines:
        say(line)


def write_trail(lines: Iterable[str], file: str) -> int:
    """Write the trail to a new file, whole or not at all; how many entries it has. Nothing is ever overwritten."""
    path = Path(file)
    try:
        stream = path.open("x", encoding="utf-8", newline="\n")
    except FileExistsError:
        raise UsageError(
            f"There is a file {file} already.", code="export-exists", hint="Name another, or - for standard output."
        ) from None
    except OSError:
        raise _unwritable(file) from None
    try:
        with stream:
            return _write(lines, stream)
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _unwritable(file) from None
        raise


def _write(lines: Iterable[str], stream: TextIO) -> int:
    number = 0
    for number, line in enumerate(lines, start=1):  # noqa: B007 - the last one is how many there are
        stream.write(f"{line}\n")
    stream.flush()
    os.fsync(stream.fileno())
    return number


def _unwritable(file: str) -> UsageError:
    return UsageError(
        f"The trail cannot be written to {file}.", code="export-unwritable", hint="Check the folder and the disk."
    )
