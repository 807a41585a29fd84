"""A dataset of a hedgerow service, with the interface of a `Database`."""

import os
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NoReturn, Unpack
from urllib.parse import quote as quoted

from hedgerow.answer import Answer, Batch, Diagnostics, diagnosable
from hedgerow.answer.exchange import load_answer, load_batch
from hedgerow.answer.plot import Errors
from hedgerow.calibration.calibrate import Calibration
from hedgerow.cancellation import active_cancellation
from hedgerow.errors import ConditionNotMet, HedgerowError, ParameterError, ParseError, PolicyError
from hedgerow.exchange import decode, encode, encode_params
from hedgerow.execution.request import Options, Parameters
from hedgerow.ledger import BudgetView
from hedgerow.ledger.history import HistoryEntry, load_budget
from hedgerow.session.batch_quote import BatchQuote
from hedgerow.session.bound_batch import Weights
from hedgerow.session.database import Database
from hedgerow.session.explain import Explanation, load_explanation
from hedgerow.session.forecast import Forecast
from hedgerow.session.http_transport import HttpTransport, ServiceAddress
from hedgerow.session.quote import Quote, load_quote
from hedgerow.session.report import Queries, Report
from hedgerow.session.tables import Description, TableInfo, TableList

VARIABLE = "HEDGEROW_TOKEN"
"""Environment variable of the token that is used where none is passed."""


def connect_service(
    url: str, *, token: str | None = None, ca: str | None = None, dialect: str | None = None
) -> "RemoteDatabase":
    """Open a dataset of a service.

    Args:
        url: Its address, like https://host:8439/hospital. The dataset may be left out where there is one alone.
        token: Token of the analyst; by default that of the environment variable HEDGEROW_TOKEN.
        ca: File with the certificates of a private authority.
        dialect: The SQL dialect of the queries; by default the dataset's.
    """
    address, token = ServiceAddress.of(url), token or os.environ.get(VARIABLE)
    if not token:
        raise ParameterError("The service requires a token.", code="no-token", hint=f"Pass token=, or set {VARIABLE}.")
    transport = HttpTransport(address, token, ca)
    try:
        return RemoteDatabase(transport, address.dataset or _only_dataset(transport), dialect=dialect)
    except BaseException:
        transport.close()
        raise


def _only_dataset(transport: HttpTransport) -> str:
    names = [str(dataset["name"]) for dataset in transport.call("GET", "/v1/datasets")["datasets"]]
    if len(names) == 1:
        return names[0]
    listed = ", ".join(names) or "none"
    raise ParameterError(
        "The address does not say which dataset is meant.",
        code="which-dataset",
        hint=f"Write {transport.address}/<dataset>. There are: {listed}.",
    )


class RemoteDatabase(Database):
    """A dataset of a hedgerow service. Safe to use from many threads.

    It has the methods of a `Database`, and what they return is equal to what a `Database` returns. The service knows
    the analyst by the token.
    """

    def __init__(self, transport: HttpTransport, dataset: str, *, dialect: str | None = None) -> None:
        self._transport = transport
        self._path = f"/v1/datasets/{quoted(dataset, safe='')}"
        self._stated_dialect = dialect
        self._running: set[str] = set()
        self._lock = threading.Lock()
        self.owners_log = None
        about = self._get("")
        self._dataset, self._analyst, self._dialect = about["name"], about["analyst"], dialect or about["dialect"]

    @property
    def dataset(self) -> str:
        """Name of the dataset."""
        return str(self._dataset)

    @property
    def analyst(self) -> str:
        """Name of the analyst to whom the token belongs."""
        return str(self._analyst)

    @property
    def dialect(self) -> str:
        """The SQL dialect that queries are written in."""
        return str(self._dialect)

    def __repr__(self) -> str:
        names = ", ".join(table.name for table in self.tables)
        return f"<hedgerow.RemoteDatabase {self.dataset} at {self._transport.address}: {names}>"

    def sql(self, query: str, *, params: "Parameters" = None, **options: "Unpack[Options]") -> Answer:
        """Ask a question, pay for it, and get numbers with error bars. The arguments are those of `Database.sql`."""
        body = {**self._body(query, params, options), "statement_id": secrets.token_hex(16)}
        with self._cancellable(body["statement_id"]):
            answer = load_answer(self._post("query", body, query))
        return diagnosable(answer, _no_diagnostics)

    def quote(self, query: str, *, params: "Parameters" = None, **options: "Unpack[Options]") -> Quote:
        """Return the cost of a question and the predicted errors of its answers. Free; reads no private row."""
        body = self._body(query, params, options)
        return load_quote(self._post("quote", body, query), partial(self._errors_at, body))

    def batch(
        self,
        queries: Queries,
        *,
        weights: Weights = None,
        minimise: str = "mean",
        add_up: bool = False,
        **options: "Unpack[Options]",
    ) -> Batch:
        """Ask several questions together, for one charge. The arguments are those of `Database.batch`."""
        body = {
            **self._batch_body(queries, weights, minimise, options, add_up=add_up),
            "statement_id": secrets.token_hex(16),
        }
        with self._cancellable(body["statement_id"]):
            answers = load_batch(self._post("batch", body, None))
        for answer in answers:
            diagnosable(answer, _no_diagnostics)
        return answers

    def quote_batch(
        self,
        queries: Queries,
        *,
        weights: Weights = None,
        minimise: str = "mean",
        add_up: bool | None = False,
        **options: "Unpack[Options]",
    ) -> BatchQuote:
        """Return the cost of several questions together and their predicted errors. Free; reads no private row."""
        if add_up is None:
            self.publish(queries, None)
        body = self._batch_body(queries, weights, minimise, options, add_up=add_up)
        quote: BatchQuote = decode(BatchQuote, self._post("quote-batch", body, None))
        return quote

    def publish(self, queries: Queries, folder: object, **options: Any) -> NoReturn:  # noqa: ANN401, ARG002 - likewise
        """Refuse: a release is signed with the owner's key."""
        raise PolicyError(
            "A release is published where the owner's key is, not over a service.",
            code="remote-publish",
            hint="Run hedgerow publish where the database is.",
        )

    def plan(self, reports: object, **options: Any) -> NoReturn:  # noqa: ANN401, ARG002 - likewise
        """Refuse: a plan is the owner's."""
        raise PolicyError(
            "A year is planned where the catalog is, not over a service.",
            code="remote-plan",
            hint="Run hedgerow plan where the database is, or open Plan in the console.",
        )

    def explain(self, query: str, params: "Parameters" = None, **options: "Unpack[Options]") -> Explanation:
        """Show how a question would be answered: plan, limits, noise, price and SQL. Free; reads no private row."""
        body = self._body(query, params, options)
        return load_explanation(self._post("explain", body, query), partial(self._errors_at, body))

    def describe(self, query: str, params: "Parameters" = None, **options: "Unpack[Options]") -> Description:
        """List the columns of a statement's answer: name, type, and whether noise is in it. Free; reads no row."""
        description: Description = decode(
            Description, self._post("describe", self._body(query, params, options), query)
        )
        return description

    @property
    def tables(self) -> TableList:
        """Tables and columns that may be asked about, with what the owner declares of them. Free; reads no row."""
        return TableList(decode(tuple[TableInfo, ...], self._get("/tables")["tables"]))

    def forecast(self, queries: Sequence[str], **options: "Unpack[Options]") -> Forecast:
        """Total the charges of a list of queries that is fixed in advance. Free; reads no private row."""
        body = {"queries": list(queries), **self._options(options)}
        forecast: Forecast = decode(Forecast, self._post("forecast", body, None))
        return forecast

    @property
    def budget(self) -> BudgetView:
        """Spent and remaining budget; of this analyst's cap, if there is one."""
        return load_budget(self._get("/budget"), self._history)

    def as_analyst(self, name: str, *, dialect: str | None = None) -> NoReturn:  # noqa: ARG002 - the face of a Database
        """Refuse: a service knows analysts by their tokens."""
        raise PolicyError(
            "A service knows analysts by their tokens: nobody asks in another's name.",
            code="remote-analyst",
            hint="Connect with the token of that analyst.",
        )

    def calibrate(
        self,
        table: str,  # noqa: ARG002 - the face of a Database
        columns: Sequence[str] | None = None,  # noqa: ARG002
        *,
        epsilon: float | None = None,  # noqa: ARG002
        delta: float | None = None,  # noqa: ARG002
        by: Sequence[str] | None = None,  # noqa: ARG002
        progress: Callable[[str], None] = lambda _: None,  # noqa: ARG002
    ) -> Calibration:
        """Refuse: what a catalog declares is estimated where the catalog is."""
        raise PolicyError(
            "Bounds for a catalog are estimated on the owner's machine.",
            code="remote-calibrate",
            hint='Run hedgerow calibrate there; or ask with bounds="auto".',
        )

    def cancel(self) -> None:
        """Stop the statements of this object that run in other threads: each raises a `BackendError`. Charges stay."""
        with self._lock:
            running = list(self._running)
        for statement in running:
            self._stop(statement)

    def close(self) -> None:
        """Close the connections. The service keeps running."""
        self._transport.close()

    def _get(self, path: str) -> Any:  # noqa: ANN401 - JSON
        return self._transport.call("GET", f"{self._path}{path}")

    def _post(self, route: str, body: object, query: str | None) -> Any:  # noqa: ANN401 - JSON
        return self._transport.call("POST", f"{self._path}/{route}", body, text=query)

    def _body(self, query: str, params: Parameters, options: Options) -> dict[str, Any]:
        if not isinstance(query, str):
            raise ParseError("The query must be text.", code="not-text", hint="Pass the SQL as a string.")
        return {"sql": query, "params": encode_params(params), **self._options(options)}

    def _batch_body(
        self, queries: Queries, weights: Weights, minimise: str, options: Options, *, add_up: bool
    ) -> dict[str, Any]:
        report = Report.of(queries)
        body: dict[str, Any] = {"report": report.to_text()}
        if not isinstance(queries, Report):
            body = {"queries": {query.name: query.sql for query in report.queries}}
        plain = _plain_options({"weights": weights})
        return {**body, **plain, "minimise": minimise, "add_up": add_up, **self._options(options)}

    def _options(self, options: Options) -> dict[str, Any]:
        dialect = {} if self._stated_dialect is None else {"dialect": self._stated_dialect}
        return {**dialect, "options": _plain_options(options)}

    def _errors_at(self, body: Mapping[str, Any], epsilon: float) -> Errors:
        document = self._post("quote", {**body, "errors_at": epsilon}, body["sql"])
        errors: Errors = decode(Mapping[str, Mapping[int, float]], document["errors_at"])
        return errors

    def _history(self) -> Sequence[HistoryEntry]:
        return tuple(decode(list[HistoryEntry], self._get("/history")["history"]))

    @contextmanager
    def _cancellable(self, statement: str) -> Iterator[None]:
        """Let the statement inside be cancelled: by its job, by `cancel`, or by the keyboard."""
        with self._lock:
            self._running.add(statement)
        try:
            with active_cancellation().calling(partial(self._stop, statement)):
                yield
        except KeyboardInterrupt:
            self._stop(statement)
            raise
        finally:
            with self._lock:
                self._running.discard(statement)

    def _stop(self, statement: str) -> None:
        with suppress(HedgerowError):  # whoever waits for the statement is told
            self._transport.call("DELETE", f"/v1/statements/{statement}")


def _plain_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options as plain JSON."""
    try:
        return {name: encode(value) for name, value in options.items() if value is not None}
    except TypeError:
        raise ParameterError("The value of an option cannot be written as JSON.", code="bad-option") from None


def _no_diagnostics(*, epsilon: float | None, delta: float | None) -> Diagnostics:  # noqa: ARG001 - a `Diagnose`
    raise ConditionNotMet(
        "Diagnostics are made where the database is, not over a service.",
        condition="answered by a database",
        hint="Ask the owner to run them.",
    )
