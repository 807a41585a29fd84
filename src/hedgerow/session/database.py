"""`Database`, the public interface. The work is done in `corridor.py` and the modules that it calls."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, wraps
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Self, TypeVar, Unpack

from hedgerow.answer import Answer, Batch
from hedgerow.errors import LedgerError
from hedgerow.execution.caches import Waiters
from hedgerow.execution.request import Options, Parameters  # noqa: TC001 - their names are resolved at run time
from hedgerow.execution.session import Session
from hedgerow.late import late
from hedgerow.ledger import BudgetView
from hedgerow.markup import Markup, element, folded, joined, paragraph
from hedgerow.owners_log import about, let_go
from hedgerow.session.corridor import ask, bind_statement
from hedgerow.session.job import Job
from hedgerow.session.missing import all_missing

# These modules take a fifth of a second to load, and a first answer needs none of them. Type checkers and editors read
# the annotations that name their classes; `typing.get_type_hints` cannot, because it never calls a function.
if TYPE_CHECKING:
    from hedgerow.calibration.calibrate import Calibration, calibrate
    from hedgerow.publication.publication import Publication
    from hedgerow.session.batch import ask_batch, quote_batch
    from hedgerow.session.batch_quote import BatchQuote
    from hedgerow.session.bound_batch import Weights
    from hedgerow.session.explain import Explanation, explain_statement
    from hedgerow.session.forecast import Forecast, forecast_statements
    from hedgerow.session.planning import BudgetPlan, PlannedReport, plan_reports, read_plan
    from hedgerow.session.publishing import publish_batch
    from hedgerow.session.quote import Quote, quote_statement
    from hedgerow.session.report import Queries
    from hedgerow.session.tables import Description, TableList, describe_statement, list_tables
else:
    calibrate = late("hedgerow.calibration.calibrate", "calibrate")
    ask_batch = late("hedgerow.session.batch", "ask_batch")
    quote_batch = late("hedgerow.session.batch", "quote_batch")
    explain_statement = late("hedgerow.session.explain", "explain_statement")
    forecast_statements = late("hedgerow.session.forecast", "forecast_statements")
    plan_reports = late("hedgerow.session.planning", "plan_reports")
    read_plan = late("hedgerow.session.planning", "read_plan")
    publish_batch = late("hedgerow.session.publishing", "publish_batch")
    quote_statement = late("hedgerow.session.quote", "quote_statement")
    describe_statement = late("hedgerow.session.tables", "describe_statement")
    list_tables = late("hedgerow.session.tables", "list_tables")

P = ParamSpec("P")
R = TypeVar("R")


def _logged(method: "Callable[Concatenate[Database, P], R]") -> "Callable[Concatenate[Database, P], R]":
    """Log internal failures of a method for the owner of this database."""

    @wraps(method)
    def logged(self: "Database", /, *words: P.args, **options: P.kwargs) -> R:
        with about(self.owners_log):
            return method(self, *words, **options)

    return logged


class Database:
    """A database that answers privately. Safe to use from many threads."""

    def __init__(
        self, session: Session, *, owns_ledger: bool, owners_log: Path | None = None, view: bool = False
    ) -> None:
        self._session = session
        self._owns_ledger = owns_ledger
        self._view = view
        self.owners_log = owners_log
        """The file of the owner's log, created with the first failure; None if there is no place for one."""

    def __repr__(self) -> str:
        return f"<hedgerow.Database {self.dataset}: {', '.join(table.name for table in self.tables)}>"

    def _repr_html_(self) -> str:
        try:
            budget = Markup(self.budget._repr_html_())
        except LedgerError:
            budget = paragraph("The ledger is closed.")
        tables = self.tables
        names = ", ".join(table.name for table in tables)
        analyst = "" if self.analyst is None else f", asked by {self.analyst}"
        title = element("p", element("strong", self.dataset), f": {names}{analyst}")
        return joined([title, budget, folded("Columns", Markup(tables._repr_html_()))])

    @_logged
    def sql(self, query: str, *, params: "Parameters" = None, **options: "Unpack[Options]") -> Answer:
        """Ask a question, pay for it, and get numbers with error bars.

        Args:
            query: A SELECT statement.
            params: Values for `?` (a sequence) or `:name` (a mapping).
            **options: `epsilon`, `delta`, `within`, `confidence`, `mechanism`, `min_frequency`, `max_rows`,
                `max_groups`, `bounds`, `simultaneous`, `moments`, `distinct`, `reuse`, `nonnegative`: see
                docs/reference/python.md. They can only tighten the owner's settings.

        Privacy: the charge is durable before the first row is read, and is never given back.
        """
        with all_missing(self._session, query, params, options):
            return ask(self._session, query, params, options)

    def submit(self, query: str, *, params: "Parameters" = None, **options: "Unpack[Options]") -> Job[Answer]:
        """Ask in the background, with the arguments of `sql`. The job has `result()`, `cancel()` and `done()`."""
        return Job(partial(self.sql, query, params=params, **options))

    @_logged
    def quote(self, query: str, *, params: "Parameters" = None, **options: "Unpack[Options]") -> "Quote":
        """Return the cost of a question and the predicted errors of its answers. Free; reads no private row."""
        with all_missing(self._session, query, params, options):
            return quote_statement(self._session, bind_statement(self._session, query, params, options))

    @_logged
    def batch(
        self,
        queries: "Queries",
        *,
        weights: "Weights" = None,
        minimise: str = "mean",
        add_up: bool = False,
        **options: "Unpack[Options]",
    ) -> Batch:
        """Ask several questions together, for one charge; what they share is measured and paid for once.

        Args:
            queries: A list of SELECT statements, statements by name, or a report (`hedgerow.Report.read(path)`).
            weights: The importance of each question, in order or by name; by default equal.
            minimise: "mean", for the least weighted mean of squared errors, each compared with the error of the
                question alone; or "worst", for the least of the largest.
            add_up: True to make all tables about the same rows of the same groups, whatever that costs in accuracy, so
                that they add up; where they cannot, the batch is refused. By default they are where no
                predicted error grows by it.
            **options: As for `sql`. `epsilon` and `delta` are the price of all questions together; `within` is the
                error that each should have, and may be stated for each in a report.

        Privacy: the charge is durable before the first row is read, and is never given back.
        """
        return ask_batch(self._session, queries, weights, minimise, options, add_up=add_up)

    @_logged
    def quote_batch(
        self,
        queries: "Queries",
        *,
        weights: "Weights" = None,
        minimise: str = "mean",
        add_up: bool | None = False,
        **options: "Unpack[Options]",
    ) -> "BatchQuote":
        """Return the cost of several questions together and their predicted errors. Free; reads no private row.

        The arguments are those of `batch`; with `add_up=None`, tables are measured together as `publish` does it.
        """
        return quote_batch(self._session, queries, weights, minimise, options, add_up=add_up)

    @_logged
    def publish(
        self,
        queries: "Queries",
        folder: str | PathLike[str],
        *,
        key: str | PathLike[str] | None = None,
        weights: "Weights" = None,
        minimise: str = "mean",
        add_up: bool = False,
        **options: "Unpack[Options]",
    ) -> "Publication":
        """Ask the queries of a report together, and write a folder of data, charts, a page and a signed certificate.

        Args:
            queries: As for `batch`; a report (`hedgerow.Report.read(path)`) has titles and texts, too.
            folder: Written as a whole or not at all; an earlier release of this ledger is replaced.
            key: The owner's private key, which `hedgerow key new` makes; by default next to the catalog.
            weights: As for `batch`.
            minimise: As for `batch`.
            add_up: As for `batch`; by default tables add up where predicted errors grow by 15 % at most.
            **options: As for `batch`.

        Privacy: as for `batch`. The files are made of answers and of what is public. Publishing again is free.
        """
        return publish_batch(self._session, queries, folder, key, weights, minimise, options, add_up=add_up)

    @_logged
    def plan(
        self,
        reports: "str | PathLike[str] | Sequence[PlannedReport]",
        *,
        budget: tuple[float, float] | None = None,
        fit: bool = False,
        **options: "Unpack[Options]",
    ) -> "BudgetPlan":
        """Price a list of reports that are published several times, or fit their prices to a budget. Free.

        Args:
            reports: A plan file (`[[report]]` with `file`, `times` and `epsilon`), or a list of `PlannedReport`.
            budget: Epsilon and delta to compare with; by default the catalog's.
            fit: Choose prices, in the proportions of the plan, that use up the budget.
            **options: As for `batch`, for every report.
        """
        planned = reports if isinstance(reports, Sequence) and not isinstance(reports, str) else read_plan(reports)
        return plan_reports(self._session, planned, budget, options, fit=fit)

    @_logged
    def explain(self, query: str, params: "Parameters" = None, **options: "Unpack[Options]") -> "Explanation":
        """Show how a question would be answered: plan, limits, noise, price and SQL. Free; reads no private row."""
        with all_missing(self._session, query, params, options):
            return explain_statement(self._session, bind_statement(self._session, query, params, options))

    @_logged
    def describe(self, query: str, params: "Parameters" = None, **options: "Unpack[Options]") -> "Description":
        """List the columns of a statement's answer: name, type, and whether noise is in it. Free; reads no row.

        Without `params`, the types of its parameters are found from what they are compared or computed with.
        """
        return describe_statement(self._session, query, params, options)

    @property
    def dataset(self) -> str:
        """Name of the dataset, as the catalog declares it."""
        return self._session.catalog.dataset

    @property
    def analyst(self) -> str | None:
        """Name of the analyst who asks; None if there is none."""
        return self._session.analyst

    @property
    def dialect(self) -> str:
        """The SQL dialect that queries are written in."""
        return self._session.dialect

    @property
    def tables(self) -> "TableList":
        """Tables and columns that may be asked about, with what the owner declares of them. Free; reads no row."""
        return list_tables(self._session)

    def as_analyst(self, name: str, *, dialect: str | None = None) -> "Database":
        """The same database for another analyst, with that analyst's cap. It is open as long as the first one.

        Args:
            name: Name of the analyst; not verified.
            dialect: The SQL dialect of this analyst's queries; by default that of the first one.
        """
        session = replace(self._session, analyst=name, waiters=Waiters(), dialect=dialect or self._session.dialect)
        return Database(session, owns_ledger=False, owners_log=self.owners_log, view=True)

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
    ) -> "Calibration":
        """Estimate privately what a catalog declares about a table: bounds, `max_rows`, `max_groups`. Charged.

        Args:
            table: A private table.
            columns: Columns of numbers or dates; by default all numbers without bounds.
            epsilon: The most that all estimates may cost; by default the catalog's.
            delta: Likewise.
            by: Columns to group by, for `max_groups`.
            progress: Called with the name of each estimate, before it is made.
        """
        return calibrate(self._session, table, columns, epsilon=epsilon, delta=delta, by=by, progress=progress)

    @_logged
    def forecast(self, queries: Sequence[str], **options: "Unpack[Options]") -> "Forecast":
        """Total the charges of a list of queries that is fixed in advance. Free; reads no private row."""
        return forecast_statements(self._session, queries, options)

    @property
    def budget(self) -> BudgetView:
        """Spent and remaining budget; of this analyst's cap, if there is one."""
        return self._session.ledger.budget(self._session.analyst)

    def cancel(self) -> None:
        """Stop the statements that run or wait in other threads: each raises a `BackendError`. Charges stay."""
        self._session.cancel()

    def close(self) -> None:
        """Close database and ledger. On what `as_analyst` returned it does nothing."""
        if self._view:
            return
        self._session.close()
        if self._owns_ledger:
            self._session.ledger.close()
        log, self.owners_log = self.owners_log, None
        let_go(log)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
