"""The allow-list of functions. Importing the package fills it."""

from hedgerow.expressions.functions import (
    calendar,
    casts,
    conditional,
    numeric,
    operators,
    ownership,
    pieces,
    regexp,
    rounding,
    temporal,
    text,
)
from hedgerow.expressions.functions.registry import Function, allowed, lookup

__all__ = [
    "Function",
    "allowed",
    "calendar",
    "casts",
    "conditional",
    "lookup",
    "numeric",
    "operators",
    "ownership",
    "pieces",
    "regexp",
    "rounding",
    "temporal",
    "text",
]
