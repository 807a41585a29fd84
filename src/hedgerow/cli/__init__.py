"""The command line: thin commands over the engine, one file each."""

from hedgerow.cli.app import app, main

__all__ = ["app", "main"]
