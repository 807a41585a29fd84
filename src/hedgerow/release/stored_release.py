"""Releases as the ledger stores them, and the questions that a stored release answers.

The stored parts are the keys, the raw noisy sums, and the noise that they carry; and sums of values as they are shown,
so that they repeat their digits for ever. Intervals at any confidence, and
any post-processing, follow from it for free. A stored release answers a new statement about the same rows, keys, limits
and data version if it holds every measure asked for, with no more noise than the statement would get, or bought with
no less than the statement may spend (then it is a larger question at the same price, and its columns alone are free).
What is compared are noise scales and costs, never values (docs/explanation/privacy.md).
"""

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.accounting.budget import Spending
from hedgerow.aggregates import Kind, Rank
from hedgerow.distributions import Gaussian, Laplace, Noise
from hedgerow.error_bars.intervals import half_width
from hedgerow.expressions.nodes import Column, Expr, describe
from hedgerow.expressions.types import Type
from hedgerow.plan.nodes import AggregateCall, Named
from hedgerow.privacy.distinct import Distinct, DistinctLevel
from hedgerow.privacy.keys import KeyRule
from hedgerow.privacy.plan import MarginalTable, PrivatePlan, PrivateStatement, SumForms, Terms
from hedgerow.privacy.precision import Grid
from hedgerow.privacy.ranks import Bucketing, Draw
from hedgerow.privacy.statement_sums import needed_sums, support_of
from hedgerow.privacy.sums import LevelSums, NoisySum, Selection
from hedgerow.recently_used import once_per_plan
from hedgerow.release.coarser import coarser_table
from hedgerow.release.estimate import Estimator
from hedgerow.release.noisy_table import NoisyTable
from hedgerow.release.ranks import RankColumn
from hedgerow.statistics.quantiles import Buckets, Reach

FORMAT = 3
HEADER = b"hedgerow"
TOTALS = b"hedgerow totals"
"""Metadata with the linear forms whose numbers are stored as they are shown; none in releases of earlier versions."""

SLACK = 1 + 1e-9
COST_SLACK = 1 + 1e-5
"""Ratio of costs up to which two releases cost the same: rounding noise to its lattice takes some millionths."""

RANK_COLUMNS = ("points", "lower", "upper")
LEVEL = 0.05


def dump_release(released: Sequence[NoisyTable], plans: Sequence[PrivatePlan], price: Spending | None = None) -> bytes:
    """Return all releases of a statement as bytes, each after its length; `price` is that of a batch of several."""
    return _joined(_dump_one(noisy, plan, price) for noisy, plan in zip(released, plans, strict=True))


def parts_of(payload: bytes, positions: Sequence[int]) -> bytes:
    """Some releases of a batch, as those of a statement of their own."""
    parts = list(_parts(payload))
    return _joined(parts[position] for position in positions)


def _joined(parts: Iterable[bytes]) -> bytes:
    return b"".join(len(part).to_bytes(8, "big") + part for part in parts)


def load_if_sufficient(
    payload: bytes, statement: PrivateStatement, *, any_mechanism: bool, identical: bool = False
) -> list[Estimator] | None:
    """The stored releases as an answer to `statement`; None if one of them does not contain it.

    With `identical` they were bought by the same question at the same stated price, and so are accurate enough, even
    where the price would buy another noise by now.
    """
    parts = list(_parts(payload))
    if len(parts) != len(statement.parts):
        return None
    pairs = zip(parts, statement.parts, strict=True)
    try:
        estimators = [_load_one(part, plan, any_mechanism=any_mechanism, identical=identical) for part, plan in pairs]
    except (pa.ArrowException, KeyError, TypeError, ValueError):
        return None  # written by another version of the program
    known = [estimator for estimator in estimators if estimator is not None]
    return known if len(known) == len(estimators) else None


@once_per_plan
def needs_name(statement: PrivateStatement) -> str:
    """A name for the needs of a statement's aggregates, whatever their order and post-processing."""
    needs = [sorted({need.stored_name for need in needed_sums(part.release)}) for part in statement.parts]
    return hashlib.sha256(repr(needs).encode()).hexdigest()


def asks_for_all(payload: bytes, statement: PrivateStatement) -> bool:
    """Return True if a stored release was charged for exactly the needs of `statement`."""
    headers = [json.loads(pa.ipc.open_stream(part).schema.metadata[HEADER]) for part in _parts(payload)]
    needed = [{need.stored_name for need in needed_sums(part.release)} for part in statement.parts]
    return [set(header["needs"]) for header in headers] == needed


def noisiness(known: Sequence[Estimator], statement: PrivateStatement) -> float:
    """Noise of stored releases as an answer to `statement`: the sum of the logarithms of their scales.

    Privacy: it is made of noise scales, which are public, and of no value.
    """
    pairs = [(estimator.plan, part) for estimator, part in zip(known, statement.parts, strict=True)]
    widths = [kept for old, new in pairs for i in range(len(new.sum_forms)) for kept, _ in _widths(old, new, i)]
    return math.fsum(math.log(width) for width in widths if width > 0)


def load_any(payload: bytes, statement: PrivateStatement) -> list[Estimator] | None:
    """The stored releases of the measures of `statement`, whatever their noise; None if one is missing."""
    parts = list(_parts(payload))
    if len(parts) != len(statement.parts):
        return None
    pairs = [_read(part, plan) for part, plan in zip(parts, statement.parts, strict=True)]
    known = [pair[1] for pair in pairs if pair is not None]
    return known if len(known) == len(pairs) else None


def known_sizes(payload: bytes, plan: PrivatePlan, beta: float) -> NDArray[np.float64] | None:
    """Lower ends, group by group, of a stored count of the rows that every measure of `plan` reads.

    Each fails with probability at most `beta`. None where no such count is stored.
    """
    supports = {support_of(need): None for need in needed_sums(plan.release) if need.kind is not Kind.UNITS}
    if len(supports) > 1:
        return None
    value, condition = next(iter(supports), (None, None))
    counted = AggregateCall(
        "", "COUNT", () if value is None else (value,), condition, distinct=False, type=Type.INTEGER
    )
    (stored,) = _parts(payload)
    pair = _read(stored, replace(plan, release=replace(plan.release, calls=(counted,)), sum_forms=(SumForms(),)))
    if pair is None:
        return None
    shown = pair[1].noisy.shown
    return np.maximum(pair[1].estimate(0, beta).lower[shown], 0.0)


def _parts(payload: bytes) -> Iterator[bytes]:
    offset = 0
    while offset < len(payload):
        size = int.from_bytes(payload[offset : offset + 8], "big")
        yield payload[offset + 8 : offset + 8 + size]
        offset += 8 + size


def _dump_one(noisy: NoisyTable, plan: PrivatePlan, price: Spending | None) -> bytes:
    """Return a release as an Arrow stream whose header describes the numbers."""
    columns = {f"key_{name}": noisy.keys.column(name) for name in noisy.keys.column_names}
    columns["shown"] = pa.array(noisy.shown)
    if noisy.counts is not None:
        columns["counts"] = pa.array(noisy.counts)
    columns |= {f"coordinate_{i}": pa.array(values) for i, values in enumerate(noisy.noisy_sums)}
    for i, rank in enumerate(noisy.ranks):
        columns |= {f"rank_{i}_{name}": pa.array(getattr(rank, name)) for name in RANK_COLUMNS}
    columns |= {f"distinct_{i}": pa.array(values) for i, values in enumerate(noisy.distinct)}
    for j, level in enumerate(noisy.levels):
        columns |= {f"level_{j}_{i}": pa.array(values) for i, values in enumerate(level)}
    columns |= {f"total_{i}": pa.array(values) for i, values in enumerate(noisy.totals.values())}
    header = _header(plan) if price is None else _priced_header(plan, price)
    totals = {TOTALS: json.dumps(list(noisy.totals))} if noisy.totals else {}
    table = pa.table(columns).replace_schema_metadata({HEADER: header, **totals})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _load_one(payload: bytes, plan: PrivatePlan, *, any_mechanism: bool, identical: bool) -> Estimator | None:
    """Return a stored release as an answer to `plan`; None if it does not contain one."""
    pair = _read(payload, plan)
    if pair is None:
        return None
    stored, known = pair
    alike = _alike(known.plan, plan) and (any_mechanism or stored["mechanism"] == plan.mechanism)
    enough = identical or _as_accurate(known.plan, plan) or _as_expensive(stored, plan)
    return known if alike and enough else None


def _alike(old: PrivatePlan, new: PrivatePlan) -> bool:
    """Return True if the stored release is of the wanted kind: moments, flows, and intervals as sure as wanted."""
    for kept, new_form in zip(old.sum_forms, new.sum_forms, strict=True):
        if kept.from_selection and not new_form.from_selection:
            return False
        if (kept.moments or kept.arms) and old.equal_noise != new.equal_noise:
            return False
        if kept.draw is not None and new_form.draw is not None and not _alike_draws(old, kept.draw, new, new_form.draw):
            return False
        if kept.distinct is not None and new_form.distinct is not None:
            chosen = old.distinct[kept.distinct], new.distinct[new_form.distinct]
            if chosen[1].flow and not chosen[0].flow:
                return False
    return True


def _alike_draws(old: PrivatePlan, kept: int, new: PrivatePlan, draws: int) -> bool:
    """Return True if a stored draw weighs the same, rows or people, with an interval that is as sure as wanted."""
    stored, wanted = old.draws[kept], new.draws[draws]
    by_person = [plan.bucketings[draw.bucketing].by_person for plan, draw in ((old, stored), (new, wanted))]
    return by_person[0] == by_person[1] and stored.beta <= wanted.beta * SLACK


def _read(payload: bytes, plan: PrivatePlan) -> tuple[dict[str, Any], Estimator] | None:
    """A stored release of the measures of `plan`, with its header; None if one is missing."""
    table = pa.ipc.open_stream(payload).read_all()
    stored = json.loads(table.schema.metadata[HEADER])
    measures = _stored_measures(stored, plan) if stored["format"] == FORMAT else None
    if measures is None:
        return None
    sum_forms, noisy_sums, selection = measures
    old = replace(plan, mechanism=stored["mechanism"], sum_forms=sum_forms, noisy_sums=noisy_sums, selection=selection)
    values = {r.draw: n.value for r, n in zip(sum_forms, needed_sums(plan.release), strict=True) if n.value is not None}
    draws, bucketings = read_draws(stored["draws"], values)
    levels = stored.get("distinct_levels", [[1, 1, False, None]] * len(stored["distinct"]))
    counted = tuple(_distinct(kept, level) for kept, level in zip(stored["distinct"], levels, strict=True))
    old = replace(old, draws=draws, bucketings=bucketings, distinct=counted, equal_noise=stored["equal_noise"])
    old = replace(
        old, levels=tuple(LevelSums(tuple(level["keys"]), _stored_sums(level)) for level in stored.get("levels", ()))
    )
    old = replace(old, marginal=_marginal(*stored["marginal"]) if "marginal" in stored else None)
    return _of_keys(stored, table, Estimator(_noisy(table, len(draws), old), old))


def _of_keys(stored: dict[str, Any], table: pa.Table, known: Estimator) -> tuple[dict[str, Any], Estimator] | None:
    """Return a stored release grouped by the keys of the question, which may be some of the release's own keys."""
    if "groups" not in stored or known.plan.made_of is not None:
        return stored, known
    wanted = [_key_name(key.expr) for key in known.plan.release.keys]
    if not set(wanted) <= set(stored["groups"]):
        return None
    positions = tuple(stored["groups"].index(name) for name in wanted)
    names = [name.removeprefix("key_") for name in table.column_names if name.startswith("key_")]
    keys = tuple(Named(name, Column(name, Type.TEXT)) for name in names)
    finest = replace(known.plan, release=replace(known.plan.release, keys=keys))
    return stored, coarser_table(Estimator(known.noisy, finest), replace(known.plan, made_of=positions))


def _marginal(sizes: list[int], variances: list[list[Any]], *others: bool) -> MarginalTable:
    """Return a stored table; earlier versions did not say whether it adds up, and called it so."""
    by_sum = tuple(tuple((tuple(keys), float(variance)) for keys, variance in one) for one in variances)
    return MarginalTable(tuple(sizes), by_sum, adds_up=all(others))


def _stored_measures(
    stored: dict[str, Any], plan: PrivatePlan
) -> tuple[tuple[SumForms, ...], tuple[NoisySum, ...], Selection | None] | None:
    """Forms for the new statement's aggregates over the stored noisy_sums; None where one is missing."""
    sum_forms = []
    for need in needed_sums(plan.release):
        kept = stored["needs"].get(need.stored_name)
        if kept is None:
            return None
        sum_forms.append(_sum_forms(kept))
    return tuple(sum_forms), _stored_sums(stored), _selection(stored["selection"])


def _stored_sums(stored: dict[str, Any]) -> tuple[NoisySum, ...]:
    """The noisy sums of a stored release, or of one level of it."""
    return tuple(
        NoisySum(c["label"], (), 1, _noise(c["noise"]), 1.0, 0, c["sensitivity"], c["unit"])
        for c in stored["coordinates"]
    )


def _as_accurate(old: PrivatePlan, new: PrivatePlan) -> bool:
    """Return True if no number has more noise, and no key a higher threshold, than in the statement's own release."""
    tested = new.keys.rule is not KeyRule.ONE and new.selection is not None
    if tested and (old.selection is None or old.selection.threshold > new.selection.threshold * Fraction(SLACK)):  # type: ignore[union-attr]
        return False
    pairs = [(a, b) for i in range(len(new.sum_forms)) for a, b in _widths(old, new, i)]
    return all(kept <= wanted * SLACK for kept, wanted in pairs)


def _as_expensive(stored: dict[str, Any], new: PrivatePlan) -> bool:
    """Return True if the stored release spent at least as much, on the same kind of noise; or its whole batch did.

    A table that is measured together with others has no cost of its own, so that only prices of batches compare.
    """
    epsilon, delta = stored.get("price", (0.0, 0.0))
    if epsilon * SLACK >= new.charge.epsilon and delta * SLACK >= new.charge.delta:
        return True
    if new.marginal is not None and not new.measuring:
        return False
    spent = Fraction(stored["noise_cost"])
    return stored["mechanism"] == new.mechanism and spent * Fraction(COST_SLACK) >= _noise_cost(new)


def _noise_cost(plan: PrivatePlan) -> Fraction:
    cost = plan.charge.cost
    return cost.pure if plan.mechanism == "laplace" else cost.gaussian


def _widths(old: PrivatePlan, new: PrivatePlan, index: int) -> list[tuple[float, float]]:
    """Noise of aggregate number `index` in both releases; for moments, that of every sum."""
    if not new.sum_forms[index].moments:
        return [(_width(old, index), _width(new, index))]
    kept = dict(old.sum_forms[index].moments)
    return [(_width_of(old, kept[monomial]), _width_of(new, terms)) for monomial, terms in new.sum_forms[index].moments]


def _width(plan: PrivatePlan, index: int) -> float:
    sum_form = plan.sum_forms[index]
    if sum_form.draw is not None:
        return 1.0 / float(plan.draws[sum_form.draw].epsilon)
    if sum_form.distinct is not None:
        return half_width([(1.0, plan.distinct[sum_form.distinct].noise)], LEVEL)
    if sum_form.from_selection and plan.selection is not None:
        return half_width([(1.0, plan.selection.noise)], LEVEL)
    if sum_form.arms:
        return _width_of(plan, dict(sum_form.arms[0])[1, 0]) * sum_form.half
    if sum_form.centred:
        return _width_of(plan, sum_form.centred) * sum_form.half
    return _width_of(plan, sum_form.total or sum_form.count or sum_form.cells[0])


def _width_of(plan: PrivatePlan, terms: Terms) -> float:
    return half_width([(c, plan.noisy_sums[i].noise) for i, c in terms], LEVEL)


@once_per_plan
def _header(plan: PrivatePlan) -> bytes:
    return json.dumps(_describe(plan)).encode()


def _priced_header(plan: PrivatePlan, price: Spending) -> bytes:
    """The header of a part of a batch, with the price of all of it; and its keys, if tables by some of them follow."""
    groups = {} if plan.made_of is None else {"groups": [_key_name(key.expr) for key in plan.release.keys]}
    return json.dumps({**_describe(plan), "price": [price.epsilon, price.delta], **groups}).encode()


def _key_name(expr: Expr) -> str:
    return hashlib.sha256(repr(expr).encode()).hexdigest()[:32]


def _describe(plan: PrivatePlan) -> dict[str, Any]:
    needs = {
        need.stored_name: {name.name: getattr(r, name.name) for name in fields(r)}
        for need, r in zip(needed_sums(plan.release), plan.sum_forms, strict=True)
    }
    chosen, table = plan.selection, plan.marginal
    return {
        "format": FORMAT,
        "mechanism": plan.mechanism,
        "noise_cost": str(_noise_cost(plan)),
        "needs": needs,
        "draws": [_describe_draw(draw, plan.bucketings[draw.bucketing]) for draw in plan.draws],
        "equal_noise": plan.equal_noise,
        "distinct": [
            [describe(count.value), *_noise_fields(count.noise), count.whole, count.flow] for count in plan.distinct
        ],
        "distinct_levels": [
            [*astuple(count.level), count.ceiling if math.isfinite(count.ceiling) else None] for count in plan.distinct
        ],
        "coordinates": _coordinates(plan.noisy_sums),
        "levels": [{"keys": level.keys, "coordinates": _coordinates(level.noisy_sums)} for level in plan.levels],
        **({} if table is None else {"marginal": [table.sizes, table.variances, table.adds_up]}),
        "selection": None
        if chosen is None
        else {"noise": _noise_fields(chosen.noise), "threshold": str(chosen.threshold), "minimum": chosen.minimum},
    }


def _coordinates(noisy_sums: Sequence[NoisySum]) -> list[dict[str, Any]]:
    return [
        {"label": c.label, "noise": _noise_fields(c.noise), "sensitivity": c.sensitivity, "unit": c.unit}
        for c in noisy_sums
    ]


def _sum_forms(kept: dict[str, Any]) -> SumForms:
    forms = {name: _terms(kept[name]) for name in ("count", "total", "centred")}
    moments, arms = _moments(kept["moments"]), tuple(_moments(arm) for arm in kept.get("arms", ()))
    cells = tuple(_terms(terms) for terms in kept["cells"])
    others = {name: tuple(kept.get(name, ())) for name in ("ends", "distinct_levels")}
    return SumForms(**{**kept, **forms, **others, "moments": moments, "arms": arms, "cells": cells})


def _moments(kept: list[Any]) -> tuple[tuple[tuple[int, int], Terms], ...]:
    return tuple(((int(i), int(j)), _terms(terms)) for (i, j), terms in kept)


def _terms(kept: Sequence[Sequence[float]]) -> Terms:
    return tuple((int(index), float(coefficient)) for index, coefficient in kept)


def _distinct(kept: list[Any], level: list[Any]) -> Distinct:
    """Return a stored count of distinct values; earlier versions said nothing about its bound and its ceiling."""
    named, *noise, whole, flow = kept
    *bound, ceiling = level
    return Distinct(
        Column(named, Type.TEXT), None, DistinctLevel(*bound), flow, whole, _noise(noise), 1.0, 0, ceiling or math.inf
    )


def _noise_fields(noise: Noise) -> list[Any]:
    return ["gaussian", noise.sigma] if isinstance(noise, Gaussian) else ["laplace", noise.scale, noise.step]


def _noise(fields: list[Any]) -> Noise:
    return Gaussian(fields[1]) if fields[0] == "gaussian" else Laplace(fields[1], fields[2])


def _selection(kept: dict[str, Any] | None) -> Selection | None:
    if kept is None:
        return None
    return Selection(_noise(kept["noise"]), 1.0, 0, Fraction(kept["threshold"]), kept["minimum"], Fraction(0))


def _noisy(table: pa.Table, draws: int, plan: PrivatePlan) -> NoisyTable:
    names = [name for name in table.column_names if name.startswith("key_")]
    keys = table.select(names).rename_columns([name.removeprefix("key_") for name in names]).replace_schema_metadata()
    shown = np.asarray(table.column("shown").to_numpy()).astype(bool)
    counts = _floats(table, "counts") if "counts" in table.column_names else None
    many = range(len(plan.noisy_sums))
    values = tuple(_floats(table, f"coordinate_{i}") for i in many)
    ranks = tuple(RankColumn(*(_floats(table, f"rank_{i}_{name}") for name in RANK_COLUMNS)) for i in range(draws))
    counted = tuple(_floats(table, f"distinct_{i}") for i in range(len(plan.distinct)))
    levels = tuple(tuple(_floats(table, f"level_{j}_{i}") for i in many) for j in range(len(plan.levels)))
    forms = map(_terms, json.loads(table.schema.metadata.get(TOTALS, b"[]")))
    totals = {terms: _floats(table, f"total_{i}") for i, terms in enumerate(forms)}
    return NoisyTable(keys, shown, counts, values, ranks, counted, levels, totals=totals)


def _floats(table: pa.Table, name: str) -> "np.ndarray[Any, np.dtype[np.float64]]":
    return np.asarray(table.column(name).to_numpy(), dtype=float)


def read_draws(
    kept: Sequence[Mapping[str, Any]], values: Mapping[int | None, Expr]
) -> tuple[tuple[Draw, ...], tuple[Bucketing, ...]]:
    """The draws, each with a bucketing of its own; `values` are those that a statement asks for, by draw."""
    draws, bucketings = [], []
    for index, one in enumerate(kept):
        rank = Rank(Fraction(one["quantile"]), one["extreme"], one["aside"])
        draws.append(Draw(index, rank, Fraction(one["epsilon"]), Reach(*one["reach"]), one["beta"]))
        # A draw that the statement does not ask for keeps only the name of its value.
        value = values.get(index) or Column(one["named"], Type.FLOAT)
        grid, buckets = Grid(*one["grid"]), Buckets(*one["buckets"])
        bucketings.append(Bucketing(value, None, grid, buckets, one.get("by_person", False)))
    return tuple(draws), tuple(bucketings)


def _describe_draw(draw: Draw, bucketing: Bucketing) -> dict[str, Any]:
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
