"""Caps of analysts: written into a catalog's file, and read from it by a running service before every statement."""

import os
import threading
from contextlib import suppress
from pathlib import Path

from hedgerow.catalog import load_catalog
from hedgerow.catalog.patch import patched
from hedgerow.catalog.write import MARK, replace_catalog, with_endings_of
from hedgerow.errors import HedgerowError
from hedgerow.ledger import Ledger


def write_cap(catalog: Path, analyst: str, epsilon: float) -> None:
    """Write a cap into a catalog, whose comments and order stay. A catalog that would not load is left as it is."""
    load_catalog(catalog)
    old = catalog.read_bytes().decode("utf-8")
    text = old.removeprefix(MARK).replace("\r\n", "\n")
    replace_catalog(catalog, with_endings_of(old, patched(text, {("budget", "analysts", analyst, "epsilon"): epsilon})))


class LiveCaps:
    """Caps of one dataset's analysts as the file of its catalog has them now.

    Nothing else of the file takes effect before the service is told to read it again. A file that cannot be read, or
    that is no catalog, leaves the caps as they are.

    Args:
        ledger: The ledger, which keeps to the caps.
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
        """Use the caps that the file has now. Whoever comes while another reads it waits for that."""
        with self._turn:
            if self._file is None or not self.stale:
                return
            state = _state(self._file)
            with suppress(HedgerowError, OSError):
                self._ledger.use_caps(load_catalog(self._file).budget.analysts)
            self._seen = state


def _state(file: Path) -> tuple[int, ...]:
    """Return what changes with the content of a file; empty if there is none."""
    try:
        status = os.stat(file)  # noqa: PTH116 - half the time of Path.stat, before every statement
    except OSError:
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
