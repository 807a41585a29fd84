"""The command line: thin commands over the engine, one file each."""

from hedgerow.cli.commands import app, main

__all__ = ["app", "main"]
