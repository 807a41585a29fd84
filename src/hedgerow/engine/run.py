"""The corridor from a receipt to released numbers: what is read, in which order, and what noise it gets."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from hedgerow.backends import Backend, Snapshot
from hedgerow.budget import Receipt
from hedgerow.compile import program
from hedgerow.compiled import PLACE, SELECTED, Program
from hedgerow.dialects import DUCKDB
from hedgerow.errors import BackendError, InternalError
from hedgerow.privacy.plan import PrivatePlan, PrivateStatement
from hedgerow.release import (
    NoisyTable,
    SelectedKeys,
    count_values,
    covers_every_key,
    draw_ranks,
    in_order,
    measure,
    nonce,
    select_keys,
)
from hedgerow.schema import SchemaTable


def compile_steps(statement: PrivateStatement, backend: Backend) -> list[Program]:
    """The SQL of all releases, each under a fresh nonce."""
    return [program(part, backend.dialect, nonce()) for part in statement.parts]


def release(
    steps: Sequence[Program],
    statement: PrivateStatement,
    receipt: Receipt,
    backend: Backend,
    declared: Sequence[SchemaTable],
) -> list[NoisyTable]:
    """Read the exact sums in one snapshot and hand on noisy ones. Needs the receipt of a durable charge."""
    if receipt.charge != statement.charge:
        raise InternalError("A release was asked for without a receipt for it.")
    try:
        with backend.snapshot() as snapshot:
            if backend.handed_in or backend.dialect.name != DUCKDB.name:
                _unchanged(snapshot, declared)
            pairs = zip(steps, statement.parts, strict=True)
            return [_in(snapshot, program_, plan, receipt) for program_, plan in pairs]
    except KeyboardInterrupt:
        backend.cancel()
        raise


def _unchanged(snapshot: Snapshot, declared: Sequence[SchemaTable]) -> None:
    """Refuse tables that are no longer what was bound: a constraint that is gone would take its proof along.

    Privacy: it compares names, types and constraints, never rows. A DuckDB file that we opened ourselves is read-only
    and cannot change.
    """
    if any(snapshot.table(table.name) != table for table in declared):
        raise BackendError(
            "The table was changed since the connection was made.", code="schema-changed", hint="Connect again."
        )


def _in(snapshot: Snapshot, steps: Program, plan: PrivatePlan, receipt: Receipt) -> NoisyTable:
    exact = snapshot.run(steps.survey)
    selected = select_keys(exact, plan, receipt)
    again = steps.measure is not None and not covers_every_key(exact, selected)
    if (again or steps.buckets or steps.distinct) and plan.release.keys:
        snapshot.load(SELECTED, _places(selected))
    noisy = measure(snapshot.run(steps.measure) if again and steps.measure else exact, selected, plan, receipt)
    ranks = [draw_ranks(snapshot.run(query), selected, plan, i, receipt) for i, query in enumerate(steps.buckets)]
    values = [count_values(snapshot.run(query), selected, plan, i, receipt) for i, query in enumerate(steps.distinct)]
    return replace(noisy, ranks=in_order(plan, ranks), distinct=tuple(values))


def _places(selected: SelectedKeys) -> pa.Table:
    """The keys that are measured, each with its place in the answer."""
    places = np.flatnonzero(selected.shown)
    return selected.keys.take(pa.array(places)).append_column(PLACE, pa.array(places, type=pa.int64()))
