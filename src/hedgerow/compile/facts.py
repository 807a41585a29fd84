"""Cheaper statements for rows that cannot change, where the owners beyond a limit are known.

An owner who is within every limit over all rows of FROM is within them over any part of these rows: with fewer rows,
no pair of owner and key gets larger, and no owner touches more keys. So it has the full weight and counts in each of
its keys, whatever WHERE and whatever keys are selected (docs/proofs/weights.md). The sums over such owners are plain
sums, times 2^b. The other owners, usually none or few, go through the steps of `weights`, and sums of integers add up.

The facts are small tables:

    heavy   the owners beyond a limit, over all rows of FROM.
    codes   the keys of all rows of FROM, each with one bit of a 64-bit integer: the keys of an owner are then the
            bitwise OR of the bits of its rows, and no pairs of owner and key are made to count people per key.
    blocks  one row for each key and block of 2^16 consecutive owners that occur together in FROM. If they are few, the
            owners of a key are counted as the bits of one string of bits for each block.
    people  the number of owners of each key, over all rows of FROM: a statement without WHERE need not count them.
    strays  a row, if some row of FROM does not lead to exactly one owner along its path (`paths`).

One more fact is as long as a table: its owner column, which replaces the path to the owner (`paths`).

Privacy: all forms of a statement return the same keys and the same integers, so what is released does not depend on
which of them runs. Facts never leave the backend. How long a statement takes may tell of them (SECURITY.md).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import Protocol

import pyarrow as pa

from hedgerow.compile.caps import Names, most_size, owner_size, people, same
from hedgerow.compile.crowded import heavy_steps, joins_heavy
from hedgerow.compile.paths import beside_owners, strays, without_path
from hedgerow.compile.queries import BesideOwners
from hedgerow.compile.rows import ROWS, RowForm, form_of, key_columns, rows_clause, rows_steps, summed
from hedgerow.compile.scalars import present, scalar
from hedgerow.compile.weights import WEIGHTED, weighing
from hedgerow.compiled import (
    BIT,
    CODES,
    HEAVY,
    MOST_BLOCKS,
    MOST_CODES,
    MOST_COUNTED,
    MOST_HEAVY,
    PEOPLE,
    UNITS,
    Query,
    Shortcut,
    arrow_type,
)
from hedgerow.dialects import Dialect, is_bytewise
from hedgerow.dialects.statement import Step
from hedgerow.expressions.nodes import Column, Expr
from hedgerow.expressions.types import Type
from hedgerow.plan.nodes import scans_of
from hedgerow.privacy.plan import PrivatePlan
from hedgerow.privacy.sums import ExactSum

Weigh = Callable[[PrivatePlan, Dialect, str, Names, str | None], list[Step]]
"""A function that writes the steps from rows to weighted sums: `weights.weighing`, or one that relies on facts."""


class Write(Protocol):
    """A function that writes a whole statement with such steps; with `proof`, it also returns their column `beyond`."""

    def __call__(self, plan: PrivatePlan, weigh: Weigh, *, proof: bool = False) -> Query:
        """Write the statement."""


HEAVY_ROWS, LIGHT_ROWS = "heavy_rows", "light_rows"
BEYOND, WITHIN = "beyond", "within"
BLOCK, PARTS = "block", "blocks"


class Counting(Enum):
    """Source of the number of owners of each key: rows, or a fact that has all keys."""

    PAIRS = "pairs"
    CODES = "codes"
    BLOCKS = "blocks"
    PEOPLE = "people"


def with_shortcut(plan: PrivatePlan, dialect: Dialect, write: Write, *, surveys: bool) -> Query:
    """Return a statement with its cheaper forms, if owners can be kept as a fact.

    `surveys` is False for the statement over the selected keys, in which people are not tested.
    """
    query = write(plan, weighing)
    if not _is_kept(plan.release.owner, dialect):
        return query
    tested, counted = surveys and plan.selection is not None, counts_people(plan, surveys=surveys)
    coded = dialect.codes and surveys and counted and form_of(plan, dialect) is not RowForm.EARLY
    coded = coded and bool(plan.release.keys) and not isinstance(plan.release.source, BesideOwners)
    blocked = dialect.blocks and counted and plan.release.owner.type is Type.INTEGER
    ownerless = None if counted else without_path(plan)
    beside = beside_owners(plan, dialect)
    unfiltered = surveys and counted and not plan.release.where

    def form(over: PrivatePlan, counting: Counting = Counting.PAIRS, *, heavy: bool = False) -> Query:
        return write(over, partial(_known, known=_Known(heavy, counting, tested)))

    shortcut = Shortcut(
        tables=tuple(dict.fromkeys(scan.table for scan in scans_of(plan.release))),
        reads_all=not plan.release.where,
        heavy=_heavy(plan, dialect),
        codes=_codes(plan, dialect) if coded else None,
        blocks=_blocks(plan, dialect) if blocked else None,
        people=_people(plan, dialect) if unfiltered else None,
        strays=None if ownerless is None else strays(plan.release, ownerless.release.source, dialect),
        within=form(plan),
        within_coded=form(plan, Counting.CODES) if coded else None,
        within_blocked=form(plan, Counting.BLOCKS) if blocked else None,
        within_counted=form(plan, Counting.PEOPLE) if unfiltered else None,
        apart=form(plan, heavy=True),
        apart_coded=form(plan, Counting.CODES, heavy=True) if coded else None,
        apart_blocked=form(plan, Counting.BLOCKS, heavy=True) if blocked else None,
        apart_counted=form(plan, Counting.PEOPLE, heavy=True) if unfiltered and joins_heavy(plan, dialect) else None,
        ownerless=None if ownerless is None else form(ownerless),
        owners=None if beside is None else beside[1],
        owned=None if beside is None else with_shortcut(beside[0], dialect, write, surveys=surveys),
    )
    return replace(query, shortcut=shortcut)


def counts_people(plan: PrivatePlan, *, surveys: bool) -> bool:
    """Return True if the number of owners is needed, to test it or as a measure."""
    return (surveys and plan.selection is not None) or bool(people(plan))


def _is_kept(owner: Expr, dialect: Dialect) -> bool:
    """Return True if owners that leave the engine and come back are the same owners: whole numbers and plain text.

    A value that is not what its column promises is seen when it is read (`backends.facts`).
    """
    if not isinstance(owner, Column):
        return False
    without_length = owner.native.upper().partition("(")[0]
    is_plain_text = owner.type is Type.TEXT and is_bytewise(owner) and without_length in dialect.plain_texts
    return owner.type is Type.INTEGER or is_plain_text


# The facts


def _whole(plan: PrivatePlan, *, keyed: bool) -> PrivatePlan:
    """Return the plan over all rows of FROM, with or without its keys."""
    release = plan.release
    return replace(plan, release=replace(release, where=(), keys=release.keys if keyed else ()))


def _heavy(plan: PrivatePlan, dialect: Dialect) -> Query:
    """Return the query for the owners beyond a limit.

    Where the number of rows is the only limit, keys do not matter, and one fact serves all of them: an owner with at
    most R rows has at most R in a key, in at most R keys.
    """
    bounding, keyed, declared = plan.bounding, bool(plan.release.keys), plan.release.limits.max_rows
    per_group = bounding.rows_per_group if summed(plan) else bounding.rows
    maximum = min(bounding.rows, per_group, bounding.groups if keyed else bounding.rows)
    owner = f"{scalar(plan.release.owner, dialect)} AS o"
    if not keyed or declared is None or maximum >= declared:
        rows = f"SELECT {owner} {rows_clause(_whole(plan, keyed=False), dialect)}"
        beyond = f"{dialect.count()} > {maximum}"
        sql = f"SELECT o FROM ({rows}) AS {ROWS}{dialect.group_by(['o'])} HAVING {beyond}"
    else:
        whole = _whole(plan, keyed=True)
        names = [named.name for named in plan.release.keys]
        rows = f"SELECT {', '.join([*key_columns(whole, dialect), owner])} {rows_clause(whole, dialect)}"
        pairs = f"SELECT {', '.join([*names, 'o'])}, {dialect.count()} AS n FROM ({rows}) AS {ROWS}"
        parts = f"{pairs}{dialect.group_by([*names, 'o'])}"
        beyond = f"{dialect.count()} > {bounding.groups} OR {dialect.total(owner_size(plan))} > {most_size(plan)}"
        if summed(plan):
            beyond += f" OR MAX(n) > {bounding.rows_per_group}"
        sql = f"SELECT o FROM ({parts}) AS parts{dialect.group_by(['o'])} HAVING {beyond}"
    return Query(sql + dialect.tail([], MOST_HEAVY + 1, 0), ("o",), (), (arrow_type(plan.release.owner),))


def _codes(plan: PrivatePlan, dialect: Dialect) -> Query:
    """Return the query for the keys, each with a bit of its own; the bit of the last one still fits."""
    whole = _whole(plan, keyed=True)
    keys = f"SELECT DISTINCT {', '.join(key_columns(whole, dialect))} {rows_clause(whole, dialect)}"
    names = tuple(named.name for named in plan.release.keys)
    numbered = f"SELECT {', '.join(names)}, {dialect.bit('ROW_NUMBER() OVER () - 1')} AS {BIT}"
    sql = f"{numbered} FROM ({keys}{dialect.tail([], MOST_CODES + 1, 0)}) AS found"
    return Query(sql, names, (BIT,), tuple(arrow_type(named.expr) for named in plan.release.keys))


def _blocks(plan: PrivatePlan, dialect: Dialect) -> Query:
    """Return the query for the keys, each with the blocks of its owners."""
    whole = _whole(plan, keyed=True)
    block = f"{dialect.block(scalar(plan.release.owner, dialect))} AS {BLOCK}"
    pairs = f"SELECT DISTINCT {', '.join([*key_columns(whole, dialect), block])} {rows_clause(whole, dialect)}"
    sql = f"SELECT {BLOCK} FROM ({pairs}{dialect.tail([], MOST_BLOCKS + 1, 0)}) AS found"
    return Query(sql, (BLOCK,), (), (pa.int64(),))


def _people(plan: PrivatePlan, dialect: Dialect) -> Query:
    """Return the query for the number of owners of each key; without keys, of all owners."""
    names = {named.name: named.expr.type for named in plan.release.keys}
    steps = [*rows_steps(replace(plan, sums=()), dialect), *_people_by_pair(dialect, ROWS, names)]
    counts = f"SELECT {', '.join([*names, 'owners'])} FROM persons{dialect.tail([], MOST_COUNTED + 1, 0)}"
    types = tuple(arrow_type(named.expr) for named in plan.release.keys)
    statement = dialect.statement(steps, counts)
    return Query(dialect.statement_text(statement), tuple(names), ("owners",), types, statement=statement)


# The statements


@dataclass(frozen=True)
class _Known:
    """The facts that a statement relies on.

    `heavy` says that `hedgerow_heavy` has owners, and `tested` that the number of owners is read.
    """

    heavy: bool
    counting: Counting
    tested: bool


def _known(
    plan: PrivatePlan, dialect: Dialect, rows: str, names: Names, nonce: str | None = None, *, known: _Known
) -> list[Step]:
    """Steps from `rows` to `weighted`, as `weights.weighing` returns them."""
    if not known.heavy:
        return _plain_sums(plan, dialect, rows, names, WEIGHTED, known, bounded=nonce is not None)
    if joins_heavy(plan, dialect):
        tested, known_people = known.tested, known.counting is Counting.PEOPLE
        return heavy_steps(plan, dialect, rows, names, nonce, WEIGHTED, tested=tested, known_people=known_people)
    is_heavy = dialect.is_listed(f"{rows}.o", HEAVY, "o")
    if isinstance(plan.release.source, BesideOwners):  # DuckDB estimates no rows for them, and would hash them all
        is_heavy = f"CASE WHEN {rows}.o IN (SELECT o FROM {HEAVY}) THEN TRUE ELSE FALSE END"
    keys = "".join(f"{name}, " for name in names)
    numbers = ["owners", *([UNITS] if nonce is not None else []), *(f"s{i}" for i in range(len(plan.sums)))]
    added = ", ".join(f"{dialect.wide_total(name)} AS {name}" for name in numbers)
    wide = ", ".join(f"CAST({name} AS {dialect.huge}) AS {name}" for name in numbers)
    both = " UNION ALL ".join(f"SELECT {keys}{wide} FROM {step}" for step in (BEYOND, WITHIN))
    return [
        dialect.step(HEAVY_ROWS, f"SELECT * FROM {rows} WHERE {is_heavy}", once=True),
        dialect.step(LIGHT_ROWS, f"SELECT * FROM {rows} WHERE NOT {is_heavy}", once=False),
        *weighing(plan, dialect, HEAVY_ROWS, names, nonce, result=BEYOND),
        *_plain_sums(plan, dialect, LIGHT_ROWS, names, WITHIN, known, bounded=nonce is not None),
        dialect.step(
            WEIGHTED, f"SELECT {keys}{added} FROM ({both}) AS both_kinds{dialect.group_by(list(names))}", once=False
        ),
    ]


def _plain_sums(
    plan: PrivatePlan, dialect: Dialect, rows: str, names: Names, result: str, known: _Known, *, bounded: bool
) -> list[Step]:
    """Steps from the rows of owners within all limits to `result`: each has the full weight, and counts everywhere."""
    keys = "".join(f"{name}, " for name in names)
    sums = "".join(f", {plain_sum(i, total, plan, dialect)} AS s{i}" for i, total in summed(plan))
    if not known.tested and not people(plan):
        query = f"SELECT {keys}0 AS owners{sums} FROM {rows}{dialect.group_by(list(names))}"
        return [dialect.step(result, query, once=False)]
    counted = f", owners AS {UNITS}" if bounded else ""
    counted += "".join(f", {_full('owners', plan, dialect)} AS s{i}" for i in people(plan))
    shown = "".join(f", s{i}" for i, _ in summed(plan))
    if known.counting is Counting.BLOCKS:
        query = f"SELECT {keys}owners{counted}{shown} FROM persons"
        return [*_people_by_block(plan, dialect, rows, names, sums), dialect.step(result, query, once=False)]
    steps = _people_by_pair(dialect, rows, names)
    if known.counting is Counting.CODES:
        steps = _people_by_code(dialect, rows, names)
    if known.counting is Counting.PEOPLE:
        steps = [dialect.step("persons", f"SELECT {keys}owners FROM {PEOPLE}", once=False)]
    if not summed(plan):
        return [*steps, dialect.step(result, f"SELECT {keys}owners{counted} FROM persons", once=False)]
    named = "".join(f"plain.{name} AS {name}, " for name in names)
    kind, match = ("inner", same("plain", "persons", names, dialect)) if names else ("cross", None)
    query = f"SELECT {named}owners{counted}{shown} FROM {dialect.join('plain', kind, 'persons', match)}"
    columns = f"{keys}{sums.removeprefix(', ')}"
    return [
        *steps,
        dialect.step("plain", f"SELECT {columns} FROM {rows}{dialect.group_by(list(names))}", once=False),
        dialect.step(result, query, once=False),
    ]


def plain_sum(index: int, total: ExactSum, plan: PrivatePlan, dialect: Dialect) -> str:
    """Return a sum over rows at the full weight."""
    if form_of(plan, dialect) is RowForm.EARLY:
        text = dialect.wide_total(f"p{index}")
    elif total.grid is not None:
        text = dialect.bounded_total(f"x{index}", total.reach)
    else:
        text = dialect.count("*" if present(total, dialect) is None else f"x{index}")
    return _full(text, plan, dialect)


def _full(text: str, plan: PrivatePlan, dialect: Dialect) -> str:
    """Return a sum times the full weight, in 128 bits; 0 over no rows."""
    return dialect.weighed(f"COALESCE(CAST({text} AS {dialect.huge}), 0)", 1 << plan.weight_bits, "0")


def _people_by_pair(dialect: Dialect, rows: str, names: Names) -> list[Step]:
    """Return the step `persons`: the number of owners of each key, from all pairs of owner and key."""
    keys = "".join(f"{name}, " for name in names)
    pairs = f"SELECT {keys}o FROM {rows}{dialect.group_by([*names, 'o'])}"
    query = f"SELECT {keys}{dialect.count()} AS owners FROM ({pairs}) AS pairs{dialect.group_by(list(names))}"
    return [dialect.step("persons", query, once=False)]


def _people_by_block(plan: PrivatePlan, dialect: Dialect, rows: str, names: Names, sums: str) -> list[Step]:
    """Return the step `persons` with the sums: each block of owners of a key has a string of bits, one for an owner.

    Every owner is in one block, so the owners of a key are those of its blocks, and so are its rows.
    """
    keys = "".join(f"{name}, " for name in names)
    counted = f"{dialect.block('o')} AS {BLOCK}, {dialect.owners_in_block('o')} AS owners{sums}"
    added = f"COALESCE({dialect.total('owners')}, 0) AS owners"
    added += "".join(f", COALESCE({dialect.wide_total(f's{i}')}, 0) AS s{i}" for i, _ in summed(plan))
    return [
        dialect.step(PARTS, f"SELECT {keys}{counted} FROM {rows}{dialect.group_by([*names, BLOCK])}", once=False),
        dialect.step("persons", f"SELECT {keys}{added} FROM {PARTS}{dialect.group_by(list(names))}", once=False),
    ]


def _people_by_code(dialect: Dialect, rows: str, names: Names) -> list[Step]:
    """Return the step `persons`: the number of owners of each key, from the set of keys of each owner."""
    keyed = f"{rows} JOIN {CODES} ON {same(rows, CODES, names, dialect)}"
    masks = f"SELECT o, {dialect.bit_or(BIT)} AS mask FROM {keyed}{dialect.group_by(['o'])}"
    counts = f"SELECT mask, {dialect.count()} AS n FROM masks{dialect.group_by(['mask'])}"
    listed = [f"{CODES}.{name}" for name in names]
    keys = "".join(f"{column} AS {name}, " for column, name in zip(listed, names, strict=True))
    matched = f"{CODES} JOIN sets ON {dialect.has_bit('mask', BIT)}"
    query = f"SELECT {keys}{dialect.total('n')} AS owners FROM {matched}{dialect.group_by(listed)}"
    return [
        dialect.step("masks", masks, once=False),
        dialect.step("sets", counts, once=False),
        dialect.step("persons", query, once=False),
    ]
