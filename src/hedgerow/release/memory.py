"""Releases as they are kept in the ledger, and what a stored one still answers.

What is stored is the release: keys, raw noisy coordinates, the noise they carry. Intervals at any confidence, and
any after part, follow from it for free. A stored release answers a new statement about the same rows, keys, limits
and data version if it holds every measure asked for, with no more noise than the statement would get, or bought with
no less than the statement may spend (then it is a larger question at the same price, and its columns alone are free).
What is compared are noise scales and costs, never values (docs/explanation/privacy.md).
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.distributions import Gaussian, Laplace, Noise
from hedgerow.intervals import half_width
from hedgerow.privacy.keys import KeyRule
from hedgerow.privacy.needs import needs_of
from hedgerow.privacy.plan import PrivatePlan, PrivateStatement, Recipe
from hedgerow.privacy.sums import Coordinate, Selection
from hedgerow.release.estimate import Estimator
from hedgerow.release.measure import NoisyTable

FORMAT = 2
HEADER = b"hedgerow"
SLACK = 1 + 1e-9
LEVEL = 0.05


def remember(estimators: Sequence[Estimator]) -> bytes:
    """All releases of a statement as bytes, each with its length before it."""
    parts = [_remember(estimator) for estimator in estimators]
    return b"".join(len(part).to_bytes(8, "big") + part for part in parts)


def recall(payload: bytes, statement: PrivateStatement, *, any_mechanism: bool) -> list[Estimator] | None:
    """The stored releases as an answer to `statement`, or None where one of them does not imply it."""
    parts = list(_parts(payload))
    if len(parts) != len(statement.parts):
        return None
    pairs = zip(parts, statement.parts, strict=True)
    try:
        found = [_recall(part, plan, any_mechanism=any_mechanism) for part, plan in pairs]
    except (pa.ArrowException, KeyError, TypeError, ValueError):
        return None  # written by another version of the program
    known = [estimator for estimator in found if estimator is not None]
    return known if len(known) == len(found) else None


def _parts(payload: bytes) -> Iterator[bytes]:
    place = 0
    while place < len(payload):
        size = int.from_bytes(payload[place : place + 8], "big")
        yield payload[place + 8 : place + 8 + size]
        place += 8 + size


def _remember(estimator: Estimator) -> bytes:
    """One release: an Arrow stream whose header says what the numbers are."""
    noisy, plan = estimator.noisy, estimator.plan
    columns = {f"key_{name}": noisy.keys.column(name) for name in noisy.keys.column_names}
    columns["shown"] = pa.array(noisy.shown)
    if noisy.counts is not None:
        columns["counts"] = pa.array(noisy.counts)
    columns |= {f"coordinate_{i}": pa.array(values) for i, values in enumerate(noisy.coordinates)}
    table = pa.table(columns).replace_schema_metadata({HEADER: json.dumps(_describe(plan)).encode()})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _recall(payload: bytes, plan: PrivatePlan, *, any_mechanism: bool) -> Estimator | None:
    """One stored release as an answer to `plan`, or None where it does not imply one."""
    table = pa.ipc.open_stream(payload).read_all()
    stored = json.loads(table.schema.metadata[HEADER])
    if stored["format"] != FORMAT or not (any_mechanism or stored["mechanism"] == plan.mechanism):
        return None
    found = _reading(stored, plan)
    if found is None:
        return None
    recipes, coordinates, selection = found
    old = replace(plan, mechanism=stored["mechanism"], recipes=recipes, coordinates=coordinates, selection=selection)
    if not (_as_accurate(old, plan) or _as_expensive(stored, plan)):
        return None
    return Estimator(_noisy(table, len(coordinates)), old)


def _reading(
    stored: dict[str, Any], plan: PrivatePlan
) -> tuple[tuple[Recipe, ...], tuple[Coordinate, ...], Selection | None] | None:
    """Recipes for the new statement's aggregates over the stored coordinates; None where one is missing."""
    recipes = []
    for need, wanted in zip(needs_of(plan.release), plan.recipes, strict=True):
        kept = stored["needs"].get(repr(need))
        if kept is None or (kept["from_selection"] and not wanted.from_selection):
            return None
        recipes.append(_recipe(kept))
    coordinates = tuple(
        Coordinate(c["label"], (), 1, _noise(c["noise"]), 1.0, 0, c["sensitivity"], c["unit"])
        for c in stored["coordinates"]
    )
    return tuple(recipes), coordinates, _selection(stored["selection"])


def _as_accurate(old: PrivatePlan, new: PrivatePlan) -> bool:
    """Whether no number has more noise, and no key a higher threshold, than in the statement's own release."""
    tested = new.keys.rule is not KeyRule.ONE and new.selection is not None
    if tested and (old.selection is None or old.selection.threshold > new.selection.threshold * Fraction(SLACK)):  # type: ignore[union-attr]
        return False
    return all(_width(old, i) <= _width(new, i) * SLACK for i in range(len(new.recipes)))


def _as_expensive(stored: dict[str, Any], new: PrivatePlan) -> bool:
    """Whether the stored release spent at least as much, on the same kind of noise."""
    spent = Fraction(stored["noise_cost"])
    return stored["mechanism"] == new.mechanism and spent * Fraction(SLACK) >= _noise_cost(new)


def _noise_cost(plan: PrivatePlan) -> Fraction:
    cost = plan.charge.cost
    return cost.pure if plan.mechanism == "laplace" else cost.gaussian


def _width(plan: PrivatePlan, index: int) -> float:
    recipe = plan.recipes[index]
    if recipe.from_selection and plan.selection is not None:
        return half_width([(1.0, plan.selection.noise)], LEVEL)
    terms = recipe.centred or recipe.total or recipe.count
    return half_width([(c, plan.coordinates[i].noise) for i, c in terms], LEVEL)


def _describe(plan: PrivatePlan) -> dict[str, Any]:
    needs = {repr(need): _recipe_fields(r) for need, r in zip(needs_of(plan.release), plan.recipes, strict=True)}
    chosen = plan.selection
    return {
        "format": FORMAT,
        "mechanism": plan.mechanism,
        "noise_cost": str(_noise_cost(plan)),
        "needs": needs,
        "coordinates": [
            {"label": c.label, "noise": _noise_fields(c.noise), "sensitivity": c.sensitivity, "unit": c.unit}
            for c in plan.coordinates
        ],
        "selection": None
        if chosen is None
        else {"noise": _noise_fields(chosen.noise), "threshold": str(chosen.threshold), "minimum": chosen.minimum},
    }


def _recipe_fields(recipe: Recipe) -> dict[str, Any]:
    names = ("count", "total", "centred", "middle", "half", "from_selection")
    return {name: getattr(recipe, name) for name in names}


def _recipe(kept: dict[str, Any]) -> Recipe:
    forms = {name: tuple((int(i), float(c)) for i, c in kept[name]) for name in ("count", "total", "centred")}
    return Recipe(**forms, middle=kept["middle"], half=kept["half"], from_selection=kept["from_selection"])


def _noise_fields(noise: Noise) -> list[Any]:
    return ["gaussian", noise.sigma] if isinstance(noise, Gaussian) else ["laplace", noise.scale, noise.step]


def _noise(fields: list[Any]) -> Noise:
    return Gaussian(fields[1]) if fields[0] == "gaussian" else Laplace(fields[1], fields[2])


def _selection(kept: dict[str, Any] | None) -> Selection | None:
    if kept is None:
        return None
    return Selection(_noise(kept["noise"]), 1.0, 0, Fraction(kept["threshold"]), kept["minimum"], Fraction(0))


def _noisy(table: pa.Table, coordinates: int) -> NoisyTable:
    names = [name for name in table.column_names if name.startswith("key_")]
    keys = table.select(names).rename_columns([name.removeprefix("key_") for name in names]).replace_schema_metadata()
    counts = _floats(table, "counts") if "counts" in table.column_names else None
    values = tuple(_floats(table, f"coordinate_{i}") for i in range(coordinates))
    return NoisyTable(keys, np.asarray(table.column("shown").to_numpy()).astype(bool), counts, values)


def _floats(table: pa.Table, name: str) -> "np.ndarray[Any, np.dtype[np.float64]]":
    return np.asarray(table.column(name).to_numpy(), dtype=float)
