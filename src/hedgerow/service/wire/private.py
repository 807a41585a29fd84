"""Private statements of one session, through the gateway: their columns and parameters, answers and quotes.

A result has columns, rows, and a notice about the price; it is sent as rows, or by COPY TO STDOUT.
"""

import asyncio
import json
import math
import struct
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from weakref import WeakKeyDictionary

import pyarrow as pa

from hedgerow.answer import Answer, caption, notes
from hedgerow.answer.captions import short_notes
from hedgerow.answer.plain import plain, rounded_outwards
from hedgerow.errors import HedgerowError
from hedgerow.figures import finite
from hedgerow.service.access.model import Identity
from hedgerow.service.gateway import Gateway, RunningStatement
from hedgerow.service.shadow.cluster import Shadow
from hedgerow.service.shadow.lexing import WordKind, read_words
from hedgerow.service.shadow.relay import ShadowError, StatementTypes
from hedgerow.service.shadow.tables import budget_row
from hedgerow.service.wire.formats import BY_ID, FLOAT8, JSON, TEXT, WireType, column_type, encode, parameter_type
from hedgerow.service.wire.messages import COPY_DONE, StatementError, copy_out, data_row, message
from hedgerow.service.wire.settings import SessionSettings
from hedgerow.session.database import Database

BINARY_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
BINARY_TRAILER = b"\xff\xff"


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """One column of a result: `source` is its name in the answer, where the client is shown another."""

    name: str
    type: WireType
    noisy: bool = False
    source: str | None = None

    @property
    def described(self) -> tuple[str, int, int]:
        """Name, object id and size, as a RowDescription has them."""
        return self.name, self.type.type_id, self.type.size


@dataclass(frozen=True, slots=True)
class StatementResult:
    """Result of a statement: `columns` is None for one without rows; `tag` names the command in CommandComplete."""

    tag: str
    columns: tuple[ResultColumn, ...] | None = None
    rows: Sequence[Sequence[Any]] = ()
    notice: Mapping[str, str] = field(default_factory=dict)


def with_intervals(columns: Sequence[ResultColumn]) -> tuple[ResultColumn, ...]:
    """Return the columns with `<name>_lower` and `<name>_upper` behind each noisy one."""
    names = {column.name for column in columns}
    shown: list[ResultColumn] = []
    for column in columns:
        shown.append(column)
        for part in ("lower", "upper") if column.noisy else ():
            name = f"{column.name}_{part}"
            while name in names:
                name += "_"
            names.add(name)
            shown.append(ResultColumn(name, FLOAT8))
    return tuple(shown)


def answer_result(
    answer: Answer, columns: Sequence[ResultColumn], *, intervals: bool, notices: bool
) -> StatementResult:
    """Return an answer as rows. With `intervals` both ends follow each noisy number; an open end is infinite.

    Intervals of whole numbers have whole ends, rounded outwards.
    """
    table = pa.table(answer)
    if table.num_columns != len(columns):
        raise StatementError("cached plan must not change result type", "0A000", hint="Prepare the statement again.")
    shown: list[list[Any]] = []
    for column, values in zip(columns, table.columns, strict=True):
        shown.append(values.to_pylist())
        if intervals and column.noisy:
            bars = [row.get(column.source or column.name) for row in answer.intervals]
            if pa.types.is_integer(values.type):
                bars = [None if bar is None else rounded_outwards(bar) for bar in bars]
            shown.append([None if bar is None or math.isnan(bar.lower) else bar.lower for bar in bars])
            shown.append([None if bar is None or math.isnan(bar.upper) else bar.upper for bar in bars])
    rows = list(zip(*shown, strict=True)) if shown else []
    named = with_intervals(columns) if intervals else tuple(columns)
    return StatementResult(f"SELECT {len(rows)}", named, rows, price_notice(answer) if notices else {})


def price_notice(answer: Answer) -> dict[str, str]:
    """Return the fields of a notice about an answer: price, receipt, and notes; nothing for public data."""
    receipt = answer.receipt
    if receipt.id is None and not receipt.reused:
        return {}
    # the notes on single numbers need every interval, which takes long for some: a repeat does without them
    said = [note.short or "" for note in short_notes(answer)] if receipt.reused else notes(answer)
    price = f"{caption(answer)}; receipt {receipt.id}"
    return {"S": "NOTICE", "C": "00000", "M": price, **({"D": "\n".join(said)} if said else {})}


def text_rows(name: str, lines: Sequence[str], tag: str, kind: WireType = TEXT) -> StatementResult:
    """Return one column of texts."""
    return StatementResult(tag, (ResultColumn(name, kind),), [(line,) for line in lines])


def row_messages(
    columns: Sequence[ResultColumn], rows: Sequence[Sequence[Any]], formats: Sequence[int], codec: str
) -> Iterator[bytes]:
    """Return each row as a message."""
    encoders = [(column.type, code) for column, code in zip(columns, formats, strict=True)]
    for row in rows:
        yield data_row([encode(kind, value, code, codec) for (kind, code), value in zip(encoders, row, strict=True)])


COPY_OPTIONS = frozenset({"FORMAT", "HEADER", "DELIMITER", "NULL", "QUOTE", "ESCAPE", "ENCODING"})


def copy_messages(result: StatementResult, options: Mapping[str, str], codec: str) -> Iterator[bytes]:
    """Return the messages of COPY TO STDOUT, without the closing CommandComplete."""
    columns = result.columns or ()
    unknown = set(options) - COPY_OPTIONS
    form = options.get("FORMAT", "TEXT").upper()
    if unknown or form not in {"TEXT", "CSV", "BINARY"}:
        raise StatementError(f"COPY option {min(unknown, default=form)} is not supported", "0A000")
    if any(len(options[name]) != 1 for name in ("DELIMITER", "QUOTE", "ESCAPE") if name in options):
        raise StatementError("COPY delimiter, quote and escape must each be a single character", "22023")
    yield copy_out(int(form == "BINARY"), len(columns))
    if form == "BINARY":
        yield from (message(b"d", part) for part in _binary(columns, result.rows))
    else:
        lines = (_csv if form == "CSV" else _text)(columns, result.rows, options)
        yield from (message(b"d", line.encode(codec, errors="replace")) for line in lines)
    yield COPY_DONE


def _binary(columns: Sequence[ResultColumn], rows: Sequence[Sequence[Any]]) -> Iterator[bytes]:
    """The header shares a message with the first row, as in PostgreSQL: some clients rely on it."""
    head, count = BINARY_HEADER, struct.pack("!h", len(columns))
    for row in rows:
        values = [encode(column.type, value, 1, "utf-8") for column, value in zip(columns, row, strict=True)]
        fields = [b"\xff\xff\xff\xff" if value is None else struct.pack("!i", len(value)) + value for value in values]
        yield head + count + b"".join(fields)
        head = b""
    yield head + BINARY_TRAILER


def _shown(column: ResultColumn, value: object) -> str | None:
    return None if value is None else column.type.text(value)


def _text(columns: Sequence[ResultColumn], rows: Sequence[Sequence[Any]], options: Mapping[str, str]) -> Iterator[str]:
    delimiter, null = options.get("DELIMITER", "\t"), options.get("NULL", "\\N")
    special = {delimiter: f"\\{delimiter}", "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    escapes = str.maketrans(special)
    if _is_on(options.get("HEADER")):
        yield delimiter.join(column.name.translate(escapes) for column in columns) + "\n"
    for row in rows:
        texts = [_shown(column, value) for column, value in zip(columns, row, strict=True)]
        yield delimiter.join(null if text is None else text.translate(escapes) for text in texts) + "\n"


def _csv(columns: Sequence[ResultColumn], rows: Sequence[Sequence[Any]], options: Mapping[str, str]) -> Iterator[str]:
    delimiter, null, quote = options.get("DELIMITER", ","), options.get("NULL", ""), options.get("QUOTE", '"')
    escape = options.get("ESCAPE", quote)

    def quoted(text: str) -> str:
        if text not in {null, "\\."} and not any(mark in text for mark in (delimiter, quote, "\n", "\r")):
            return text
        escaped = text if escape == quote else text.replace(escape, escape * 2)
        return f"{quote}{escaped.replace(quote, escape + quote)}{quote}"

    if _is_on(options.get("HEADER")):
        yield delimiter.join(quoted(column.name) for column in columns) + "\n"
    for row in rows:
        texts = [_shown(column, value) for column, value in zip(columns, row, strict=True)]
        yield delimiter.join(null if text is None else quoted(text) for text in texts) + "\n"


def _is_on(value: str | None) -> bool:
    return value is not None and value.upper() in {"TRUE", "ON", "1", "MATCH"}


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
