"""A catalog that is written again, with some entries changed and every other byte as it was."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hedgerow.catalog import load_catalog
from hedgerow.catalog.patch import patched
from hedgerow.cli.faults import UsageError

MARK = "\ufeff"
"""What some editors put before the first byte of a UTF-8 file."""


def write_changes(catalog: str, changes: Mapping[tuple[str, ...], Any]) -> None:
    """Write `changes` into the file, in whole or not at all: what is written has been read back as a catalog."""
    path = Path(catalog)
    try:
        text = path.read_bytes().decode("utf-8")
        mark = MARK if text.startswith(MARK) else ""
        _exchange(path, mark + patched(text.removeprefix(MARK), changes))
    except OSError:
        raise UsageError(
            f"{catalog} could not be written.",
            code="catalog-unwritable",
            hint="What was found stays in the ledger: make the file writable, and repeat the command, which is free.",
        ) from None


def _exchange(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    with draft.open("xb") as stream:
        stream.write(text.encode("utf-8"))
        stream.flush()
        os.fsync(stream.fileno())
    try:
        load_catalog(draft)
        draft.chmod(path.stat().st_mode)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
