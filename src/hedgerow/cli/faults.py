"""From an exception to words for people or JSON for programs, and an exit code. Never a traceback."""

import os
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from hedgerow.catalog.strict_yaml import read_source
from hedgerow.cli.excerpt import excerpt
from hedgerow.cli.output import stderr, tell, write_json
from hedgerow.cli.words import in_words_of_command_line
from hedgerow.errors import CatalogError, HedgerowError, InternalError, charged
from hedgerow.owners_log import record

INTERRUPTED = 130


class UsageError(HedgerowError):
    """The command was called wrongly."""

    code = "usage"
    exit_code = 2


class Failure(Exception):  # noqa: N818 - it carries an error; it is none of its own
    """An error, together with the lines that it points at."""

    def __init__(self, error: HedgerowError, lines: str | None) -> None:
        super().__init__()
        self.error = error
        self.lines = lines


@contextmanager
def pointing(*, catalog: str | None = None, query: str | None = None) -> Iterator[None]:
    """Inside, an error that has a place is shown with that line of the query, or of the catalog's file."""
    try:
        yield
    except CatalogError as error:
        raise Failure(error, _in_catalog(error, catalog)) from None
    except HedgerowError as error:
        lines = excerpt(query, error.span) if query is not None and error.span is not None else None
        raise Failure(error, lines) from None


def _in_catalog(error: CatalogError, catalog: str | None) -> str | None:
    if catalog is None or error.span is None:
        return None
    try:
        text = read_source(catalog).text
    except CatalogError:
        return None
    return excerpt(text, error.span) if text else None


def guarded(command: Callable[[], object], *, as_json: bool) -> int:
    """Run `command`; its exit code, or the one of its failure, which has then been reported.

    Privacy: of an exception that is not ours, nothing is shown, because its words could quote private values.
    They go to the owner's log.
    """
    try:
        status = command()
        sys.stdout.flush()
    except Failure as failure:
        return report(failure.error, failure.lines, as_json=as_json)
    except HedgerowError as error:
        return report(error, None, as_json=as_json)
    except BrokenPipeError:
        return _reader_gone()
    except (KeyboardInterrupt, typer.Abort) as error:
        tell(" ".join(part for part in ("Stopped.", charged(error)) if part))
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last door
        return _unexpected(error, as_json=as_json)
    return status if isinstance(status, int) else 0


def _unexpected(error: Exception, *, as_json: bool) -> int:
    """What the option parser says about the command line is for people; any other exception is our bug."""
    usage = _usage(error)
    if usage is not None:
        return report(usage, None, as_json=as_json)
    incident = secrets.token_hex(4)
    kept = record(incident, cause=error)
    bug = InternalError(
        f"hedgerow failed in a way that it should not (incident {incident}).",
        hint=f"This is a bug; what caused it is withheld, for it could quote private values. {kept}",
    )
    bug.receipt, bug.repeatable = getattr(error, "receipt", None), getattr(error, "repeatable", False)
    return report(bug, None, as_json=as_json)


def _usage(error: Any) -> UsageError | None:  # noqa: ANN401 - the parser's exceptions have no public base class
    """The option parser's exceptions, told by what they can do: every version keeps them in another place."""
    if not callable(getattr(error, "format_message", None)):
        return None
    context = getattr(error, "ctx", None)
    command = getattr(context, "command_path", "hedgerow")
    return UsageError(error.format_message() or "A command is missing.", hint=f"See `{command} --help`.")


def _reader_gone() -> int:
    """Whoever read our output has stopped; the interpreter must not complain about it at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def report(error: HedgerowError, lines: str | None, *, as_json: bool) -> int:
    """Say what went wrong, in the words of the command line; the exit code that goes with it."""
    error.message = in_words_of_command_line(error.message)
    error.hint = None if error.hint is None else in_words_of_command_line(error.hint)
    if as_json:
        write_json({"error": error.to_dict()})
    else:
        _tell(error, lines)
    return error.exit_code


def _tell(error: HedgerowError, lines: str | None) -> None:
    tell(f"{_heading(error)}: {error.message}", style="bold red")
    if lines:
        stderr().print(f"\n{lines}\n", soft_wrap=True)
    if error.hint:
        tell(f"hint: {error.hint}")
    if error.cost:
        tell(error.cost)


def _heading(error: HedgerowError) -> str:
    kind = "refused" if error.exit_code == 1 else "error"
    return f"{kind} [{error.code}]"
