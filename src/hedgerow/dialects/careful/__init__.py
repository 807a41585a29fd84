"""Engines that are reached through Ibis: one spelling, with the parts that differ left to each."""

from hedgerow.dialects.careful.dialect import Careful

__all__ = ["Careful"]
