"""Writing a catalog's file: completely or not at all, and with a copy of what it held before."""

import os
from pathlib import Path

from hedgerow.catalog.load import load_catalog

MARK = "\ufeff"
"""Byte order mark, which some editors write at the start of a UTF-8 file."""


def replace_catalog(path: Path, text: str) -> None:
    """Write `text` into the file, completely or not at all, after checking that it loads as a catalog."""
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


def keep_copy(path: Path) -> Path:
    """Copy the file to the next free number, `shop.yaml.1`, `shop.yaml.2`, …, and return the copy's path."""
    content, number = path.read_bytes(), 1
    while True:
        copy = path.with_name(f"{path.name}.{number}")
        try:
            descriptor = os.open(copy, os.O_CREAT | os.O_EXCL | os.O_WRONLY, path.stat().st_mode & 0o777)
        except FileExistsError:
            number += 1
            continue
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        return copy


def with_endings_of(old: str, text: str) -> str:
    """Return a text with the byte order mark and the line ends of the file that it replaces."""
    mark = MARK if old.startswith(MARK) else ""
    return mark + (text.replace("\n", "\r\n") if "\r\n" in old else text)
