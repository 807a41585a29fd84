"""hedgerow completion, and completions of arguments from the project."""

from typing import Annotated

import typer
from typer.completion import get_completion_script  # type: ignore[attr-defined]

from hedgerow.cli import options
from hedgerow.cli.commands import COMPLETE
from hedgerow.cli.errors import UsageError
from hedgerow.cli.output import say, write_json

SHELLS = ("bash", "zsh", "fish")


def completion(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help=f"One of {', '.join(SHELLS)}.")],
    *,
    as_json: options.Json = False,
) -> None:
    """Print a script that completes commands, options, tables and analysts in bash, zsh or fish.

    Load it when the shell starts; the page on the shell says where each expects it.

    Example: hedgerow completion bash
    """
    if shell not in SHELLS:
        raise UsageError(f"There is no completion for {shell}.", hint=f"There is one for {', '.join(SHELLS)}.")
    script = get_completion_script(prog_name="hedgerow", complete_var=COMPLETE, shell=shell)
    if as_json:
        write_json({"shell": shell, "script": script})
    else:
        say(script)
