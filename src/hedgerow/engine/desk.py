"""Where statements are priced, paid for, released and found again: everything between a plan and noisy tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from hedgerow.answer import Answer
from hedgerow.backends import Backend
from hedgerow.budget import Receipt
from hedgerow.catalog import Catalog
from hedgerow.compile import public_tables
from hedgerow.engine.allotment import allot, counted
from hedgerow.engine.notices import notice
from hedgerow.engine.parameters import Asked
from hedgerow.engine.public import known_keys, public_table, require_public
from hedgerow.engine.run import compile_steps, release
from hedgerow.engine.summary import reused
from hedgerow.engine.telling import tell
from hedgerow.errors import BackendError, LedgerError
from hedgerow.ledger import Ledger, StoredRelease
from hedgerow.plan.nodes import LogicalPlan, scans_of
from hedgerow.plan.trace import picks_rows
from hedgerow.privacy.fingerprint import statement_fingerprint
from hedgerow.privacy.plan import PrivateStatement, Room
from hedgerow.privacy.price import price, require_room
from hedgerow.privacy.uses import used_together
from hedgerow.release import AfterEngine, Estimator, recall, remember
from hedgerow.schema import Schema, SchemaTable

PICKED, AT_ONCE = 20, 1000
"""By how much surer an interval is bought that may be shown for a picked row, or together with all others."""


def bought_level(logical: LogicalPlan, request: Asked) -> float:
    """How often an interval may fail that is bought with its number: by the text of the query alone."""
    beta = 1.0 - request.confidence
    beta = beta / AT_ONCE if request.simultaneous else beta
    beta /= max((used_together(logical, release) for release in logical.releases), default=1)
    return max(beta / PICKED if picks_rows(logical.root) else beta, 1e-15)


@dataclass(frozen=True)
class Desk:
    """One analyst's access to one dataset."""

    backend: Backend
    schema: Schema
    catalog: Catalog
    ledger: Ledger
    analyst: str | None
    after: AfterEngine

    def room(self) -> Room:
        """What the ledger has left, to steer by."""
        left = self.ledger.remaining_cost(self.analyst)
        return Room(left.gaussian, left.pure, lambda cost: self.ledger.fair_mass(cost, self.analyst))

    def price(
        self, logical: LogicalPlan, request: Asked, room: Room, epsilon: float | None = None, delta_share: float = 1.0
    ) -> PrivateStatement:
        """The statement at what it stated, or at another epsilon and a share of its delta."""
        budget = allot(request.budget, self.catalog, self.ledger, logical, self.analyst)
        if epsilon is not None:
            delta = None if budget.delta is None else budget.delta * delta_share
            budget = replace(budget, epsilon=epsilon, delta=delta, mu=None)
        return price(
            logical,
            budget,
            room,
            min_frequency=request.min_frequency,
            max_rows=request.max_rows,
            max_groups=request.max_groups,
            domains=known_keys(logical, self.backend, self.catalog),
            beta=bought_level(logical, request),
            equal_noise=request.equal_noise,
            method=request.distinct,
        )

    def buy(
        self, query: str, logical: LogicalPlan, private: PrivateStatement, room: Room
    ) -> tuple[list[Estimator], Receipt]:
        """Pay, then release.

        Privacy: the charge is durable before the first row is read, and is never given back.
        """
        require_room(private, room)
        steps = compile_steps(private, self.backend)
        receipt = self.ledger.charge(
            private.charge,
            analyst=self.analyst,
            question=self._question(query, private),
            queries=counted(self.catalog, logical),
        )
        try:
            noisy = release(steps, private, receipt, self.backend, self._declared(logical))
        except BackendError as error:
            error.receipt = receipt
            self._finish(receipt, None)
            raise
        estimators = [Estimator(table, part) for table, part in zip(noisy, private.parts, strict=True)]
        self._finish(receipt, estimators)
        return estimators, receipt

    def recall(
        self,
        query: str,
        logical: LogicalPlan,
        private: PrivateStatement,
        request: Asked,
        public: Mapping[str, pa.Table],
    ) -> Answer | None:
        """An answer that was paid for before, with the same digits; None where there is none as good.

        Privacy: it depends on the question, the owner's declared version and the noise of stored releases,
        never on what the data holds now.
        """
        for stored in self.stored(private):
            anyone = request.budget.mechanism == "auto"
            found = recall(stored.payload, private, any_mechanism=anyone)
            if found is not None:
                identity = f"{self.ledger.id}-{stored.charge}"
                left = self.ledger.budget(self.analyst).remaining
                told = reused(query, [estimator.plan for estimator in found], identity, left)
                return tell(self.after, logical, found, public, request, told)
        return None

    def stored(self, private: PrivateStatement) -> Iterator[StoredRelease]:
        """What was released before about the same rows and keys, the latest first."""
        yield from self.ledger.find(statement_fingerprint(private), version=self.catalog.version)

    def public_tables(self, logical: LogicalPlan) -> dict[str, pa.Table]:
        """The public tables that the after part joins with, as they are. Read before anything is charged."""
        names = public_tables(logical)
        require_public(self.catalog, names)
        most = self.catalog.limits.rows
        return {there: public_table(name, self.backend, self.schema, most) for name, there in names.items()}

    def _declared(self, logical: LogicalPlan) -> list[SchemaTable]:
        """What was known, when the plan was made, of the tables that it reads."""
        return [self.schema.tables[name] for name in sorted({scan.table for scan in scans_of(logical.releases)})]

    def _question(self, query: str, private: PrivateStatement) -> dict[str, object]:
        """What the history shows, and under which name the release is found again."""
        return {"text": query, "fingerprint": statement_fingerprint(private), "version": self.catalog.version}

    def _finish(self, receipt: Receipt, estimators: Sequence[Estimator] | None) -> None:
        """Store what was released. The charge stands whether or not that succeeds."""
        try:
            self.ledger.finish(receipt, None if estimators is None else remember(estimators))
        except LedgerError:
            notice("The answer could not be stored in the ledger; it was charged, and will not be reused.")
