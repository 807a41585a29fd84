"""Everything that a statement lacks, in one refusal, with the lines that the catalog needs. Reads no private row."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

from hedgerow.catalog.names import lookup
from hedgerow.catalog.patch import quote
from hedgerow.catalog.strict_yaml import FILL_IN
from hedgerow.errors import (
    HedgerowError,
    ParameterError,
    ParseError,
    QueryError,
    UnknownNameError,
    UnsupportedSQLError,
    pointing_into,
)
from hedgerow.execution.request import Options, Parameters, merge_options, resolve_request
from hedgerow.execution.session import Session
from hedgerow.expressions.nodes import Column
from hedgerow.expressions.types import Type
from hedgerow.late import late
from hedgerow.plan.nodes import LogicalPlan, Release, inside, scans_of
from hedgerow.sql.parse import parse

if TYPE_CHECKING:
    from hedgerow.calibration.missing_bounds import find_unbounded
else:
    find_unbounded = late("hedgerow.calibration.missing_bounds", "find_unbounded")

EPSILON, DELTA, MAX_ROWS, BOUNDS = "missing-epsilon", "missing-delta", "missing-max-rows", "missing-bounds"
TYPICAL_ROWS = 10
"""The number in the line for `max_rows`, which the owner replaces by one that is usual."""


@contextmanager
def all_missing(session: Session, text: str, params: Parameters, options: Options) -> Iterator[None]:
    """Complete a refusal for something that is missing by everything else that the statement lacks."""
    try:
        yield
    except QueryError as error:
        if error.code not in {EPSILON, DELTA, MAX_ROWS, BOUNDS} or error.receipt is not None:
            raise
        raise _Lacking(session, text, params, options).refusal(error) from None


class _Lacking:
    """The settings that one statement lacks, found by pricing it with a placeholder for each."""

    def __init__(self, session: Session, text: str, params: Parameters, options: Options) -> None:
        self._session = session
        self._text = text
        self._params = params
        self._options: dict[str, Any] = dict(options)
        self._errors: dict[str, QueryError] = {}
        self._tables: tuple[str, ...] = ()
        self._columns: tuple[tuple[str, str], ...] = ()

    def refusal(self, first: QueryError) -> HedgerowError:
        """Return the refusal that names all of them; the first one as it is, if there is nothing more to say."""
        if self._options.get("bounds") == "auto":
            return first
        try:
            with pointing_into(self._text):
                self._collect()
        except (ParseError, UnknownNameError, UnsupportedSQLError) as error:
            return first if first.code == BOUNDS else error  # the first fault of the text that was found
        except HedgerowError:
            pass  # a consequence of the placeholders; what is missing so far is reported
        self._errors.setdefault(first.code, first)
        if len(self._errors) == 1:
            first.hint = self._hint()
            return first
        tables, columns = " and ".join(self._tables), " and ".join(name for _, name in self._columns)
        words = {EPSILON: "epsilon", DELTA: "delta", MAX_ROWS: f"max_rows of {tables}" if tables else "max_rows"}
        words[BOUNDS] = f"bounds of {columns}" if columns else "bounds"
        listed = ", ".join(words[code] for code in words if code in self._errors)
        message = f"Neither the query nor the catalog sets what this statement needs: {listed}."
        refusal = ParameterError(message, code="missing-settings", hint=self._hint())
        if BOUNDS in self._errors:
            refusal.span, refusal.text = self._errors[BOUNDS].span, self._text
        return refusal

    def _collect(self) -> None:
        """Price the statement, with one more placeholder after each refusal for something that is missing."""
        placeholders = {EPSILON: ("epsilon", self._epsilon), DELTA: ("delta", self._delta)}
        placeholders[MAX_ROWS] = ("max_rows", TYPICAL_ROWS)
        while True:
            try:
                self._price()
            except QueryError as error:
                if error.code in self._errors or error.code not in {*placeholders, BOUNDS}:
                    raise
                self._errors[error.code] = error
                if error.code in placeholders:
                    name, value = placeholders[error.code]
                    self._options[name] = value
            else:
                return

    def _price(self) -> None:
        session = self._session
        syntax = parse(self._text, session.dialect)
        request = resolve_request(
            session.catalog, **merge_options(syntax.options, cast("Options", self._options), session.catalog)
        )
        bind = partial(session.bind, params=self._params, bounds=request.bounds)
        if BOUNDS not in self._errors:
            logical = bind(syntax.query)
        else:
            unbounded_query = find_unbounded(syntax.query, bind)
            unbounded = [self._unbounded(value.release, value.value) for value in unbounded_query.values.values()]
            self._columns = tuple(dict.fromkeys(chain.from_iterable(unbounded)))
            logical = bind(unbounded_query.with_bounds(dict.fromkeys(unbounded_query.values, (0, 1))))
        self._tables = tuple(self._without_limit(logical))
        if logical.releases:
            session.price(logical, request, session.remaining())

    def _without_limit(self, logical: LogicalPlan) -> Iterator[str]:
        """Yield the private tables of a plan that have no limit on the rows of one person."""
        for release in logical.releases:
            names = dict.fromkeys(scan.table for scan in scans_of(release) if not scan.added)
            for name in names if release.limits.max_rows is None else ():
                table = lookup(self._session.catalog.tables, name)
                if table is not None and not table.public and table.max_rows is None:
                    yield table.name

    def _unbounded(self, release: Release, value: object) -> Iterator[tuple[str, str]]:
        """Yield the table and the name of each column of a value that could have bounds, and has none."""
        tables = {scan.alias: scan.table for scan in scans_of(release)}
        for part in inside(value):
            if isinstance(part, Column) and part.table in tables and not part.range.is_finite:
                imposed = self._imposed(tables[part.table], part.name)
                if (imposed or part.type).is_numeric:
                    yield tables[part.table], part.name

    def _imposed(self, table: str, column: str) -> Type | None:
        """Return the type that the catalog declares for a column; None if it declares none."""
        declared = lookup(self._session.catalog.tables, table)
        known = None if declared is None else declared.column(column)
        return None if known is None else known.type

    @property
    def _epsilon(self) -> float:
        """A tenth of the budget, or the owner's cap on one statement."""
        policy = self._session.catalog.budget
        tenth = float(f"{policy.epsilon / 10:.1g}")
        return tenth if policy.per_query is None else min(tenth, policy.per_query.epsilon)

    @property
    def _delta(self) -> float:
        """A hundredth of the budget's, as a power of ten."""
        return float(f"1e{math.floor(math.log10(self._session.catalog.budget.delta)) - 2}")

    def _hint(self) -> str:
        suggestions = {EPSILON: f"epsilon={self._epsilon:g}", DELTA: f"delta={_plain(self._delta)}"}
        suggestions |= {MAX_ROWS: f"max_rows={TYPICAL_ROWS}", BOUNDS: 'bounds="auto"'}
        options = ", ".join(suggestions[code] for code in suggestions if code in self._errors)
        lines = "\n".join(f"  {line}" for line in self._lines())
        clip = " or write CLIP(x, lower, upper)," if BOUNDS in self._errors else ""
        return f"Pass {options},{clip} or let the catalog say:\n{lines}" if lines else f"Pass {options},{clip[:-1]}."

    def _lines(self) -> Iterator[str]:
        """Yield the lines that the catalog lacks."""
        if {EPSILON, DELTA} & set(self._errors):
            yield "defaults:"
        if EPSILON in self._errors:
            yield f"  epsilon: {self._epsilon:g}"
        if DELTA in self._errors:
            yield f"  delta: {_plain(self._delta)}"
        limited = self._tables if MAX_ROWS in self._errors else ()
        if limited or self._columns:
            yield "tables:"
        for table in dict.fromkeys((*limited, *(name for name, _ in self._columns))):
            yield f"  {quote(table)}:"
            if table in limited:
                yield f"    max_rows: {TYPICAL_ROWS}"
            columns = [column for name, column in self._columns if name == table]
            if columns:
                yield "    columns:"
            for column in columns:
                imposed = self._imposed(table, column)
                kind = "" if imposed is None else f"type: {imposed.value}, "
                yield f"      {quote(column)}: {{{kind}lower: {FILL_IN}, upper: {FILL_IN}}}"


def _plain(number: float) -> str:
    return f"{number:g}".replace("e-0", "e-")
