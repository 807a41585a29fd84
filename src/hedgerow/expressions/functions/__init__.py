"""The allow-list of functions. Importing the package fills it."""

from hedgerow.expressions.functions import casts, conditional, numeric, operators, temporal, text
from hedgerow.expressions.functions.registry import Function, allowed, lookup

__all__ = ["Function", "allowed", "casts", "conditional", "lookup", "numeric", "operators", "temporal", "text"]
