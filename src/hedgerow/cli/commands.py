"""The app: its commands, and the one place where an exception becomes a message and an exit code."""

import io
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from hedgerow import __version__
from hedgerow.cli.audit import audit
from hedgerow.cli.budget import budget
from hedgerow.cli.calibrate import calibrate
from hedgerow.cli.check import check
from hedgerow.cli.demo import demo
from hedgerow.cli.errors import guarded, keep_owners_log
from hedgerow.cli.init import init
from hedgerow.cli.output import say
from hedgerow.cli.project import project_options
from hedgerow.cli.query import query
from hedgerow.cli.quote import quote
from hedgerow.cli.ratio import ratio
from hedgerow.cli.tune import tune


class Commands(TyperGroup):
    """The group of all commands. No exception leaves it: each becomes a message and an exit code."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,  # noqa: ARG002 - always the same, however the program was started
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001, FBT002 - Typer's signature
        windows_expand_args: bool = True,  # noqa: FBT001, FBT002 - likewise
        **extra: Any,  # noqa: ANN401 - likewise
    ) -> Any:  # noqa: ANN401 - likewise
        """Run one command and return its exit code."""
        words = list(sys.argv[1:] if args is None else args)
        run = super().main

        def command() -> object:
            extra.setdefault("default_map", project_options())
            return run(words, "hedgerow", complete_var, False, windows_expand_args, **extra)  # noqa: FBT003 - likewise

        status = guarded(command, as_json=_wants_json(words))
        if standalone_mode:
            sys.exit(status)
        return status


def _wants_json(words: Sequence[str]) -> bool:
    """Look for `--json` among the options, even if the rest cannot be read."""
    options = words[: words.index("--")] if "--" in words else words
    return "--json" in options


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:  # noqa: FBT001 - Typer's signature
    if asked:
        say(f"hedgerow {__version__}")
        raise typer.Exit


@app.callback(epilog="Begin with `hedgerow demo`. Each command has a --help with an example.")
def hedgerow(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Private SQL with honest error bars.

    The owner declares what is protected (init, check, calibrate) and how much may be spent (budget). Analysts ask in
    SQL (quote, query) and get numbers with error bars.
    """


for _command in (demo, init, check, calibrate, query, quote, budget, audit):
    app.command()(_command)
app.add_typer(tune, name="tune")
app.add_typer(ratio, name="ratio")


def main() -> None:
    """The program `hedgerow`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that has no ± shows a ?
    keep_owners_log()
    app()
