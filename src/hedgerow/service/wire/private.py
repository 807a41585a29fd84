"""Private statements of one session: their columns and parameters, their answers and quotes, through the gateway."""

import asyncio
import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from weakref import WeakKeyDictionary

from hedgerow.answer.plain import plain
from hedgerow.errors import HedgerowError
from hedgerow.figures import finite
from hedgerow.service.access.model import Identity
from hedgerow.service.gateway import Gateway, RunningStatement
from hedgerow.service.shadow.cluster import Shadow
from hedgerow.service.shadow.lexing import WordKind, read_words
from hedgerow.service.shadow.relay import ShadowError, StatementTypes
from hedgerow.service.shadow.tables import budget_row
from hedgerow.service.wire.formats import BY_ID, JSON, TEXT, column_type, parameter_type
from hedgerow.service.wire.messages import StatementError
from hedgerow.service.wire.results import ResultColumn, StatementResult, answer_result, text_rows
from hedgerow.service.wire.settings import SessionSettings
from hedgerow.session.database import Database

INTERFACE, DIALECT = "wire", "postgres"
MAXIMUM_PARAMETERS = 65535
KEPT = 1000
"""Number of statements of one analyst whose columns and parameter types are kept."""

PLAN = "QUERY PLAN"


@dataclass(frozen=True, slots=True)
class StatementSignature:
    """Types of a statement: object ids of its parameters, and its columns (None until they are known)."""

    parameters: tuple[int, ...]
    columns: tuple[ResultColumn, ...] | None = None


class SignatureCache:
    """Types of statements by their text, of each analyst's view on a dataset. A reload makes new views."""

    def __init__(self) -> None:
        self._views: WeakKeyDictionary[Database, OrderedDict[tuple[Any, ...], StatementSignature]] = WeakKeyDictionary()

    def get(self, view: Database, key: tuple[Any, ...]) -> StatementSignature | None:
        """Return the known types of a statement."""
        signatures = self._views.get(view)
        return None if signatures is None else signatures.get(key)

    def keep(self, view: Database, key: tuple[Any, ...], signature: StatementSignature) -> StatementSignature:
        """Keep the types of a statement, and drop the oldest ones."""
        signatures = self._views.setdefault(view, OrderedDict())
        signatures[key] = signature
        while len(signatures) > KEPT:
            signatures.popitem(last=False)
        return signature


class PrivateStatements:
    """Asks, describes and quotes for one session. `cancel` stops the statement that runs, if one does."""

    def __init__(
        self,
        gateway: Gateway,
        identity: Identity,
        dataset: str,
        settings: SessionSettings,
        shadow: Shadow,
        signatures: SignatureCache,
    ) -> None:
        self._gateway = gateway
        self._identity = identity
        self.dataset = dataset
        self._settings = settings
        self._shadow = shadow
        self._signatures = signatures
        self._running: RunningStatement[Any] | None = None

    @property
    def view(self) -> Database:
        """The dataset as this analyst asks it."""
        return self._gateway.view(self._identity, self.dataset, DIALECT)

    def cancel(self) -> bool:
        """Stop the statement that runs; False if none does."""
        if self._running is None:
            return False
        self._running.cancel()
        return True

    async def parameters(self, query: str, given: Sequence[int]) -> StatementSignature:
        """Return the types of a statement's parameters: those that the client named, else those the shadow finds."""
        key = query, tuple(given)
        if (signature := self._signatures.get(self.view, key)) is not None:
            return signature
        numbers = [int(word.text[1:]) for word in read_words(query) if word.kind is WordKind.PARAMETER]
        number = max(numbers, default=0)
        if number > MAXIMUM_PARAMETERS:
            raise StatementError(f"there is no parameter ${number}", "42P02")
        types = (*given, *[0] * (number - len(given)))[: max(number, len(given))]
        if 0 in types:
            described = await self._types(query, given)
            inferred = (described.parameters if described else await self._inferred(query, number)) + (0,) * number
            types = tuple(named or seen for named, seen in zip(types, inferred, strict=False))
        for type_id in types:
            parameter_type(type_id)
        return self._signatures.keep(self.view, key, StatementSignature(types))

    async def _types(self, query: str, given: Sequence[int]) -> StatementTypes | None:
        """Return the types as the shadow sees them; None where it cannot read the statement."""
        try:
            return await self._shadow.describe(self.dataset, query, tuple(given))
        except ShadowError:
            return None

    async def _inferred(self, query: str, number: int) -> tuple[int, ...]:
        """Return the types of parameters as hedgerow finds them; 0 for one that it finds none for."""
        try:
            described = await self._gateway.describe(
                self._identity, self.dataset, query, interface=INTERFACE, dialect=DIALECT
            )
        except HedgerowError:
            return ()
        type_ids = {parameter.name: column_type(parameter.type).type_id for parameter in described.parameters}
        return tuple(type_ids.get(str(position), 0) for position in range(1, number + 1))

    async def columns(
        self, query: str, given: Sequence[int], values: Sequence[object] | None, *, probe: bool = False
    ) -> tuple[ResultColumn, ...]:
        """Return the columns of a query. Without values for its parameters, samples of their types stand for them."""
        signature = await self.parameters(query, given)
        if signature.columns is None:
            columns = await self._describe(query, signature.parameters, values, probe=probe)
            signature = self._signatures.keep(
                self.view, (query, tuple(given)), StatementSignature(signature.parameters, columns)
            )
        return signature.columns or ()

    async def _describe(
        self, query: str, types: Sequence[int], values: Sequence[object] | None, *, probe: bool
    ) -> tuple[ResultColumn, ...]:
        """Return the columns as hedgerow describes them, with the names that PostgreSQL gives them (`count`).

        The shadow describes a probe that shows no row (`SELECT * … LIMIT 0`), and a statement that samples do not fit.
        """
        seen = await self._types(query, types)
        params = values if values is not None else [_sample(type_id, index) for index, type_id in enumerate(types)]
        try:
            described = await self._gateway.describe(
                self._identity, self.dataset, query, params or None, interface=INTERFACE, dialect=DIALECT
            )
        except HedgerowError:
            if seen is None or not seen.columns or not (probe or (types and values is None)):
                raise
            return tuple(ResultColumn(column.name, BY_ID.get(column.type_id, TEXT)) for column in seen.columns)
        names = [column.name for column in (seen and seen.columns) or ()]
        if len(names) != len(described.columns):
            names = [column.name for column in described.columns]
        return tuple(
            ResultColumn(name, column_type(column.type), column.noisy, column.name)
            for name, column in zip(names, described.columns, strict=True)
        )

    async def ask(self, query: str, given: Sequence[int], values: Sequence[object]) -> StatementResult:
        """Ask a question and return its answer as rows."""
        settings = self._settings
        columns = await self.columns(query, given, values)
        self._running = self._gateway.submit(
            self._identity,
            self.dataset,
            query,
            list(values) or None,
            interface=INTERFACE,
            dialect=DIALECT,
            timeout=settings.timeout,
            **settings.options,
        )
        try:
            answer = await self._running.answer()
        finally:
            self._running = None
        slow = settings.intervals or (settings.notices and not answer.receipt.reused)
        if slow:
            return await asyncio.to_thread(
                answer_result, answer, columns, intervals=settings.intervals, notices=settings.notices
            )
        return answer_result(answer, columns, intervals=False, notices=settings.notices)

    async def quote(self, query: str, values: Sequence[object], *, as_json: bool) -> StatementResult:
        """Return the quote of a question as the rows of EXPLAIN; the first has the price where tools read a cost."""
        quote = await self._gateway.quote(
            self._identity,
            self.dataset,
            query,
            list(values) or None,
            interface=INTERFACE,
            dialect=DIALECT,
            **self._settings.options,
        )
        epsilon = quote.charge.epsilon
        if as_json:
            plan = {"Node Type": "Private answer", "Startup Cost": 0.0, "Total Cost": epsilon}
            content = [{"Plan": plan, "Quote": finite(quote.to_dict())}]
            return text_rows(PLAN, [json.dumps(content, indent=2, default=plain)], "EXPLAIN", JSON)
        lines = [f"Private answer  (cost=0.00..{epsilon:.6g}, in epsilon)", *str(quote).splitlines()]
        return text_rows(PLAN, lines, "EXPLAIN")

    async def budget(self) -> StatementResult:
        """Return the rows of SHOW hedgerow.budget."""
        view = await self._gateway.budget(self._identity, self.dataset, interface=INTERFACE)
        return text_rows("hedgerow.budget", str(view).splitlines(), "SHOW")

    async def budget_rows(self) -> str:
        """Return the row of the view `hedgerow.budget`, as JSON."""
        view = await self._gateway.budget(self._identity, self.dataset, interface=INTERFACE)
        return json.dumps([finite(budget_row(view, self._identity.name))])

    async def check_option(self, name: str, value: object) -> None:
        """Raise an error if the owner does not allow an option of a question."""
        if name != "bounds":
            option: dict[str, Any] = {name: value}
            await self._gateway.describe(
                self._identity, self.dataset, "SELECT 1", interface=INTERFACE, dialect=DIALECT, **option
            )


def _sample(type_id: int, index: int) -> object:
    """Return a value of a type; a later parameter gets a larger one, because a lower bound precedes its upper bound."""
    sample = parameter_type(type_id).sample
    if isinstance(sample, bool | str) or not hasattr(sample, "__add__"):
        return sample
    return sample + (timedelta(days=index + 1) if hasattr(sample, "year") else index + 1)
