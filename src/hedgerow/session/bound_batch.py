"""The statements of a batch: bound, weighted, and each priced by itself."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import cached_property

from hedgerow.accounting.budget import RemainingBudget
from hedgerow.errors import ParameterError, QueryError, Span
from hedgerow.execution.request import Options, Question, flag, real, resolve_request
from hedgerow.execution.session import Session
from hedgerow.privacy.gaussian import statement_mu
from hedgerow.privacy.plan import PrivateStatement
from hedgerow.session.corridor import BoundStatement, bind_statement
from hedgerow.session.report import WEIGHTS, Report, ReportQuery

Weights = Sequence[float] | Mapping[str, float] | None
"""Weights of the statements of a batch, in order or by name."""

AddUp = bool | None
"""Tables about the same rows: True to make them add up or refuse the batch; False if no predicted error grows by it;
None, for a publication, if errors grow by little."""


class BoundBatch:
    """The numbered statements of a batch, with their options.

    Attributes:
        weights: The weight of each statement.
        statements: All statements, bound.
        private: The numbers of those about private tables; the others are free.
        add_up: What was asked of tables about the same rows.
    """

    def __init__(
        self,
        session: Session,
        report: Report,
        weights: Weights,
        minimise: str,
        options: Options,
        *,
        add_up: AddUp = False,
        remaining: RemainingBudget | None = None,
    ) -> None:
        self._stated_remaining = remaining
        self.session = session
        self.report = report
        self.weights = _weights(report, weights)
        self.minimise = minimise
        self.options = options
        self.request = resolve_request(session.catalog, **options)
        self.statements = [self._bound(query) for query in report.queries]
        self.private = [number for number, one in enumerate(self.statements) if one.logical.releases]
        self.add_up = None if add_up is None else flag("add_up", {"add_up": add_up}, default=False)

    @cached_property
    def remaining(self) -> RemainingBudget:
        """The budget that is left, or that was stated."""
        return self.session.remaining() if self._stated_remaining is None else self._stated_remaining

    @cached_property
    def text(self) -> str:
        """The statements as the history shows them."""
        return "\n".join(f"-- name: {query.name}\n{query.sql};" for query in self.report.queries)

    @property
    def question(self) -> Question:
        """The batch as the ledger finds it again."""
        budget = self.request.budget
        targets = "; ".join(str(one.request.within) for one in self.statements)
        chosen = ("add up",) if self.add_up else ()
        return Question(self.text, None, (budget.epsilon, budget.delta, budget.mechanism, targets, *chosen))

    @cached_property
    def mechanism(self) -> str:
        """The noise of all statements: Gaussian, which composes best, unless only pure epsilon covers the price."""
        budget, remaining = self.request.budget, self.remaining
        if budget.mechanism != "auto":
            return budget.mechanism
        if budget.delta is None:
            return "laplace"
        fits = statement_mu(budget.epsilon, budget.delta) ** 2 <= remaining.gaussian_left
        return "gaussian" if fits or remaining.pure_left < budget.epsilon else "laplace"

    @cached_property
    def own(self) -> dict[int, PrivateStatement]:
        """Every statement alone, for the whole price of the batch."""
        return {number: self.priced_alone(number, self.request.budget.epsilon) for number in self.private}

    def priced_alone(self, number: int, epsilon: float) -> PrivateStatement:
        """Return one statement alone, at a price."""
        statement = self.statements[number]
        budget = replace(self.request.budget, mechanism=self.mechanism)
        request = replace(statement.request, budget=budget, reuse=False, within=None)
        with self.naming(number):
            return self.session.price(statement.logical, request, self.remaining, epsilon)

    def naming(self, number: int) -> AbstractContextManager[None]:
        """Let a refusal inside name a statement."""
        return naming(self.report, self.report.queries[number])

    def _bound(self, query: ReportQuery) -> BoundStatement:
        """Bind one statement; its error names it."""
        within = self.options.get("within") if query.within is None else query.within
        options: Options = {**self.options, "within": within}  # type: ignore[typeddict-item]
        with naming(self.report, query):
            bound = bind_statement(self.session, query.sql, None, options)
            if bound.automatic is not None:
                raise ParameterError(
                    "A batch takes bounds as declared.",
                    code="batch-bounds",
                    hint='Ask this one alone with bounds="auto".',
                )
            return bound


def _weights(report: Report, weights: Weights) -> list[float]:
    """Return the weight of each query: stated beside the batch, or in the report."""
    names = [query.name for query in report.queries]
    if weights is None:
        return [query.weight for query in report.queries]
    if isinstance(weights, Mapping):
        if unknown := set(weights) - set(names):
            raise ParameterError(
                f"There is no query {min(map(str, unknown))!r} to give a weight to.",
                code="bad-weight",
                hint=f"There are: {', '.join(names)}.",
            )
        return [real("weight", weights.get(query.name, query.weight), *WEIGHTS) for query in report.queries]
    if isinstance(weights, str) or not isinstance(weights, Sequence) or len(weights) != len(names):
        raise ParameterError(
            "A batch takes a weight for each statement, in order or by name.", code="bad-weight", hint="Leave it out."
        )
    return [real("weight", weight, *WEIGHTS) for weight in weights]


@contextmanager
def naming(report: Report, query: ReportQuery) -> Iterator[None]:
    """Let a refusal inside name its query, and point into the report's file."""
    try:
        yield
    except QueryError as error:
        line = f" (line {query.line})" if report.source else ""
        error.message = f"{query.name}{line}: {error.message}"
        if report.source and error.span is not None:
            start = query.start
            line_number = error.span.line + report.source.count("\n", 0, start)
            error.span = Span(error.span.start + start, error.span.end + start, line_number)
            error.text = report.source
        raise
