"""How names are compared: the way DuckDB folds identifiers."""

import difflib
import string
from collections.abc import Iterable, Mapping
from typing import TypeVar

_FOLD = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)

_Item = TypeVar("_Item")


def fold(name: str) -> str:
    """The form in which two spellings of one name agree.

    DuckDB folds the letters A to Z and no others: `É` and `é` are two names.

    >>> fold("CustomerID")
    'customerid'
    """
    return name.translate(_FOLD)


def spellings(name: str, names: Iterable[str]) -> list[str]:
    """All of `names` that are `name` in some spelling."""
    wanted = fold(name)
    return [candidate for candidate in names if fold(candidate) == wanted]


def lookup(items: Mapping[str, _Item], name: str) -> _Item | None:
    """The item called `name`, in whatever spelling, or None."""
    found = spellings(name, items)
    return items[name] if name in items else items[found[0]] if found else None


def closest(name: str, names: Iterable[str]) -> str | None:
    """The one of `names` that was probably meant, or None."""
    known = {fold(candidate): candidate for candidate in names}
    found = difflib.get_close_matches(fold(name), known, n=1, cutoff=0.6)
    return known[found[0]] if found else None
