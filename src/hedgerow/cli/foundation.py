"""Laying the foundation of a dataset: its ledger first, then the catalog that names it.

A crash in between leaves a ledger in which nothing was ever charged. The next try finds it, sees that it was made
for the same budget, and goes on with it.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hedgerow.backends import connect_backend
from hedgerow.catalog import BudgetPolicy, draft_catalog
from hedgerow.catalog.load_budget import DELTAS, EPSILONS
from hedgerow.catalog.strict_yaml import FILL_IN
from hedgerow.cli.faults import UsageError
from hedgerow.cli.places import Places, places, set_aside, write_whole
from hedgerow.errors import LedgerError, ParameterError
from hedgerow.execution.request import real
from hedgerow.ledger import create_ledger, open_ledger
from hedgerow.schema import Schema

__all__ = ["Foundation", "lay", "places"]


@dataclass(frozen=True, slots=True)
class Foundation:
    """What was made.

    Attributes:
        open_lines: The lines of the catalog that the owner must fill in before it loads.
        kept: The other names under which older files are kept.
    """

    dataset: str
    catalog: Path
    ledger: Path
    ledger_id: str
    open_lines: tuple[int, ...]
    kept: tuple[Path, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line."""
        return {
            "dataset": self.dataset,
            "catalog": str(self.catalog),
            "ledger": str(self.ledger),
            "ledger_id": self.ledger_id,
            "fill_in": list(self.open_lines),
            "kept": [str(path) for path in self.kept],
        }


def lay(
    where: Places, *, dataset: str | None, epsilon: float, delta: float, pure_epsilon: float, force: bool
) -> Foundation:
    """Make ledger and catalog for the database."""
    policy = _policy(epsilon, delta, pure_epsilon)
    name = dataset or where.database.stem
    schema = _schema(where.source)
    _draft(schema, name, None, policy)  # nothing is touched if there is nothing to protect
    kept = [aside for path in (where.ledger, where.catalog) if force and (aside := set_aside(path))]
    identity = _ledger(where.ledger, name, policy)
    text = _draft(schema, name, identity, policy)
    _write(where.catalog, text)
    return Foundation(name, where.catalog, where.ledger, identity, open_lines(text), tuple(kept))


def _policy(epsilon: float, delta: float, pure_epsilon: float) -> BudgetPolicy:
    whole = real("epsilon", epsilon, *EPSILONS)
    if not (math.isfinite(pure_epsilon) and 0 <= pure_epsilon <= whole):
        raise ParameterError(
            "pure_epsilon is the part of epsilon that is kept for Laplace noise.",
            code="bad-pure-epsilon",
            hint=f"It lies between 0 and {whole:g}.",
        )
    return BudgetPolicy(whole, real("delta", delta, *DELTAS), float(pure_epsilon))


def _schema(source: str) -> Schema:
    backend = connect_backend(source)
    try:
        return backend.schema()
    finally:
        backend.close()


def _draft(schema: Schema, dataset: str, identity: str | None, policy: BudgetPolicy) -> str:
    return draft_catalog(
        schema,
        dataset=dataset,
        ledger_id=identity,
        epsilon=policy.epsilon,
        delta=policy.delta,
        pure_epsilon=policy.pure_epsilon,
    )


def _ledger(path: Path, dataset: str, policy: BudgetPolicy) -> str:
    """The id of a new ledger, or of one that an interrupted try left behind."""
    try:
        return create_ledger(path, dataset=dataset, policy=policy)
    except LedgerError as error:
        if error.code != "ledger-exists":
            raise
    left = _left_behind(path, dataset, policy)
    if left is None:
        raise UsageError(
            f"There is a ledger at {path} already, and it is not an unused one for this budget.",
            code="ledger-exists",
            hint="It is the record of what was spent. Name another catalog with --catalog; --force begins anew, and "
            "keeps the old ledger under another name.",
        )
    return left


def _left_behind(path: Path, dataset: str, policy: BudgetPolicy) -> str | None:
    """The id of the ledger at `path`, if it was made for this very budget and nothing was ever charged to it."""
    try:
        with open_ledger(path, dataset=dataset, policy=policy) as ledger:
            history = ledger.history()
            terms = history[0].charge
            made_for = (terms["epsilon"], terms["delta"])
            return ledger.id if len(history) == 1 and made_for == (policy.epsilon, policy.delta) else None
    except LedgerError:
        return None


def _write(path: Path, text: str) -> None:
    try:
        write_whole(path, text)
    except FileExistsError:
        raise UsageError(
            f"Somebody else wrote {path} at the same time.", code="catalog-exists", hint="Look at it first."
        ) from None
    except OSError:
        raise UsageError(
            f"The catalog {path} cannot be written.", code="catalog-unwritable", hint="Check the folder's permissions."
        ) from None


def open_lines(text: str) -> tuple[int, ...]:
    """The lines with something to fill in, outside of comments."""
    lines = enumerate(text.split("\n"), start=1)
    return tuple(number for number, line in lines if FILL_IN in line.split("#", 1)[0])
