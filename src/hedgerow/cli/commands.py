"""The app: its commands, and the one place where an exception becomes a message and an exit code."""

import io
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.completion import completion_init  # type: ignore[attr-defined]
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from hedgerow import __version__
from hedgerow.cli.errors import guarded, keep_owners_log
from hedgerow.cli.output import say

SUMMARIES = {
    "demo": "Generate a hospital's data, ask it a few questions, and keep the files.",
    "init": "Write a first catalog from a database's schema, and create its ledger. The owner's command.",
    "check": "Verify what can be verified about a catalog, and list what cannot. The owner's command.",
    "calibrate": "Find bounds and limits for a catalog privately, and pay for them. The owner's command.",
    "prepare": "Compute facts about the rows before anybody asks, for fast first answers. The owner's command.",
    "query": "Ask a question, pay for it, and get numbers with error bars.",
    "quote": "Show the cost of a question and the predicted errors of its answers, for free.",
    "batch": "Ask the statements of a file together, for one charge: what they share is paid for once.",
    "publish": "Ask the statements of a report, and write tables, charts, a page and a signed certificate. The owner's "
    "command.",
    "verify": "Check a published folder: files, signature, record of spending and guarantee. Needs no database and no "
    "network.",
    "key": "Make the key that signs certificates, or show its public half. The owner's command.",
    "shell": "Ask question after question, with history, completion and commands such as .tables, .quote and .budget.",
    "mcp": "Let a language model ask, as an analyst with a cap of its own: a server of the Model Context Protocol.",
    "serve": "Let others ask by psql, BI tools, HTTP or browser, with accounts, caps and limits. The owner's command.",
    "analyst": "Manage the accounts of a service and the caps of analysts. The owner's command.",
    "requests": "Grant or deny questions that a service answers only with approval. The owner's command.",
    "plan": "Show the budget that a year of reports takes, or the errors that a budget allows. Free.",
    "budget": "Show what is spent and what remains, or price a list of queries that is fixed in advance.",
    "audit": "Search for a leak in a statement: bound its epsilon from below, by experiment.",
    "tune": "Compute the budgets and sizes for which the error of an average, or of a quotient of sums, can be "
    "predicted.",
    "ratio": "Compare two groups of people, and plan experiments that can detect a difference.",
    "experiment": "Compare the arms of an A/B experiment by several metrics, and plan one before it is paid for.",
    "completion": "Print a script that completes commands, options, tables and analysts in bash, zsh or fish.",
}
"""Commands in the order of the help, each with the first paragraph of its own help.

A command is the function (or the app) of the same name in the module of the same name, in this package. The module is
imported when the command is called; this table lists the commands without importing any.
"""

STYLE: dict[str, Any] = {
    "add_completion": False,
    "rich_markup_mode": "markdown",
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


COMPLETE = "_HEDGEROW_COMPLETE"
"""The environment variable with which a script asks for completions."""


class OnDemand(Mapping[str, Any]):
    """Commands by name, each imported when it is looked up."""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - a command of the library inside Typer
        if name not in SUMMARIES:
            raise KeyError(name)
        return load_command(name)

    def __iter__(self) -> Iterator[str]:
        return iter(SUMMARIES)

    def __len__(self) -> int:
        return len(SUMMARIES)


@cache
def load_command(name: str) -> Any:  # noqa: ANN401 - likewise
    """Import one command."""
    source = getattr(import_module(f"hedgerow.cli.{name}"), name)
    if not isinstance(source, typer.Typer):
        single = typer.Typer(**STYLE)
        single.command()(source)
        source = single
    command = get_command(source)
    command.name = name
    return command


class Commands(TyperGroup):
    """The group of all commands. No exception leaves it: each becomes a message and an exit code."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - Typer's signature
        super().__init__(**settings)
        self.commands = OnDemand()  # type: ignore[assignment]  # nobody adds one

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - likewise
        """Return the names of the commands, without importing any."""
        return list(self.commands)

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - likewise
        """Print the help with the commands' summaries, without importing any."""
        summaries: dict[str, Any] = {
            name: TyperCommand(name, short_help=summary) for name, summary in SUMMARIES.items()
        }
        listing = TyperGroup(
            name=self.name,
            commands=summaries,
            params=self.params,
            help=self.help,
            epilog=self.epilog,
            rich_markup_mode=self.rich_markup_mode,
        )
        listing.format_help(ctx, formatter)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - likewise
        """Find the command that `args` call, and let the project file set the options that they leave out."""
        # Imported here because it loads the catalog's modules: `--version` and `--help` open no project.
        from hedgerow.cli.options import project_options  # noqa: PLC0415

        resolved = super().resolve_command(ctx, args)
        if ctx.default_map is None:
            ctx.default_map = project_options()
        return resolved

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - likewise
        """Run the command. An interrupt becomes an `Abort`: Typer would end the program without a word."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise typer.Abort from interrupt

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
            if COMPLETE in os.environ:
                completion_init()
            return run(words or _alone(), "hedgerow", complete_var, False, windows_expand_args, **extra)  # noqa: FBT003 - likewise

        status = guarded(command, as_json=_wants_json(words))
        if standalone_mode:
            sys.exit(status)
        return status


def _wants_json(words: Sequence[str]) -> bool:
    """Look for `--json` among the options, even if the rest cannot be read."""
    options = words[: words.index("--")] if "--" in words else words
    return "--json" in options


def _alone() -> list[str]:
    """Return the words that stand for none: the shell, on a terminal in a project."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return []
    from hedgerow.cli.options import project_options  # noqa: PLC0415 - only on a terminal

    return ["shell"] if project_options() else []


app = typer.Typer(cls=Commands, no_args_is_help=True, pretty_exceptions_enable=False, **STYLE)


def _version(requested: bool) -> None:  # noqa: FBT001 - Typer's signature
    if requested:
        say(f"hedgerow {__version__}")
        raise typer.Exit


@app.callback(
    epilog="Begin with `hedgerow demo`. Each command has a --help with an example. In a folder with a hedgerow.toml, "
    "`hedgerow` alone is `hedgerow shell`."
)
def hedgerow(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Private SQL with honest error bars.

    The owner declares what is protected (init, check, calibrate) and how much may be spent (budget). Analysts ask in
    SQL (shell, quote, query) and get numbers with error bars.
    """


def main() -> None:
    """The program `hedgerow`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that has no ± shows a ?
    keep_owners_log()
    app()
