"""The corridor from a receipt to released numbers: what is read, in which order, and what noise it gets."""

import numpy as np
import pyarrow as pa

from hedgerow.backends import Backend, Snapshot
from hedgerow.budget import Receipt
from hedgerow.compile import program
from hedgerow.compiled import PARTS, PLACE, SELECTED, UNITS, Program
from hedgerow.errors import BackendError
from hedgerow.privacy.plan import PrivatePlan
from hedgerow.release import NoisyTable, SelectedKeys, every_key, measure, nonce, select_keys


def release(plan: PrivatePlan, receipt: Receipt, backend: Backend) -> NoisyTable:
    """Read the exact sums in one snapshot and hand on noisy ones. Needs the receipt of a durable charge."""
    steps = program(plan, backend.dialect, nonce())
    try:
        with backend.snapshot() as snapshot:
            return _in(snapshot, steps, plan, receipt)
    except BackendError as error:
        error.receipt = receipt
        raise


def _in(snapshot: Snapshot, steps: Program, plan: PrivatePlan, receipt: Receipt) -> NoisyTable:
    if steps.parts is None:
        return _one_pass(snapshot, steps, plan, receipt)
    snapshot.prepare(PARTS, steps.parts)
    if steps.selection is None:
        selected = every_key(None, plan)
    else:
        selected = select_keys(snapshot.run(steps.selection), UNITS, plan, receipt)
    if steps.measure is None:
        return measure(None, selected, plan, receipt)
    snapshot.load(SELECTED, _places(selected))
    return measure(snapshot.run(steps.measure), selected, plan, receipt)


def _one_pass(snapshot: Snapshot, steps: Program, plan: PrivatePlan, receipt: Receipt) -> NoisyTable:
    """Units and sums come together: where each unit has one row, and where there is one group."""
    if steps.measure is None:
        return measure(None, every_key(None, plan), plan, receipt)
    exact = snapshot.run(steps.measure)
    return measure(exact, select_keys(exact, UNITS, plan, receipt), plan, receipt)


def _places(selected: SelectedKeys) -> pa.Table:
    """The keys that are measured, each with its place in the answer."""
    places = np.flatnonzero(selected.shown)
    return selected.keys.take(pa.array(places)).append_column(PLACE, pa.array(places, type=pa.int64()))
