"""`db.explain`: how a statement would be answered. It reads no private row and is free."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hedgerow.accounting.budget import Spending
from hedgerow.answer import Mechanism
from hedgerow.answer.plot import Errors
from hedgerow.compile import postprocess, program
from hedgerow.dialects import DUCKDB
from hedgerow.exchange import decode, encode
from hedgerow.execution.run import fixes_rows, keeps_facts
from hedgerow.execution.session import Session
from hedgerow.expressions.nodes import describe
from hedgerow.plan.nodes import AggregateCall, From, Grouped, Join, LogicalPlan, Release, Released, Scan, Select, Values
from hedgerow.session.corridor import BoundStatement
from hedgerow.session.page import explanation_html, explanation_page, page_text
from hedgerow.session.quote import NO_NONCE, Quote, dump_quote, load_quote, price_statement

GROUPS = {"one": "all rows", "declared": "declared keys", "selected": "keys that enough people share"}


@dataclass(frozen=True)
class ExplainedSQL:
    """One SQL statement that would run.

    Attributes:
        step: "first pass" (people and sums of every group), "measure" (sums over the selected groups), "buckets" (for
            quantiles), "values" (for COUNT(DISTINCT …)), "public" (over public tables alone), or "postprocess": over
            released numbers, in the embedded DuckDB.
        sql: Its text. A nonce of zeros stands for the random one.
    """

    step: str
    sql: str


@dataclass(frozen=True)
class ExplainedLimits:
    """Limits of one release.

    Attributes:
        max_rows: Maximum number of rows of one person.
        max_rows_per_group: Maximum number of rows of one person in one group.
        max_groups: Maximum number of groups of one person.
        min_frequency: Minimum number of people in a group.
        keys: Origin of the groups: "one", "declared" or "selected".
    """

    max_rows: int
    max_rows_per_group: int
    max_groups: int
    min_frequency: int
    keys: str


@dataclass(frozen=True, repr=False)
class Explanation:
    """Explanation of how a statement would be answered. `print` shows all of it.

    Attributes:
        query: The statement.
        columns: The names of the columns of its answer.
        plan: What is read, grouped and aggregated, as text.
        limits: For each release of the statement, the limits of one person, and the origin of its groups.
        statements: The SQL that would run, in order; empty if bounds have yet to be found.
        quote: The price, with noise and predicted errors: see `Quote`.
        shortcuts: Cheaper SQL with the same result that may run first or instead, where it is known that rows did not
            change, and the facts about these rows that it relies on. Which of it would run is not shown.
    """

    query: str
    columns: tuple[str, ...]
    plan: str
    limits: tuple[ExplainedLimits, ...]
    statements: tuple[ExplainedSQL, ...]
    quote: Quote
    shortcuts: tuple[ExplainedSQL, ...] = ()

    @property
    def charge(self) -> Spending:
        """Guarantee that the statement would have on its own."""
        return self.quote.charge

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Noise of every measure."""
        return self.quote.mechanisms

    def __str__(self) -> str:
        statements = ((statement.step, statement.sql) for statement in self.statements)
        return page_text(explanation_page(self.plan, self.quote, statements, cheaper=bool(self.shortcuts)))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        statements = ((statement.step, statement.sql) for statement in self.statements)
        return explanation_html(self.plan, self.quote, statements, cheaper=bool(self.shortcuts))


def dump_explanation(explanation: Explanation) -> dict[str, Any]:
    """Return an explanation as plain JSON, from which `load_explanation` makes an equal one."""
    return {"explanation": encode(explanation), "quote": dump_quote(explanation.quote)}


def load_explanation(document: Mapping[str, Any], reprice: Callable[[float], Errors]) -> Explanation:
    """Return the explanation that `dump_explanation` wrote; `reprice` predicts the errors at another epsilon."""
    explanation: Explanation = decode(Explanation, document["explanation"])
    return replace(explanation, quote=load_quote(document["quote"], reprice))


def explain_statement(session: Session, statement: BoundStatement) -> Explanation:
    """Explain a statement. Free; reads no private row."""
    priced = price_statement(session, statement)
    logical, quote = priced.logical, priced.quote
    statements, shortcuts = [], []
    if not priced.parts:
        statements = [ExplainedSQL("public", sql) for sql in quote.sql]
    elif quote.sql:
        backend = session.backend
        programs = [
            program(
                part,
                backend.dialect,
                NO_NONCE,
                shortcuts=keeps_facts(backend, part.release),
                fixed=fixes_rows(backend, part.release),
            )
            for part in priced.parts
        ]
        statements = [ExplainedSQL(step, sql) for steps in programs for step, sql in steps.named_texts()]
        statements.append(ExplainedSQL("postprocess", postprocess(logical, DUCKDB).sql))
        shortcuts = [ExplainedSQL(step, sql) for steps in programs for step, sql in steps.shortcut_texts()]
    limits = tuple(
        ExplainedLimits(
            part.bounding.rows,
            part.bounding.rows_per_group,
            part.bounding.groups,
            part.minimum,
            part.keys.rule.value,
        )
        for part in priced.parts
    )
    plan = "\n".join(_plan(logical, limits))
    return Explanation(statement.text, logical.names, plan, limits, tuple(statements), quote, tuple(shortcuts))


def _plan(logical: LogicalPlan, limits: tuple[ExplainedLimits, ...]) -> Iterator[str]:
    """Format a plan: its releases from the rows upwards, and the output columns."""
    yield f"show       {', '.join(logical.names)}"
    if not logical.releases:
        yield f"from       {_from(logical.root.source)}"
    for number, (release, limit) in enumerate(zip(logical.releases, limits, strict=True), 1):
        yield f"release {number}  {', '.join(map(_call, release.calls)) or 'the groups alone'}"
        yield f"  from     {_from(release.source)}"
        if release.where:
            yield f"  where    {' AND '.join(map(describe, release.where))}"
        if release.keys:
            yield f"  group by {', '.join(describe(key.expr) for key in release.keys)} ({GROUPS[limit.keys]})"
        yield f"  person   {describe(release.owner)}: {_limit(release, limit)}"
        if limit.min_frequency > 1:
            yield f"  shown    groups of at least {limit.min_frequency:,} people, by a noisy test"


def _limit(release: Release, limit: ExplainedLimits) -> str:
    rows = "1 row" if limit.max_rows == 1 else f"at most {limit.max_rows:,} rows"
    if not release.keys or limit.max_rows == 1:
        return f"counts for {rows}"
    groups = "1 group" if limit.max_groups == 1 else f"{limit.max_groups:,} groups"
    return f"counts for {rows}, {limit.max_rows_per_group:,} in a group, in at most {groups}"


def _call(call: AggregateCall) -> str:
    arguments = ", ".join(map(describe, call.arguments)) or ("person" if call.distinct else "*")
    text = f"{call.function}({'DISTINCT ' if call.distinct else ''}{arguments})"
    return text if call.filter is None else f"{text} FILTER (WHERE {describe(call.filter)})"


def _from(source: From | None) -> str:
    if source is None:
        return "one row"
    if isinstance(source, Scan):
        return source.table
    if isinstance(source, Values):
        return "constants"
    if isinstance(source, Join):
        on = "" if source.condition is None else f" ON {describe(source.condition)}"
        return f"{_from(source.left)} {source.kind.upper()} JOIN {_from(source.right)}{on}"
    if isinstance(source, Grouped):
        keys = ", ".join(dict.fromkeys(describe(key.expr) for key in source.keys))
        return f"({_from(source.source)} GROUP BY {keys})" if keys else f"({_from(source.source)}, aggregated)"
    if isinstance(source, Released):
        return "released numbers"
    query = source.query
    inner = _from(query.source) if isinstance(query, Select) else f"{query.operator} of queries"
    return inner if inner.startswith("(") else f"({inner})"
