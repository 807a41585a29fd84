"""Comparison of names: as DuckDB folds identifiers."""

import difflib
import string
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from hedgerow.schema import Schema

_FOLD = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)

_Item = TypeVar("_Item")


def fold(name: str) -> str:
    """The form in which two spellings of one name agree.

    DuckDB folds the letters A to Z and no others: `É` and `é` are two names.

    >>> fold("CustomerID")
    'customerid'
    """
    return name.lower() if name.isascii() else name.translate(_FOLD)


def spellings(name: str, names: Iterable[str]) -> list[str]:
    """Return all of `names` that equal `name` after folding."""
    wanted = fold(name)
    return [candidate for candidate in names if fold(candidate) == wanted]


def lookup(items: Mapping[str, _Item], name: str) -> _Item | None:
    """Return the item called `name`, in any spelling, or None."""
    matches = spellings(name, items)
    return items[name] if name in items else items[matches[0]] if matches else None


def tables_named(schema: Schema, parts: Sequence[str]) -> list[str]:
    """Return all tables that `parts` name, in any spelling; missing parts are those of the current schema.

    Privacy: as in SQL, a plain name is that of a table of the current schema and of no other.
    """
    wanted = tuple(map(fold, (*schema.namespace[: max(0, len(schema.namespace) + 1 - len(parts))], *parts)))
    return [name for name in schema.tables if tuple(map(fold, schema.full_name(name))) == wanted]


def closest(name: str, names: Iterable[str]) -> str | None:
    """Return the one of `names` that was probably meant, or None."""
    known = {fold(candidate): candidate for candidate in names}
    matches = difflib.get_close_matches(fold(name), known, n=1, cutoff=0.6)
    return known[matches[0]] if matches else None
