"""Routing of statements: to hedgerow, to the shadow, or refused.

The rule is an allow-list. A statement can read a declared table only if it names it, so a query in which no word is the
name of a declared table goes to the shadow. A query with such a word is parsed; it goes to the shadow only if the tree
shows each of these words as a column or an alias. Everything else is private, and hedgerow answers or refuses it.
Scopes are not followed: a common table expression with the name of a declared table makes a query private.

The shadow does not rely on this: reading a declared table there raises an error (see `tables.py`).
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from sqlglot import exp

from hedgerow.errors import HedgerowError, ParseError, Span, UnsupportedSQLError
from hedgerow.expressions.table_names import parts_of
from hedgerow.service.shadow.lexing import Word, WordKind, fold_name, read_words, split_statements
from hedgerow.session.tables import TableInfo
from hedgerow.sql.parse import parse

CACHED: Final = 2048
"""Number of texts whose decisions are kept."""

MAXIMUM_CACHED_TEXT: Final = 20_000
"""Number of characters of a text whose decision is kept."""

MAXIMUM_TEXT: Final = 1_000_000
"""Number of characters of one message to be read at all."""

SYSTEM_SCHEMAS: Final = frozenset({"pg_catalog", "information_schema", "pg_toast", "hedgerow"})
OWN_SCHEMA: Final = "hedgerow"
DEFAULT_SCHEMA: Final = "public"
STRINGS: Final = "standard_conforming_strings"


class Route(StrEnum):
    """Destination of a statement."""

    EMPTY = "empty"
    SHADOW = "shadow"
    PRIVATE = "private"
    PROBE = "probe"
    """A private query whose result is always empty (LIMIT 0, WHERE 1 = 0): the client wants only its columns."""
    BUDGET = "budget"
    """A query of `hedgerow.budget`: the shadow answers it once the session has set the values."""
    SETTING = "setting"
    """SET, SHOW or RESET of `hedgerow.…`."""
    EXPLAIN = "explain"
    """EXPLAIN of a private query."""
    COPY_OUT = "copy-out"
    """COPY of a private query to the client."""
    CURSOR = "cursor"
    """DECLARE of a private query; FETCH, MOVE and CLOSE of any cursor (the session knows whose it is)."""
    PREPARE = "prepare"
    """PREPARE of a private query; EXECUTE and DEALLOCATE of any statement (the session knows whose it is)."""
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Decision:
    """Route of one statement.

    Attributes:
        route: Where it goes.
        text: The statement as it was sent, without semicolon.
        start: Position of the statement in the message.
        command: Its first word in capitals.
        query: The private query in it. `public.` before a declared table is replaced by blanks, so that positions stay.
        offset: Position of the query in `text`.
        refusal: The error, if it is refused; its span counts from the beginning of `text`.
    """

    route: Route
    text: str = ""
    start: int = 0
    command: str = ""
    query: str = ""
    offset: int = 0
    refusal: HedgerowError | None = None

    @property
    def error(self) -> HedgerowError | None:
        """A new copy of the refusal, to be raised: decisions are kept, and a raised error keeps its traceback."""
        return copy(self.refusal)


QUERIES: Final = frozenset({"SELECT", "WITH", "VALUES", "TABLE", "("})

SESSION_COMMANDS: Final[Mapping[str, Route]] = {
    **dict.fromkeys(("BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE"), Route.SHADOW),
    **dict.fromkeys(("DISCARD", "UNLISTEN", "SET", "SHOW", "RESET"), Route.SHADOW),
    **dict.fromkeys(("FETCH", "MOVE", "CLOSE"), Route.CURSOR),
    **dict.fromkeys(("EXECUTE", "DEALLOCATE"), Route.PREPARE),
}
"""Commands about the session: they name no table."""

READ_ONLY: Final = "The service reads only: ask with SELECT. Owners change the data in their own database."

HINTS: Final[Mapping[str, str]] = {
    "LISTEN": "The service sends no notifications.",
    "NOTIFY": "The service sends no notifications.",
    "DO": "Send the statements one by one, from your own program.",
    "CALL": "There are no procedures; ask with SELECT.",
    "LOCK": "Nothing has to be locked: the same question always gets the same answer.",
    "ANALYZE": "For the price of a query write EXPLAIN SELECT …",
    "CREATE": "Keep results in your own program; for a named subquery write WITH name AS (SELECT …).",
}

XML_SOURCES: Final = ("query", "cursor", "table", "schema", "database")

NOT_ALLOWED: Final = frozenset(
    (
        *("ALTER", "ANALYSE", "ANALYZE", "CALL", "CHECKPOINT", "CLUSTER", "COMMENT", "COPY", "CREATE", "DECLARE"),
        *("DELETE", "DO", "DROP", "EXECUTE", "EXPLAIN", "GRANT", "IMPORT", "INSERT", "LISTEN", "LOAD", "LOCK"),
        *("MERGE", "NOTIFY", "PREPARE", "REASSIGN", "REFRESH", "REINDEX", "REPACK", "REVOKE", "SECURITY"),
        *("TRUNCATE", "UPDATE", "VACUUM", "WAIT"),
    )
)
"""Commands of PostgreSQL that are not queries."""

RUNS_TEXT: Final = frozenset(
    (
        *(f"{source}_to_xml{kind}" for source in XML_SOURCES for kind in ("", "schema", "_and_xmlschema")),
        *("ts_stat", "ts_rewrite"),
    )
)
"""Functions that run a query which they get as a text, or read a table which they get as a name."""

TOOL_HINT: Final = (
    "Ask for aggregates, for instance COUNT(*). A tool that previews the rows of a table cannot preview this one: "
    "choose a chart or a query with a metric (COUNT, AVG …) and groups."
)


class Router:
    """Routes the statements of one dataset.

    `tables` are the declared tables, as in `db.tables`; `dataset` is the name of the database that clients see.
    """

    def __init__(self, tables: Iterable[TableInfo], dataset: str) -> None:
        listed = list(tables)
        names = {tuple(map(fold_name, parts_of(table.name))) for table in listed}
        self._names = frozenset(parts[-1] for parts in names)
        self._plain = frozenset(parts[0] for parts in names if len(parts) == 1)
        self._shown = frozenset(fold_name(parts_of(table.name)[-1]) for table in listed if table.public)
        self._system = SYSTEM_SCHEMAS - {parts[-2] for parts in names if len(parts) > 1}
        self._dataset = fold_name(dataset)
        self._cached = lru_cache(maxsize=CACHED)(self._decide_all)

    def decide_all(self, text: str) -> tuple[Decision, ...]:
        """Return the decision about each statement of a simple query; one that is EMPTY if there is none."""
        if len(text) > MAXIMUM_TEXT:
            return (_refused(ParseError(f"The text has more than {MAXIMUM_TEXT:,} characters.", code="too-long")),)
        return self._cached(text) if len(text) <= MAXIMUM_CACHED_TEXT else self._decide_all(text)

    def decide(self, text: str) -> Decision:
        """Return the decision about a text that may hold one statement only, as Parse requires."""
        decisions = self.decide_all(text)
        if len(decisions) == 1:
            return decisions[0]
        message = "Only one statement is allowed in a prepared statement."
        return _refused(ParseError(message, code="one-statement", hint="Send the statements one by one."), text)

    def _decide_all(self, text: str) -> tuple[Decision, ...]:
        try:
            statements = split_statements(read_words(text))
        except ParseError as error:
            return (_refused(error, text),)
        if not statements:
            return (Decision(Route.EMPTY, text),)
        return tuple(self._decide(text, words) for words in statements)

    def _decide(self, text: str, words: Sequence[Word]) -> Decision:
        """Decide about one statement by its first word."""
        statement = _RoutedStatement(text, words)
        command = statement.command
        try:
            if any(word.kind is WordKind.ESCAPED for word in words):
                raise UnsupportedSQLError('Names in U&"…" are not read.', code="escaped-name", hint='Write "name".')
            if command in SESSION_COMMANDS:
                return statement.decision(_session_route(command, words))
            if command == "COPY":
                return self._copy(statement)
            first, route = _query_inside(command, words)
            return self._query(statement, first, len(words), route)
        except HedgerowError as error:
            return statement.decision(Route.REFUSED, refusal=error)

    def _query(self, statement: "_RoutedStatement", first: int, last: int, private: Route) -> Decision:
        """Decide about the query between two words; `private` is the route if it is private."""
        words = statement.words[first:last]
        if not words or _first(words) not in QUERIES:
            raise _not_a_query(_first(words)) if words else ParseError("A query is missing here.", code="syntax")
        for word, following in itertools.pairwise(words):
            if following.text == "(" and word.value in RUNS_TEXT:
                raise UnsupportedSQLError(f"{word.value} is not allowed.", code="shadow-function", hint=READ_ONLY)
        mentions = [index for index in range(len(words)) if self._mentions(words, index)]
        if not mentions:
            return statement.decision(Route.BUDGET if any(word.value == "budget" for word in words) else Route.SHADOW)
        query = self._without_schema(statement.whole, words, mentions)
        offset = words[0].start - statement.start
        try:
            tree = parse(query, "postgres").query
            if not self._reads(tree, {words[index].start - words[0].start for index in mentions}):
                return statement.decision(Route.SHADOW)
            if private is Route.PRIVATE and _is_probe(tree):
                return statement.decision(Route.PROBE, query=query, offset=offset)
            self._check_star(tree)
        except HedgerowError as error:
            if error.span is not None:
                error.span = Span(error.span.start + offset, error.span.end + offset, error.span.line)
            raise
        return statement.decision(private, query=query, offset=offset)

    def _mentions(self, words: Sequence[Word], index: int) -> bool:
        """Return True if the word may name a declared table: it has that name, without a schema of the system."""
        word = words[index]
        if word.kind not in {WordKind.NAME, WordKind.QUOTED} or fold_name(word.value) not in self._names:
            return False
        return not (index >= 2 and words[index - 1].text == "." and words[index - 2].value in self._system)

    def _without_schema(self, text: str, words: Sequence[Word], mentions: Iterable[int]) -> str:
        """Return the query with blanks in place of the schema and database of declared tables that have none."""
        start = words[0].start
        letters = list(text[start : words[-1].end])
        for index in mentions:
            if fold_name(words[index].value) not in self._plain:
                continue
            first = index
            if index >= 2 and words[index - 1].text == "." and fold_name(words[index - 2].value) == DEFAULT_SCHEMA:
                first = index - 2
                if first >= 2 and words[first - 1].text == "." and fold_name(words[first - 2].value) == self._dataset:
                    first -= 2
            cut = slice(words[first].start - start, words[index].start - start)
            letters[cut] = " " * (cut.stop - cut.start)
        return "".join(letters)

    def _reads(self, tree: exp.Expr, positions: set[int]) -> bool:
        """Return True unless each mention of a declared table is a column or an alias in the tree."""
        harmless = set()
        for node in tree.find_all(exp.Identifier):
            if isinstance(node.parent, exp.Table) and fold_name(node.name) in self._names:
                return True
            if isinstance(node.parent, exp.Column | exp.Alias | exp.TableAlias):
                harmless.add(node.meta.get("start"))
        return not positions <= harmless

    def _check_star(self, tree: exp.Query) -> None:
        """Refuse SELECT * or SELECT t.* from one private table, as tools send it to preview rows."""
        stars = (column.this if isinstance(column, exp.Column) else column for column in tree.selects)
        star = next((star for star in stars if isinstance(star, exp.Star)), None)
        source = tree.args.get("from_")
        if star is None or not isinstance(source, exp.From) or tree.args.get("joins"):
            return
        name = fold_name(source.this.name) if isinstance(source.this, exp.Table) else ""
        if name not in self._names - self._shown or name in {fold_name(cte.alias) for cte in tree.find_all(exp.CTE)}:
            return
        start = star.meta.get("start")
        span = None if start is None else Span(start, start + 1, star.meta.get("line", 1))
        message = "SELECT * would show single rows of private data."
        raise UnsupportedSQLError(message, code="star", hint=TOOL_HINT, span=span)

    def _copy(self, statement: "_RoutedStatement") -> Decision:
        """Decide about COPY: only the result of a query, and only to the client."""
        words = statement.words
        if len(words) < 2:
            raise ParseError("COPY needs a query in brackets.", code="syntax")
        bracket = words[1].text == "("
        close = _closing(words, 1) if bracket else _before(words, {"TO", "FROM"})
        direction = [word.keyword for word in words[close + 1 : close + 3]]
        if direction != ["TO", "STDOUT"]:
            raise UnsupportedSQLError(
                "COPY is allowed to the client only.", code="copy-target", hint="Write COPY (SELECT …) TO STDOUT."
            )
        if bracket:
            return self._query(statement, 2, close, Route.COPY_OUT)
        if any(self._mentions(words, index) for index in range(1, close + 1)):
            raise UnsupportedSQLError(
                "COPY of a table would show single rows of private data.",
                code="copy-target",
                hint="Write COPY (SELECT …) TO STDOUT, with a query that asks for aggregates.",
            )
        return statement.decision(Route.SHADOW)


class _RoutedStatement:
    """The words of one statement, and the message in which it is."""

    def __init__(self, whole: str, words: Sequence[Word]) -> None:
        self.whole = whole
        self.words = words
        self.start = words[0].start
        self.text = whole[self.start : words[-1].end]
        self.command = _first(words)

    def decision(
        self, route: Route, *, query: str = "", offset: int = 0, refusal: HedgerowError | None = None
    ) -> Decision:
        """Return a decision about this statement."""
        return Decision(route, self.text, self.start, self.command, query, offset, refusal)


def _first(words: Sequence[Word]) -> str:
    return words[0].keyword or words[0].text


def _refused(error: HedgerowError, text: str = "") -> Decision:
    return Decision(Route.REFUSED, text, refusal=error)


def _not_a_query(command: str) -> HedgerowError:
    if command in NOT_ALLOWED:
        return UnsupportedSQLError(
            f"Only SELECT is allowed; this is {command}.", code="not-a-select", hint=HINTS.get(command, READ_ONLY)
        )
    return ParseError("The text cannot be read as SQL.", code="syntax", hint="Start the query with SELECT or WITH.")


def _session_route(command: str, words: Sequence[Word]) -> Route:
    """Return the route of a command about the session."""
    if command not in {"SET", "SHOW", "RESET"}:
        if any(word.keyword == "PREPARED" for word in words):
            raise UnsupportedSQLError("Prepared transactions are not supported.", code="not-a-select", hint=READ_ONLY)
        return SESSION_COMMANDS[command]
    skipped = 2 if len(words) > 1 and words[1].keyword in {"SESSION", "LOCAL"} else 1
    name = [word.value for word in words[skipped : skipped + 2]]
    off = words[-1].value.strip("'").lower() not in {"on", "true", "yes", "1", "default"}
    if words[0].keyword == "SET" and name[:1] == [STRINGS] and off:
        raise UnsupportedSQLError(f"{STRINGS} must stay on.", code="shadow-setting", hint="Write E'…' for escapes.")
    return Route.SETTING if name == [OWN_SCHEMA, "."] else Route.SHADOW


def _query_inside(command: str, words: Sequence[Word]) -> tuple[int, Route]:
    """Return the index at which the query of a statement begins, and the statement's route if it is private."""
    if command in QUERIES:
        return 0, Route.PRIVATE
    if command == "EXPLAIN":
        return _explained(words), Route.EXPLAIN
    if command == "DECLARE":
        return _after(words, "FOR"), Route.CURSOR
    if command == "PREPARE":
        return _after(words, "AS"), Route.PREPARE
    raise _not_a_query(command)


def _explained(words: Sequence[Word]) -> int:
    """Return the index of the first word after EXPLAIN and its options."""
    index = 1
    if len(words) > 2 and words[1].text == "(" and words[2].keyword not in QUERIES and words[2].text != "(":
        index = _closing(words, 1) + 1
    while index < len(words) and words[index].keyword in {"ANALYZE", "ANALYSE", "VERBOSE"}:
        index += 1
    return index


def _after(words: Sequence[Word], keyword: str) -> int:
    """Return the index of the word after the first `keyword`."""
    index = next((index for index, word in enumerate(words) if word.keyword == keyword), len(words))
    return index + 1


def _before(words: Sequence[Word], keywords: set[str]) -> int:
    """Return the index of the word before the first of `keywords`, from the third word on."""
    indices = (index for index in range(2, len(words)) if words[index].keyword in keywords)
    return next(indices, len(words)) - 1


def _closing(words: Sequence[Word], opening: int) -> int:
    """Return the index of the bracket that closes the one at `opening`."""
    depth = 0
    for index in range(opening, len(words)):
        depth += (words[index].text == "(") - (words[index].text == ")")
        if depth == 0:
            return index
    raise ParseError("A bracket is not closed.", code="syntax")


def _is_probe(tree: exp.Expr) -> bool:
    """Return True if the result is empty whatever the tables hold: LIMIT 0, or a false WHERE without a grand total."""
    while isinstance(tree, exp.Subquery) and not tree.args.get("limit"):
        tree = tree.this
    limit = tree.args.get("limit")
    rows = limit.args.get("expression") or limit.args.get("count") if limit is not None else None
    if isinstance(rows, exp.Literal) and rows.name == "0":
        return True
    where = tree.args.get("where")
    if not isinstance(tree, exp.Select) or where is None:
        return False
    conditions = where.this.flatten() if isinstance(where.this, exp.And) else [where.this]
    if not any(map(_is_false, conditions)):
        return False
    group = tree.args.get("group")
    if group is not None:
        totals = group.find(exp.Rollup, exp.Cube, exp.GroupingSets) or any(
            isinstance(key, exp.Tuple) and not key.expressions for key in group.expressions
        )
        return bool(group.expressions) and not totals
    parts = [*tree.expressions, *(tree.args[name] for name in ("having", "order", "qualify") if tree.args.get(name))]
    return not any(part.find(exp.AggFunc, exp.Anonymous) for part in parts)


def _is_false(condition: exp.Expr) -> bool:
    while isinstance(condition, exp.Paren):
        condition = condition.this
    if isinstance(condition, exp.Boolean):
        return not condition.this
    left, right = condition.args.get("this"), condition.args.get("expression")
    if not isinstance(left, exp.Literal) or not isinstance(right, exp.Literal) or not (left.is_int and right.is_int):
        return False
    same = int(left.name) == int(right.name)
    return (isinstance(condition, exp.EQ) and not same) or (isinstance(condition, exp.NEQ) and same)
