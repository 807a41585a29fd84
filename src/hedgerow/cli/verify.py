"""hedgerow verify."""

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli import options
from hedgerow.cli.output import printable, say, say_wrapped, write_json
from hedgerow.publication.keys import read_public_key
from hedgerow.publication.verification import Check, compare_chains, verify_folder

FAILED = 1
MEANINGS = {
    "certificate": "the certificate can be read",
    "signature": "nobody changed it since it was signed",
    "files": "the files are those that were signed",
    "chain": "the record of spending is complete up to this release",
    "budget": "every charge fitted the budget",
    "charges": "the release was paid for with these events",
    "guarantee": "the guarantee follows from the events",
    "history": "the releases agree about the past",
}
UNPINNED = (
    "The key was taken from the folder itself. So nobody changed the folder after it was signed, but anybody could "
    "have signed it: pass --key with the public key that the owner gave you elsewhere."
)


def verify(
    folders: Annotated[list[str], typer.Argument(metavar="FOLDER…", help="A folder that hedgerow publish wrote.")],
    *,
    key: Annotated[
        str | None,
        typer.Option("--key", metavar="KEY", help="The owner's public key, ed25519:…, or the file that holds it."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Check a published folder: files, signature, record of spending and guarantee. Needs no database and no network.

    With several folders of one ledger, it is also checked that they show one history. The exit code is 0 if everything
    holds, and 1 otherwise.

    Example: hedgerow verify release --key hospital.pub
    """
    pinned = None if key is None else read_public_key(key)
    results = [verify_folder(Path(folder), pinned) for folder in folders]
    together = [compare_chains(results)] if len(results) > 1 and all(one.holds for one in results) else []
    holds = all(one.holds for one in results) and all(check.holds for check in together)
    if as_json:
        several = {
            "ok": holds,
            "folders": [one.to_dict() for one in results],
            "history": [
                {"check": c.name, "ok": c.holds, "says": c.says, "problems": list(c.problems)} for c in together
            ],
        }
        write_json(results[0].to_dict() if len(results) == 1 else several)
    else:
        for one in results:
            say(f"{printable(str(one.folder))}: {'everything holds' if one.holds else 'NOT as it was signed'}")
            for check in one.checks:
                _line(check)
        for check in together:
            _line(check)
        if holds and not all(one.pinned for one in results):
            say_wrapped(UNPINNED)
    raise typer.Exit(0 if holds else FAILED)


def _line(check: Check) -> None:
    if check.holds:
        say_wrapped(f"  ✓ {MEANINGS[check.name]}: {printable(check.says)}")
    for problem in check.problems:
        say_wrapped(f"  ✗ {printable(problem)}")
