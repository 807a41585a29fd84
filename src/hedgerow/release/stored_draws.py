"""Draws as they are stored in the ledger: their rank, grid and epsilons."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from fractions import Fraction
from typing import Any

from hedgerow.aggregates import Rank
from hedgerow.expressions.nodes import Column, Expr, describe
from hedgerow.expressions.types import Type
from hedgerow.privacy.grid import Grid
from hedgerow.privacy.plan import PrivatePlan
from hedgerow.privacy.ranks import Bucketing, Draw
from hedgerow.statistics.quantiles import Buckets, Reach


def describe_draws(plan: PrivatePlan) -> list[dict[str, Any]]:
    """Each draw as plain JSON."""
    return [_describe(draw, plan.bucketings[draw.bucketing]) for draw in plan.draws]


def read_draws(
    kept: Sequence[Mapping[str, Any]], values: Mapping[int | None, Expr]
) -> tuple[tuple[Draw, ...], tuple[Bucketing, ...]]:
    """The draws, each with a bucketing of its own; `values` are those that a statement asks for, by draw."""
    bucketings = tuple(_bucketing(one, values.get(index)) for index, one in enumerate(kept))
    return tuple(_draw(one, index) for index, one in enumerate(kept)), bucketings


def _describe(draw: Draw, bucketing: Bucketing) -> dict[str, Any]:
    return {
        "named": describe(bucketing.value),
        "quantile": str(draw.rank.quantile),
        "extreme": draw.rank.extreme,
        "aside": draw.rank.aside,
        "epsilon": str(draw.epsilon),
        "reach": astuple(draw.reach),
        "beta": draw.beta,
        "grid": astuple(bucketing.grid),
        "buckets": astuple(bucketing.buckets),
        "by_person": bucketing.by_person,
    }


def _draw(kept: Mapping[str, Any], bucketing: int) -> Draw:
    rank = Rank(Fraction(kept["quantile"]), kept["extreme"], kept["aside"])
    return Draw(bucketing, rank, Fraction(kept["epsilon"]), Reach(*kept["reach"]), kept["beta"])


def _bucketing(kept: Mapping[str, Any], value: Expr | None) -> Bucketing:
    """The bucketing of a stored draw; a draw that the statement does not ask for keeps only the name of its value."""
    grid, buckets = Grid(*kept["grid"]), Buckets(*kept["buckets"])
    return Bucketing(value or Column(kept["named"], Type.FLOAT), None, grid, buckets, kept.get("by_person", False))
