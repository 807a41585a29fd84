"""A statement as the ledger's history shows it, and as it is known again: text, bound values, stated price."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal
from typing import Any
from uuid import UUID

MOST_VALUES, LONGEST_VALUE = 100, 200
"""What the history keeps of bound values: so many, and so many characters of each."""


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked.

    Attributes:
        text: The statement.
        params: The values bound to its placeholders, as plain JSON.
        stated: The price or the error that it stated, as plain JSON; None where it is a question of our own.
    """

    text: str
    params: Any = None
    stated: tuple[float | str | None, ...] | None = None


def plain_params(params: Sequence[object] | Mapping[str, object] | None) -> Any:  # noqa: ANN401 - whatever JSON can hold
    """Bound values as the history keeps them. The analyst wrote them, so they tell nothing about the data.

    Example:
        >>> plain_params({"day": date(2026, 1, 31), "price": Decimal("1.50"), "none": None})
        {'day': '2026-01-31', 'price': '1.50', 'none': None}
    """
    if params is None:
        return None
    if isinstance(params, Mapping):
        kept = {_cut(str(name)): _plain(value) for name, value in list(params.items())[:MOST_VALUES]}
        return kept if len(params) <= MOST_VALUES else kept | {"…": f"{len(params) - MOST_VALUES} more"}
    listed = [_plain(value) for value in params[:MOST_VALUES]]
    return listed if len(params) <= MOST_VALUES else [*listed, f"… {len(params) - MOST_VALUES} more"]


def _plain(value: object) -> bool | int | float | str | None:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else _cut(str(value))
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, bytes | bytearray):
        return _cut(f"0x{bytes(value[:LONGEST_VALUE]).hex()}")
    return _cut(str(value)) if isinstance(value, str | Decimal | UUID) else f"a value of type {type(value).__name__}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
