"""Caps of analysts: written into a catalog's file, and read from it by a running service before every statement."""

import os
import threading
from contextlib import suppress
from pathlib import Path

from hedgerow.catalog import load_catalog
from hedgerow.catalog.patch import MARK, patched, replace_catalog, with_endings_of
from hedgerow.errors import HedgerowError
from hedgerow.ledger import Ledger


def write_cap(catalog: Path, analyst: str, epsilon: float) -> None:
    """Write a cap into a catalog, keeping comments and order. A change that would break the catalog is not written."""
    load_catalog(catalog)
    old = catalog.read_bytes().decode("utf-8")
    text = old.removeprefix(MARK).replace("\r\n", "\n")
    replace_catalog(catalog, with_endings_of(old, patched(text, {("budget", "analysts", analyst, "epsilon"): epsilon})))


class LiveCaps:
    """Caps of one dataset's analysts as the file of its catalog has them now.

    Nothing else in the file takes effect until the service reloads it. If the file cannot be read or is not a catalog,
    the caps do not change.

    Args:
        ledger: The ledger, which enforces the caps.
        file: The file of the catalog; None if it has none.
    """

    def __init__(self, ledger: Ledger, file: Path | None) -> None:
        self._ledger = ledger
        self._file = file
        self._turn = threading.Lock()
        self._seen: tuple[int, ...] | None = None

    @property
    def stale(self) -> bool:
        """True if the file was changed since its caps were read."""
        return self._file is not None and self._seen != _state(self._file)

    def refresh(self) -> None:
        """Apply the caps that the file has now. If another caller is reading the file, wait for it."""
        with self._turn:
            if self._file is None or not self.stale:
                return
            state = _state(self._file)
            with suppress(HedgerowError, OSError):
                self._ledger.use_caps(load_catalog(self._file).budget.analysts)
            self._seen = state


def _state(file: Path) -> tuple[int, ...]:
    """Return a mark that changes with the content of a file; empty if there is no file."""
    try:
        status = os.stat(file)  # noqa: PTH116 - half the time of Path.stat, before every statement
    except OSError:
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
