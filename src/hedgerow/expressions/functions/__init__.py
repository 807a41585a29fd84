"""The allow-list of functions. Importing the package fills it."""

from hedgerow.expressions.functions import (
    calendar,
    casts,
    clock,
    conditional,
    numeric,
    operators,
    ownership,
    pieces,
    regexp,
    rounding,
    temporal,
    text,
    zones,
)
from hedgerow.expressions.functions.registry import Function, allowed, lookup

__all__ = [
    "Function",
    "allowed",
    "calendar",
    "casts",
    "clock",
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
    "zones",
]
