"""hedgerow demo."""

from pathlib import Path
from typing import Annotated

import duckdb
import typer

from hedgerow.cli import options
from hedgerow.cli.demo_page import demo_json, demo_page
from hedgerow.cli.faults import UsageError
from hedgerow.cli.output import tell, write_json
from hedgerow.demo import HospitalFiles, build, existing, tell_story


def demo(
    *,
    folder: Annotated[str, typer.Option("--folder", metavar="PATH", help="Where the files go.")] = "demo",
    force: Annotated[bool, typer.Option("--force", help="Begin afresh, in place of an earlier demo.")] = False,
    as_json: options.Json = False,
) -> None:
    """Make up a hospital's data, ask it a few questions, and leave the files for you to go on with.

    Each private answer stands beside the exact one, which in earnest only the owner could see. It takes a few
    seconds.

    Example: hedgerow demo --folder demo
    """
    files = HospitalFiles.of(Path(folder))
    if existing(files) and not force:
        raise UsageError(
            f"There is a hospital in {folder} already.",
            code="demo-exists",
            hint="Begin afresh with --force, or name another --folder.",
        )
    tell("Making up a hospital …")
    try:
        sizes = build(files)
    except (OSError, duckdb.Error):
        raise UsageError(
            f"The folder {folder} cannot be written.", code="demo-unwritable", hint="Name another."
        ) from None
    tale = tell_story(files)
    if as_json:
        write_json(demo_json(files, sizes, tale))
    else:
        demo_page(files, sizes, tale)
