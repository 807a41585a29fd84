"""A server of the Model Context Protocol: a language model asks as an analyst of its own, within that analyst's cap.

Needs the library `mcp`, which is an extra.
"""

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

from mcp.server.mcpserver import MCPServer
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field

from hedgerow import __version__
from hedgerow.answer import Answer, notes
from hedgerow.errors import HedgerowError
from hedgerow.execution.request import Parameters
from hedgerow.figures import finite
from hedgerow.ledger import BudgetView
from hedgerow.owners_log import about, withheld
from hedgerow.session.asynchronous import AsyncDatabase
from hedgerow.session.quote import Quote
from hedgerow.session.tables import Description, TableList

INSTRUCTIONS = """\
Ask a database about people without learning much about any one of them. Every number that comes back has noise in it \
and an interval that says how wrong it may be: report both, and make nothing of differences within the intervals.

Begin with list_tables. Only aggregates are answered (COUNT, SUM, AVG, MEDIAN, …, GROUP BY); single rows are refused. \
Each new question costs a part of a budget that never grows back: call quote first, which is free, and budget to see \
what is left. The same question asked again is free and has the same digits, so averaging repeated answers is useless. \
A refusal has a code and a hint: change the question accordingly instead of repeating it."""

MOST_ROWS = 200
"""Maximum number of rows of an answer that a model gets."""

SQL = Annotated[str, Field(description="One SELECT statement.")]
Values = Annotated[dict[str, Any] | None, Field(description="Values for :name in the statement, by name.")]
Epsilon = Annotated[
    float | None, Field(description="The most that the statement may cost; by default the owner's. More is more exact.")
]
Within = Annotated[
    str | None,
    Field(
        description="The error to reach at the least cost, in place of epsilon: 5% of the value, abs:100 of its unit."
    ),
]
Confidence = Annotated[float | None, Field(description="How often an interval holds, such as 0.95.")]

Tool = Callable[..., Awaitable[dict[str, Any]]]
FREE = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
CHARGED = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


class AskedDatabase(Protocol):
    """The part of an `AsyncDatabase` that the tools use."""

    @property
    def tables(self) -> TableList:
        """Tables and columns that may be asked about."""

    async def sql(self, query: str, *, params: Parameters = None, **options: Any) -> Answer:  # noqa: ANN401 - its options
        """Ask a question."""

    async def quote(self, query: str, *, params: Parameters = None, **options: Any) -> Quote:  # noqa: ANN401 - likewise
        """Return the cost of a question."""

    async def describe(self, query: str, params: Parameters = None) -> Description:
        """List the columns of a statement's answer."""

    async def budget(self) -> BudgetView:
        """Return spent and remaining budget."""


def build_server(databases: AsyncDatabase | Mapping[str, AskedDatabase]) -> MCPServer:
    """Return a server whose five tools ask one database, or several by name, in the name of one analyst.

    The tools have an argument for the dataset only where there are several.
    """
    server: MCPServer = MCPServer("hedgerow", instructions=INSTRUCTIONS, version=__version__, log_level="ERROR")
    log = None if isinstance(databases, Mapping) else databases.sync.owners_log
    by_name: Mapping[str, Any] = databases if isinstance(databases, Mapping) else {"": databases}

    def tool(annotations: ToolAnnotations) -> Callable[[Tool], None]:
        def register(method: Tool) -> None:
            server.tool(annotations=annotations)(_reporting(_with_dataset(method, by_name), log))

        return register

    @tool(FREE)
    async def list_tables(database: AskedDatabase) -> dict[str, Any]:
        """List the tables and columns that may be asked about, with what their owner declares of them. Free."""
        return {"tables": [_declared(asdict(table)) for table in database.tables]}

    @tool(FREE)
    async def describe(database: AskedDatabase, sql: SQL, params: Values = None) -> dict[str, Any]:
        """List the columns that a statement would answer with: name, type, and whether noise is in them. Free."""
        described = await database.describe(sql, params)
        columns = [{"name": column.name, "type": column.type, "noisy": column.noisy} for column in described.columns]
        return {"columns": columns, "parameters": [asdict(parameter) for parameter in described.parameters]}

    @tool(FREE)
    async def quote(
        database: AskedDatabase,
        sql: SQL,
        params: Values = None,
        epsilon: Epsilon = None,
        within: Within = None,
        confidence: Confidence = None,
    ) -> dict[str, Any]:
        """Tell what a statement would cost, whether that fits, and how wide its intervals would be. Free."""
        quoted = await database.quote(sql, params=params, epsilon=epsilon, within=within, confidence=confidence)
        shown = quoted.to_dict()
        return {name: value for name, value in shown.items() if name not in {"sql", "mechanisms"}} | {
            "notes": list(quoted.notes)
        }

    @tool(CHARGED)
    async def query(
        database: AskedDatabase,
        sql: SQL,
        params: Values = None,
        epsilon: Epsilon = None,
        within: Within = None,
        confidence: Confidence = None,
    ) -> dict[str, Any]:
        """Ask a question and pay for it. Every noisy number has an interval; notes say what shaped the answer."""
        return _answer(await database.sql(sql, params=params, epsilon=epsilon, within=within, confidence=confidence))

    @tool(FREE)
    async def budget(database: AskedDatabase) -> dict[str, Any]:
        """Tell how much of this analyst's budget is spent, and what is left. Free."""
        view = await database.budget()
        return {"summary": repr(view), **view.to_dict()}

    return server


def _with_dataset(method: Tool, databases: Mapping[str, Any]) -> Tool:
    """Return a tool that takes the name of a dataset instead of a database; neither if there is one dataset."""
    signature = inspect.signature(method)
    arguments = list(signature.parameters.values())[1:]
    only = next(iter(databases)) if len(databases) == 1 else None
    if only is None:
        names = Annotated[Literal[tuple(databases)], Field(description="Name of the dataset.")]  # type: ignore[valid-type]
        arguments.insert(0, inspect.Parameter("dataset", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=names))

    @wraps(method)
    async def asking(**given: Any) -> dict[str, Any]:  # noqa: ANN401 - the arguments of the tool
        name = given.pop("dataset") if only is None else only
        return await method(databases[name], **given)

    asking.__signature__ = signature.replace(parameters=arguments)  # type: ignore[attr-defined]
    return asking


def _reporting(method: Tool, log: Path | None) -> Callable[..., Awaitable[CallToolResult]]:
    """Return a tool whose refusals are tool errors with code and hint.

    Privacy: an exception that is not ours is not shown, because its message could quote private values. It goes to the
    owner's log.
    """

    @wraps(method)
    async def reporting(**given: Any) -> CallToolResult:  # noqa: ANN401 - the arguments of the tool
        try:
            return _result(await method(**given))
        except HedgerowError as error:
            return _result({"error": error.to_dict() | {"text": str(error)}}, failed=True)
        except Exception as error:  # noqa: BLE001 - see above
            with about(log):
                bug = withheld(error)
            return _result({"error": bug.to_dict() | {"text": str(bug)}}, failed=True)

    return reporting


def _result(content: dict[str, Any], *, failed: bool = False) -> CallToolResult:
    plain: Any = finite(content)
    text = plain["error"]["text"] if failed else json.dumps(plain, ensure_ascii=False)
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=plain, is_error=failed)


def _declared(facts: dict[str, Any]) -> dict[str, Any]:
    """Return what is declared of a table or a column, leaving out what is not."""
    known = {name: value for name, value in facts.items() if value is not None and value is not False}
    return known | {"columns": [_declared(column) for column in facts["columns"]]} if "columns" in facts else known


def _answer(answer: Answer) -> dict[str, Any]:
    """Return an answer as plain JSON: rows by column name, intervals beside them, notes and price."""
    document = answer.to_dict()
    rows = [dict(zip(answer.columns, row, strict=True)) for row in document["rows"][:MOST_ROWS]]
    said = notes(answer, whole=True)
    if len(answer) > MOST_ROWS:
        said = [f"Only the first {MOST_ROWS} of {len(answer):,} rows are shown: ask for fewer groups.", *said]
    return {
        "columns": answer.columns,
        "noisy": list(answer.noisy),
        "rows": rows,
        "intervals": document["intervals"][:MOST_ROWS],
        "confidence": answer.confidence,
        "notes": said,
        "charge": document["charge"],
        "remaining": document["remaining"],
        "reused": document["reused"],
        "receipt": answer.receipt.id,
    }
