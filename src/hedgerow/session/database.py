"""sql, quote, budget: the corridor, nothing clever."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, Unpack

from hedgerow.accounting.budget import Charge
from hedgerow.accuracy_target.accuracy_first import AccuracyFirst
from hedgerow.accuracy_target.target_price import offered
from hedgerow.answer import Answer, Summary, diagnosable
from hedgerow.answer.plot import Errors
from hedgerow.backends import Backend
from hedgerow.calibration.automatic import Automatic, completed_answer, require_split
from hedgerow.calibration.calibrate import calibrate
from hedgerow.calibration.calibration import Calibration
from hedgerow.calibration.diagnose import diagnose
from hedgerow.calibration.missing_bounds import marked
from hedgerow.catalog import Catalog
from hedgerow.compile import at_most, program
from hedgerow.compiled import Query
from hedgerow.errors import ParameterError, ParseError, carrying, pointing_into
from hedgerow.execution.build_answer import tell
from hedgerow.execution.options import stated
from hedgerow.execution.price_policy import sets_price
from hedgerow.execution.public_tables import multiplicity, ordered, public_query, require_public, require_rows
from hedgerow.execution.question import Question, plain_params
from hedgerow.execution.request import AUTOMATIC, Asked, Options, asked
from hedgerow.execution.session import Desk, statement_name
from hedgerow.execution.summary import summary
from hedgerow.ledger import BudgetView, Ledger
from hedgerow.owners_log import about, let_go
from hedgerow.plan.bind import bind
from hedgerow.plan.context import Bounds
from hedgerow.plan.cutting import within_limits
from hedgerow.plan.nodes import LogicalPlan, scans_of
from hedgerow.plan.repartition import repartitioned
from hedgerow.privacy.plan import Room
from hedgerow.release import AfterEngine
from hedgerow.schema import Schema
from hedgerow.session.automatic_quote import quoted
from hedgerow.session.forecast import Forecast, forecast, how_many
from hedgerow.session.quote import Quote, paid_for, predict, predicted_errors
from hedgerow.sql.parse import parse

NO_NONCE = "0" * 32
"""Stands for the nonce in SQL that is only shown."""

Parameters = Sequence[object] | Mapping[str, object] | None


P = ParamSpec("P")
R = TypeVar("R")


def _logged(method: "Callable[Concatenate[Database, P], R]") -> "Callable[Concatenate[Database, P], R]":
    """What fails inside is logged for the owner of this database."""

    @wraps(method)
    def logged(self: "Database", /, *words: P.args, **options: P.kwargs) -> R:
        with about(self.owners_log):
            return method(self, *words, **options)

    return logged


class Database:
    """A database that answers privately. Safe to use from many threads."""

    def __init__(
        self,
        backend: Backend,
        schema: Schema,
        catalog: Catalog,
        ledger: Ledger,
        *,
        analyst: str | None,
        dialect: str,
        owns_ledger: bool,
        owners_log: Path | None = None,
    ) -> None:
        self._desk = Desk(backend, schema, catalog, ledger, analyst, AfterEngine(catalog.limits))
        self._owns_ledger = owns_ledger
        self.owners_log = owners_log
        """The file of the owner's log, which is there once something failed; None where none can be kept."""
        self._dialect = dialect
        self._multiplicities: dict[tuple[str, frozenset[str]], int] = {}

    @_logged
    def sql(self, query: str, *, params: Parameters = None, **options: Unpack[Options]) -> Answer:
        """Ask a question, pay for it, and get numbers with error bars.

        Args:
            query: A SELECT statement.
            params: Values for `?` (a sequence) or `:name` (a mapping).
            **options: See `Options`. What the owner set can only be tightened.

        Privacy: the charge is durable before the first row is read, and is never given back.
        """
        automatic = self._automatic(query, params, options)
        if automatic is None:
            return self._answered(query, params, *self._understand(query, params, options))
        with self._desk.turn(automatic.request, query, repr(params)):
            completed = automatic.completed()
        with carrying(completed.purse.receipt):
            answer = self._answered(query, params, completed.request, completed.logical)
        return completed_answer(answer, completed)

    def _answered(self, query: str, params: Parameters, request: Asked, logical: LogicalPlan) -> Answer:
        if not logical.releases:
            return self._public(query, logical, request)
        answer = self._private(self._question(query, params, request), request, logical)
        return diagnosable(answer, partial(diagnose, self._desk, logical, request))

    def _question(self, query: str, params: Parameters, request: Asked) -> Question:
        """What the history shows, and what a statement that is asked again is known by."""
        budget, target = request.budget, None if request.within is None else str(request.within)
        return Question(query, plain_params(params), (budget.epsilon, budget.delta, budget.mechanism, target))

    def _private(self, question: Question, request: Asked, logical: LogicalPlan) -> Answer:
        desk = self._desk
        public = desk.public_tables(logical)
        room = desk.room()
        if request.within is not None:
            target = AccuracyFirst(desk, question, logical, request, request.within, room, public)
            with desk.turn(request, statement_name(target.sample)):
                return target.answer()
        private = desk.price(logical, request, room)
        with desk.turn(request, statement_name(private)):
            found = desk.find(question, private, request) if request.reuse else None
            if found is None:
                estimators, receipt = desk.buy(question, logical, private, room)
        if found is not None:
            return desk.retell(question, found, logical, private, request, public)
        with carrying(receipt):
            return tell(desk.after, logical, estimators, public, request, summary(question.text, private, receipt))

    @_logged
    def quote(self, query: str, *, params: Parameters = None, **options: Unpack[Options]) -> Quote:
        """What the question would cost and how wrong its answers would be. Free; reads no private row."""
        automatic = self._automatic(query, params, options)
        if automatic is None:
            return self._quoted(query, params, *self._understand(query, params, options))
        return quoted(automatic, partial(self._quoted, query, params))

    def _quoted(self, query: str, params: Parameters, request: Asked, logical: LogicalPlan) -> Quote:
        if not logical.releases:
            return Quote.public(query, self._public_query(logical).sql)
        desk, room, question = self._desk, self._desk.room(), self._question(query, params, request)
        offer, found = None, None
        if request.within is not None:
            public = desk.public_tables(logical)
            target = AccuracyFirst(desk, question, logical, request, request.within, room, public)
            offer, found = offered(target), target.reached() if request.reuse else None
        private = desk.price(logical, request, room, None if offer is None else offer.epsilon)
        if found is None and request.reuse and (offer is None or offer.estimate is None):
            found = desk.find(question, private, request)
        shown = private if found is None else replace(private, parts=tuple(each.plan for each in found[1]))
        programs = [program(part, desk.backend.dialect, NO_NONCE) for part in private.parts]
        texts = [text for steps in programs for text in steps.texts()]
        left, fits = desk.ledger.preview(private.charge, analyst=desk.analyst)
        made = predict(query, logical, shown, request.confidence, texts, desk.ledger.caps, left, fits=fits)
        repeats = how_many(private.charge, desk.ledger.remaining_cost(desk.analyst))
        made = replace(made, repeats=repeats, _reprice=partial(self._errors_at, logical, request, room))
        if offer is not None:
            made = replace(made, offer=offer, fits=fits and offer.fits, notes=offer.notes)
        if found is None:
            return made
        return paid_for(made, desk.ledger.receipt_id(found[0].charge), desk.ledger.budget(desk.analyst).remaining)

    @_logged
    def calibrate(
        self,
        table: str,
        columns: Sequence[str] | None = None,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        by: Sequence[str] | None = None,
        progress: Callable[[str], None] = lambda _: None,
    ) -> Calibration:
        """Private estimates of what a catalog says about a table: bounds, `max_rows`, `max_groups`. Charged.

        Args:
            table: A private table.
            columns: Of numbers or dates; by default all numbers that have no bounds yet.
            epsilon: The most that all of it may cost; by default the catalog's.
            delta: Likewise.
            by: Columns to group by, for `max_groups`.
            progress: Told what is looked at, before each.
        """
        return calibrate(self._desk, table, columns, epsilon=epsilon, delta=delta, by=by, progress=progress)

    @_logged
    def forecast(self, queries: Sequence[str], **options: Unpack[Options]) -> Forecast:
        """What a list of queries, fixed before any answer is seen, would prove together. Free; reads no private row."""
        if options.get("within") is not None:
            raise ParameterError(
                "A forecast takes the price of each query as given.", code="bad-within", hint="Leave within out."
            )
        asked(self._desk.catalog, **options)
        charges = []
        for query in queries:
            request, logical = self._understand(query, None, options)
            if logical.releases:
                charges.append(self._desk.price(logical, request, self._desk.room()).charge)
            else:
                charges.append(Charge((), 0.0, 0.0))
        left = None if sets_price(self._desk.catalog) else self._desk.ledger.remaining_cost(self._desk.analyst)
        return forecast(queries, charges, self._desk.catalog.budget.delta, left)

    @property
    def budget(self) -> BudgetView:
        """What is spent and what remains, of this analyst's cap where there is one."""
        return self._desk.ledger.budget(self._desk.analyst)

    def cancel(self) -> None:
        """Stop the statements that run or wait now in other threads: each ends in a `BackendError`. Charges stand."""
        self._desk.cancel()

    def close(self) -> None:
        """Let go of database and ledger."""
        self._desk.after.close()
        self._desk.backend.close()
        if self._owns_ledger:
            self._desk.ledger.close()
        log, self.owners_log = self.owners_log, None
        let_go(log)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _automatic(self, query: str, params: Parameters, options: Options) -> Automatic | None:
        """A statement that lacks bounds, or a limit on rows, and may find them; None where it lacks nothing."""
        if options.get("bounds") != AUTOMATIC:
            return None
        with pointing_into(query):
            statement = parse(query, self._dialect)
            request = asked(self._desk.catalog, **stated(statement.options, options, self._desk.catalog))
            require_split(self._desk, request, options)
            binder = partial(self._bind, params=params)
            found = Automatic(self._desk, query, request, marked(statement.query, binder), binder)
        return found if found.lacks else None

    def _understand(self, query: str, params: Parameters, options: Options) -> tuple[Asked, LogicalPlan]:
        """The plan of a statement, and the parameters given beside it or inside it."""
        with pointing_into(query):
            statement = parse(query, self._dialect)
            request = asked(self._desk.catalog, **stated(statement.options, options, self._desk.catalog))
            try:
                plan = self._bind(statement.query, params=params, bounds=request.bounds)
            except RecursionError:
                raise ParseError("The statement is nested too deeply.", code="too-deep") from None
            return request, plan

    def _bind(self, query: Any, *, params: Parameters, bounds: Bounds | None = None) -> LogicalPlan:  # noqa: ANN401 - the parser's own trees
        """The plan of a statement, within the owner's limits on joins."""
        desk = self._desk
        binder = partial(bind, query, desk.catalog, desk.schema, params=params, bounds=bounds)
        plan = within_limits(binder, desk.catalog, desk.schema, self._multiplicity)
        if not desk.backend.dialect.repartitions:
            return plan
        return repartitioned(plan, desk.catalog, desk.schema, self._multiplicity)

    def _multiplicity(self, table: str, columns: frozenset[str]) -> int:
        """The most rows of a public table that agree on some columns, found once for each connection."""
        require_public(self._desk.catalog, [table])
        if (table, columns) not in self._multiplicities:
            self._multiplicities[table, columns] = multiplicity(table, columns, self._desk.backend)
        return self._multiplicities[table, columns]

    def _errors_at(self, logical: LogicalPlan, request: Asked, room: Room, epsilon: float) -> Errors:
        """What would be wrong at another epsilon. Free; reads no private row."""
        return predicted_errors(logical, self._desk.price(logical, request, room, epsilon), 1.0 - request.confidence)

    def _public(self, query: str, logical: LogicalPlan, request: Asked) -> Answer:
        table = self._desk.backend.public(self._public_query(logical)).rename_columns(list(logical.names))
        require_rows(table, self._desk.catalog.limits)
        return Answer(table, [{}] * table.num_rows, request.confidence, Summary(None, query))

    def _public_query(self, logical: LogicalPlan) -> Query:
        """The query over public tables; one row more than the owner allows is read, to see that there are more."""
        require_public(self._desk.catalog, [scan.table for scan in scans_of(logical.root)])
        root = at_most(ordered(logical.root), self._desk.catalog.limits.rows + 1)
        return public_query(root, self._desk.backend.dialect)
