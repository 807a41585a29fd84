"""Running the statements of a release, in order, and adding noise to their results.

Facts about rows that cannot change allow cheaper forms of a statement; the cheapest one runs.

Privacy: facts are read and computed after the charge, like all rows. All forms of a statement return the same keys and
integers, and which of them runs is visible in nothing but time.
"""

from collections.abc import Hashable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.accounting.budget import Receipt
from hedgerow.backends import Backend, Snapshot
from hedgerow.compile import program
from hedgerow.compiled import (
    BLOCKS,
    CODES,
    HEAVY,
    KEY_INDEX,
    MOST_BLOCKS,
    MOST_CODES,
    MOST_COUNTED,
    MOST_HEAVY,
    PEOPLE,
    SELECTED,
    Program,
    Query,
    Shortcut,
)
from hedgerow.dialects import DUCKDB, Dialect
from hedgerow.errors import BackendError, InternalError
from hedgerow.expressions.types import Type
from hedgerow.plan.nodes import Release, rewrite, scans_of
from hedgerow.privacy.plan import PrivatePlan, PrivateStatement
from hedgerow.recently_used import once_per_plan
from hedgerow.release import (
    NoisyTable,
    count_values,
    covers_every_key,
    draw_ranks,
    in_order,
    measure,
    measure_together,
    nonce,
    select_keys,
    with_totals,
)
from hedgerow.schema import SchemaTable

STRAYS = "hedgerow_strays"


ORDINARY = "ordinary"

Sealed = Any
"""An exact table: it passes through here, and only `release` opens it."""

PLACEHOLDER = nonce()
"""Nonce of statements that are kept. Nobody can guess it, so no constant of a statement contains it."""


def keeps_facts(backend: Backend, release: Release) -> bool:
    """Return True if a backend can know that the rows of the tables of a release did not change. It reads no row."""
    return hasattr(backend, "keeps_facts") and backend.keeps_facts({scan.table for scan in scans_of(release)})


def fixes_rows(backend: Backend, release: Release) -> bool:
    """Return True if a transaction of a backend reads the same rows of these tables in all its statements."""
    return hasattr(backend, "stores") and backend.stores({scan.table for scan in scans_of(release)})


def run_cheapest(query: Query, snapshot: Any) -> Any:  # noqa: ANN401 - an exact table: only `release` opens it
    """Run the cheapest form of a statement that is allowed; if rows have changed meanwhile, the statement itself."""
    shortcut, state_of = query.shortcut, getattr(snapshot, "state", None)
    state = None if shortcut is None or state_of is None else state_of(shortcut.tables)
    if shortcut is None or state_of is None or state is None:
        return _run_optimistic(query, snapshot)
    form = _cheapest(shortcut, snapshot, state)
    if form is None:
        return _run_optimistic(query, snapshot)
    exact = None if form == "ownerless" else _run_beside_owners(shortcut, form, snapshot, state)
    if exact is None and form == ORDINARY:
        return snapshot.run(query)
    if exact is None:
        exact = snapshot.run_known(getattr(shortcut, form), state)
    if state_of(shortcut.tables) == state:
        return exact
    snapshot.facts.forget(state)
    if shortcut.owners is not None:
        snapshot.forget_owners(shortcut.owners, state)
    return snapshot.run(query)


def _run_optimistic(query: Query, snapshot: Any) -> Any:  # noqa: ANN401 - an exact table: only `release` opens it
    """Run a statement without facts: its short form where no row can change, and itself if that proves nothing."""
    is_fixed = getattr(snapshot, "is_fixed", None)
    if query.optimistic is None or is_fixed is None or not is_fixed(query.optimistic.tables):
        return snapshot.run(query)
    exact = snapshot.run_optimistic(query.optimistic.query)
    return snapshot.run(query) if exact is None else exact


def _run_beside_owners(shortcut: Shortcut, form: str, snapshot: Any, state: Hashable) -> Any:  # noqa: ANN401 - likewise
    """Run a form that reads the owner column in place of the path; None if there is none, or it cannot be used."""
    owned = shortcut.owned
    if shortcut.owners is None or owned is None or not snapshot.load_owners(shortcut.owners, state):
        return None
    query = owned if form == ORDINARY else getattr(owned.shortcut, form.removesuffix("_coded"))
    return snapshot.run_beside(query, shortcut.owners, state)


def _cheapest(shortcut: Shortcut, snapshot: Any, state: Hashable) -> str | None:  # noqa: ANN401 - an engine that keeps facts
    """Return the name of the cheapest form that the facts allow; they are computed when they are first needed.

    None if it is not known yet who is beyond a limit.
    """

    def rows(name: str, fact: Query) -> int | None:
        number: int | None = snapshot.fact(name, fact, state, at_once=shortcut.reads_all)
        return number

    heavy = rows(HEAVY, shortcut.heavy)
    if heavy is None or heavy > MOST_HEAVY:
        return None if heavy is None else ORDINARY
    if heavy == 0 and shortcut.ownerless is not None and shortcut.strays is not None:
        return "ownerless" if rows(STRAYS, shortcut.strays) == 0 else "within"
    kind = "apart" if heavy else "within"
    if getattr(shortcut, f"{kind}_counted") is not None and shortcut.people is not None:
        counted = rows(PEOPLE, shortcut.people)
        if counted is not None and counted <= MOST_COUNTED:
            return f"{kind}_counted"
    if shortcut.blocks is not None:
        blocks = rows(BLOCKS, shortcut.blocks)
        if blocks is None or blocks <= MOST_BLOCKS:
            return kind if blocks is None else f"{kind}_blocked"
    if shortcut.codes is None:
        return kind
    keys = rows(CODES, shortcut.codes)
    return kind if keys is None or keys > MOST_CODES else f"{kind}_coded"


def compile_steps(statement: PrivateStatement, backend: Backend) -> list[Program]:
    """Compile the SQL of all releases, each under a fresh nonce."""
    programs = [
        _compiled(
            part,
            backend.dialect,
            shortcuts=keeps_facts(backend, part.release),
            fixed=fixes_rows(backend, part.release),
        )
        for part in statement.parts
    ]
    return [_under(nonce(), compiled) for compiled in programs]


@once_per_plan
def _compiled(part: PrivatePlan, dialect: Dialect, *, shortcuts: bool, fixed: bool) -> Program:
    return program(part, dialect, PLACEHOLDER, shortcuts=shortcuts, fixed=fixed)


def _under(fresh: str, compiled: Program) -> Program:
    """Return a program with a fresh nonce in all its texts."""
    named = _parts_with_nonce(compiled)

    def swap(part: object) -> object | None:
        if id(part) not in named:
            return part
        return part.replace(PLACEHOLDER, fresh) if isinstance(part, str) else None

    return rewrite(compiled, swap)


@once_per_plan
def _parts_with_nonce(compiled: Program) -> frozenset[int]:
    """Return the identities of the parts of a program in which the placeholder occurs: few of many statements."""
    named: set[int] = set()

    def occurs(part: object) -> bool:
        fields_of = fields(part) if is_dataclass(part) else ()
        parts = part if isinstance(part, tuple) else [getattr(part, field.name) for field in fields_of]
        in_parts = [occurs(one) for one in parts]
        here = any(in_parts) or (isinstance(part, str) and PLACEHOLDER in part)
        if here:
            named.add(id(part))
        return here

    occurs(compiled)
    return frozenset(named)


def require_readable(
    snapshot: Snapshot, backend: Backend, declared: Sequence[SchemaTable], known: set[Hashable]
) -> None:
    """Refuse, before anything is charged, tables that changed since binding or that cannot be read.

    A table of DuckDB whose rows cannot change while the connection is open (`state`) is read once in each state;
    `known` has the names and states of those that could be read. Elsewhere the state costs as much as reading.

    Privacy: it compares declarations, and runs statements that no row satisfies: whether they fail depends on names,
    permissions and the connection, never on rows.
    """
    is_duckdb = backend.dialect.name == DUCKDB.name
    if backend.handed_in or not is_duckdb:
        _unchanged(snapshot, declared)
    state_of = getattr(snapshot, "state", None) if is_duckdb else None
    for table in declared:
        state = None if state_of is None else state_of([table.name])
        if state is None or (table.name, state) not in known:
            snapshot.run(nothing_of(table, backend.dialect))
            if state is not None:
                known.add((table.name, state))


def first_pass(
    steps: Sequence[Program], statement: PrivateStatement, receipt: Receipt, snapshot: Snapshot
) -> list[Sealed]:
    """Run the first statement of each release. Needs the receipt of a durable charge; draws no noise."""
    _require_receipt(statement, receipt)
    declared = dict(table for program_ in steps for table in program_.declared)
    for name, table in declared.items():
        snapshot.load(name, table)
    return [run_cheapest(program_.first_pass, snapshot) for program_ in steps]


def release(
    first: Sequence[Sealed],
    steps: Sequence[Program],
    statement: PrivateStatement,
    receipt: Receipt,
    snapshot: Snapshot,
) -> list[NoisyTable]:
    """Add noise to the results in `snapshot`, and read the rest. Needs the receipt of a durable charge."""
    _require_receipt(statement, receipt)
    parts = list(zip(first, steps, statement.parts, strict=True))
    noisy: dict[int, NoisyTable] = {}
    for members in _together(statement.parts):
        selected = [select_keys(parts[i][0], parts[i][2], receipt) for i in members]
        query = parts[members[0]][1].measure
        exact = parts[members[0]][0] if query is None else run_cheapest(query, snapshot)
        tables = measure_together(exact, selected, [parts[i][2] for i in members], receipt)
        noisy |= dict(zip(members, tables, strict=True))
    return [
        noisy[i] if i in noisy else _in(snapshot, exact, program_, plan, receipt)
        for i, (exact, program_, plan) in enumerate(parts)
    ]


def _together(plans: Sequence[PrivatePlan]) -> list[list[int]]:
    """Return the positions of tables that are measured together."""
    clusters: dict[int, list[int]] = {}
    for index, plan in enumerate(plans):
        if plan.marginal is not None and plan.marginal.together is not None:
            clusters.setdefault(id(plan.marginal.together), []).append(index)
    return list(clusters.values())


def _require_receipt(statement: PrivateStatement, receipt: Receipt) -> None:
    if receipt.charge != statement.charge:
        raise InternalError("A release was asked for without a receipt for it.")


def nothing_of(table: SchemaTable, dialect: Dialect) -> Query:
    """Return a query that names every usable column of a table, and that no row satisfies."""
    usable = [name for name, column in table.columns.items() if column.type is not Type.OTHER]
    names = ", ".join(f"t0.{dialect.identifier(name)}" for name in usable)
    source = f"SELECT {names or '1 AS one'} FROM {dialect.table(table.name)} AS t0"
    return Query(f"SELECT 1 AS found FROM ({source}) AS readable WHERE 1 = 0", ("found",), (), (pa.int64(),))


def _unchanged(snapshot: Snapshot, declared: Sequence[SchemaTable]) -> None:
    """Refuse tables that changed since binding: without a constraint, the proof that relies on it is void.

    Privacy: it compares names, types and constraints, never rows. A DuckDB file that we opened ourselves is read-only
    and cannot change.
    """
    if any(snapshot.table(table.name) != table for table in declared):
        raise BackendError(
            "The table was changed since the connection was made.", code="schema-changed", hint="Connect again."
        )


def _in(snapshot: Snapshot, exact: Sealed, steps: Program, plan: PrivatePlan, receipt: Receipt) -> NoisyTable:
    selected = select_keys(exact, plan, receipt)
    again = steps.measure is not None and not covers_every_key(exact, selected)
    if (again or steps.buckets or steps.distinct) and plan.release.keys:
        places = np.flatnonzero(selected.shown)
        snapshot.load(
            SELECTED, selected.keys.take(pa.array(places)).append_column(KEY_INDEX, pa.array(places, type=pa.int64()))
        )
    if again and steps.measure is not None:
        exact = run_cheapest(steps.measure, snapshot)
    noisy = with_totals(measure(exact, selected, plan, receipt), plan)
    ranks = [draw_ranks(snapshot.run(query), selected, plan, i, receipt) for i, query in enumerate(steps.buckets)]
    values = [count_values(snapshot.run(query), selected, plan, i, receipt) for i, query in enumerate(steps.distinct)]
    return replace(noisy, ranks=in_order(plan, ranks), distinct=tuple(values))
