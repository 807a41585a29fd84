"""hedgerow key."""

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli import options
from hedgerow.cli.errors import UsageError
from hedgerow.cli.output import say, tell, write_json
from hedgerow.publication.keys import PublicKey, new_key, public_file, read_key
from hedgerow.session.project import find_project

key = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")


@key.callback()
def _key() -> None:
    """Make the key that signs certificates, or show its public half. The owner's command.

    `hedgerow publish` signs with it. Readers need the public key, from a place that they trust, to check who signed.
    Both modes take --json.

    Example: hedgerow key new hospital.key
    """


File = Annotated[
    str | None,
    typer.Argument(metavar="FILE", help="The file of the private key; by default next to the project's catalog."),
]


@key.command()
def new(file: File = None, *, as_json: options.Json = False) -> None:
    """Generate a key, and print its public half.

    The private key is written to FILE, which only you can read, and the public key beside it, with the ending .pub.
    An existing key is never overwritten.

    Example: hedgerow key new hospital.key
    """
    path = _path(file)
    public = new_key(path).public
    if not as_json:
        tell(f"Wrote the private key to {path}, and the public one to {public_file(path)}.")
        tell("Keep a copy of the private key where only you can read it. Publish the public one.")
    _show(public, path, as_json=as_json)


@key.command()
def show(file: File = None, *, as_json: options.Json = False) -> None:
    """Print the public half of a key, and its fingerprint.

    Example: hedgerow key show hospital.key
    """
    path = _path(file)
    _show(read_key(path).public, path, as_json=as_json)


def _path(file: str | None) -> Path:
    if file is not None:
        return Path(file)
    project = find_project()
    if project is None or project.catalog is None:
        raise UsageError("No key file was named, and there is no project here.", hint="Name a file.")
    return Path(project.catalog).with_suffix(".key")


def _show(public: PublicKey, path: Path, *, as_json: bool) -> None:
    if as_json:
        write_json({"file": str(path), "public": str(public), "fingerprint": public.fingerprint})
    else:
        say(f"public key   {public}\nfingerprint  {public.fingerprint}")
