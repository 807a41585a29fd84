"""Messages for the person at the terminal: on standard error, never about data."""

import sys


def notice(text: str) -> None:
    """Say something on standard error."""
    sys.stderr.write(f"hedgerow: {text}\n")
