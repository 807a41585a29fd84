"""Text to syntax. One statement, of bounded size and depth; the tree is untrusted until `plan` has bound it."""

import itertools
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import Dialect, Token, TokenType, exp
from sqlglot.errors import SqlglotError

from hedgerow.errors import ParameterError, ParseError, Span, UnsupportedSQLError
from hedgerow.sql.hints import hint_for, unclosed
from hedgerow.sql.privacy_clause import Identifier, Option, cut, span_of
from hedgerow.sql.remedies import replaced

ENDS_A_VALUE = frozenset({TokenType.VAR, TokenType.IDENTIFIER, TokenType.R_PAREN, TokenType.R_BRACKET})
"""Tokens after which a colon is an access or a slice, not a placeholder."""


def number_placeholders(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens of a statement with every placeholder as `$` and a number or name."""
    words: list[Token] = []
    at, unnumbered = 0, 0
    numbered = False
    while at < len(tokens):
        name, length = _placeholder(tokens, at)
        if length == 0:
            words.append(tokens[at])
        else:
            unnumbered += not name
            numbered = numbered or name.isdigit()
            if numbered and unnumbered:
                raise _mixed(tokens[at])
            words += _spelled(tokens[at], tokens[at + length - 1], name or str(unnumbered))
        at += max(length, 1)
    return words


def _placeholder(tokens: Sequence[Token], at: int) -> tuple[str, int]:
    """The name of the placeholder that begins here (empty for `?`), and its number of tokens; zero if there is none."""
    token = tokens[at]
    following = tokens[at + 1] if at + 1 < len(tokens) and tokens[at + 1].start == token.end + 1 else None
    named = (
        following is not None
        and following.token_type is not TokenType.STRING
        and following.text.replace("_", "a").isalnum()
    )
    if token.token_type is TokenType.PLACEHOLDER:
        counted = following is not None and following.token_type is TokenType.NUMBER and following.text.isdecimal()
        return (following.text, 2) if counted and following is not None else ("", 1)
    if token.token_type is TokenType.COLON and named and following is not None and not _reaches_in(tokens, at):
        return following.text, 2
    if token.token_type is TokenType.PARAMETER and token.text == "$" and named and following is not None:
        return following.text, 2
    if token.token_type is TokenType.VAR and token.text.startswith("$") and token.text[1:].isalnum():
        return token.text[1:], 1
    return "", 0


def _reaches_in(tokens: Sequence[Token], at: int) -> bool:
    return at > 0 and tokens[at - 1].token_type in ENDS_A_VALUE and tokens[at - 1].end + 1 == tokens[at].start


def _spelled(first: Token, last: Token, name: str) -> list[Token]:
    kind = TokenType.NUMBER if name.isdigit() else TokenType.VAR
    return [
        Token(TokenType.PARAMETER, "$", first.line, first.col, first.start, first.start, []),
        Token(kind, name, last.line, last.col, last.start, last.end, list(last.comments or [])),
    ]


def _mixed(token: Token) -> ParseError:
    return ParseError(
        "Numbered and unnumbered placeholders are mixed.",
        code="syntax",
        hint="Write all of them as ?, or all of them as $1, $2.",
        span=Span(token.start, token.end + 1, token.line),
    )


NAMELESS = (exp.Binary, exp.Connector, exp.Cast, exp.Case, exp.Array, exp.Star)
"""Syntax that is written without a function's name and bracket."""

CLAUSE_WORDS = {exp.Lock: "FOR", exp.WithTableHint: "WITH"}
CLAUSES = tuple(CLAUSE_WORDS)
"""Refused clauses, and the word that they begin with."""


def place_functions(query: exp.Expr, tokens: Sequence[Token]) -> None:
    """Give every function without a position that of its name; every keyword and placeholder that of its token.

    `meta["name"]` of a function is its name as it is written, which the parser replaces by its own.
    """
    starts = {token.start: index for index, token in enumerate(tokens)}
    for node in reversed(list(query.walk())):
        if "start" in node.meta:
            if isinstance(node, exp.Func) and node.meta["start"] in starts:
                node.meta["name"] = tokens[starts[node.meta["start"]]].text
            continue
        token = None
        if isinstance(node, CLAUSES):
            token = next((t for t in reversed(tokens) if t.text.upper() == CLAUSE_WORDS[type(node)]), None)
        elif isinstance(node, exp.Placeholder | exp.Parameter):
            # Token after the sign, or the numbered question mark (whose number keeps its position).
            pairs = itertools.pairwise(tokens)
            token = next(
                (word for sign, word in pairs if sign.token_type is TokenType.PARAMETER and word.text == node.name),
                None,
            )
        elif isinstance(node, exp.Func) and not isinstance(node, NAMELESS):
            token = _name_token(node, tokens, starts)
        if token is not None:
            node.meta.update(line=token.line, col=token.col, start=token.start, end=token.end, name=token.text)


def _name_token(node: exp.Func, tokens: Sequence[Token], starts: dict[int, int]) -> Token | None:
    """Return the token before the bracket that contains the first part of `node`; or a keyword without brackets."""
    inside = [starts[part.meta["start"]] for part in node.walk() if part.meta.get("start") in starts]
    if not inside:
        names = {name.upper() for name in type(node).sql_names()}
        return next((token for token in tokens if token.text.upper() in names), None)
    depth = 0
    for index in range(min(inside) - 1, 0, -1):
        depth += (tokens[index].token_type is TokenType.R_PAREN) - (tokens[index].token_type is TokenType.L_PAREN)
        if depth < 0:
            before = tokens[index - 1]
            if before.text.replace("_", "a").isalnum() and before.end + 1 == tokens[index].start:
                return before
            depth = 0
    return None


MAX_CHARACTERS = 100_000
MAX_DEPTH = 60
MAX_TOKENS = 20_000
DIALECTS = ("duckdb", "postgres", "spark", "sqlite", "bigquery", "snowflake")
BEGIN = "Start the query with SELECT or WITH."
TABLES = "db.tables in Python, and .tables and .schema in the shell, list tables and columns."
INSTEAD = {
    **dict.fromkeys(("DESC", "DESCRIBE", "SHOW", "SUMMARIZE"), TABLES),
    "EXPLAIN": "db.quote(…) in Python, and hedgerow quote, show the price and the predicted errors.",
}
"""Hints for statements that are not allowed."""

STATEMENTS = frozenset(
    {
        "ALTER",
        "ANALYZE",
        "ATTACH",
        "CACHE",
        "COMMAND",
        "COMMIT",
        "COPY",
        "CREATE",
        "DELETE",
        "DESCRIBE",
        "DETACH",
        "DROP",
        "EXECUTE",
        "EXPORT",
        "GRANT",
        "INSERT",
        "INSTALL",
        "KILL",
        "LOADDATA",
        "MERGE",
        "PIVOT",
        "PRAGMA",
        "REFRESH",
        "ROLLBACK",
        "SET",
        "SHOW",
        "SUBQUERY",
        "SUMMARIZE",
        "TABLE",
        "TRANSACTION",
        "TRUNCATETABLE",
        "UPDATE",
        "USE",
        "VALUES",
    }
)

logging.getLogger("sqlglot").setLevel(logging.CRITICAL)


@dataclass(frozen=True)
class ParsedStatement:
    """The tree of one query, and the options of BigQuery's differential-privacy clause.

    Every node of the tree carries its dialect as `meta["dialect"]`, because the same word means different things in
    different dialects.
    """

    query: exp.Query
    options: Mapping[str, Option | Identifier]


def parse(text: str, dialect: str = "duckdb") -> ParsedStatement:
    """Return the syntax tree of one SELECT statement.

    Privacy: nothing is executed here. Size and depth are limited before the parser runs, so that a text cannot exhaust
    the program; the limits depend on the text alone.
    """
    if dialect not in DIALECTS:
        known = ", ".join(DIALECTS)
        raise ParameterError(f"Dialect {dialect!r} is not known.", code="dialect", hint=f"Choose one of {known}.")
    _check_text(text)
    reader = Dialect.get_or_raise(dialect)
    tokens: list[Token] = []
    try:
        tokens = reader.tokenize(text)
        _check_tokens(tokens)
        words, options = cut(tokens)
        words = number_placeholders(words)
        statements = reader.parser().parse(words, text)
    except SqlglotError as error:
        raise _readable(error, text, tokens) from None
    except RecursionError:
        raise ParseError("The statement is nested too deeply.", code="too-deep") from None
    except (ValueError, TypeError, LookupError, AttributeError, AssertionError):  # the parser's own mistakes
        raise ParseError("The text cannot be read as SQL.", code="syntax") from None
    query = _single_query([s for s in statements if s is not None and not isinstance(s, exp.Semicolon)], tokens)
    place_functions(query, words)
    for node in query.walk():
        node.meta["dialect"] = dialect
    return ParsedStatement(query, options)


def _check_text(text: str) -> None:
    if not isinstance(text, str):
        raise ParseError("The query must be text.", code="not-text", hint="Pass the SQL as a string.")
    if not text.strip():
        raise _empty()
    if len(text) > MAX_CHARACTERS:
        raise ParseError(f"The query has more than {MAX_CHARACTERS:,} characters.", code="too-long")
    if not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text):
        raise ParseError("The query contains half of a character.", code="not-text", hint="Pass text that is UTF-8.")
    if "\x00" in text:
        raise ParseError("The query contains a NUL character.", code="nul")


def _empty() -> ParseError:
    return ParseError("The query is empty.", code="empty", hint="Write a SELECT statement.")


def _check_tokens(tokens: list[Token]) -> None:
    """Refuse text that would recurse too deeply, before the recursive parser reads it."""
    if len(tokens) > MAX_TOKENS:
        raise ParseError(f"The query has more than {MAX_TOKENS:,} words.", code="too-long")
    depth, run = 0, 0
    opening = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
    closing = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}
    prefix = {TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE}
    for before, token in itertools.pairwise(tokens):
        if before.token_type is token.token_type is TokenType.STRING and before.line == token.line:
            raise ParseError(
                "Two texts follow each other without an operator.",
                code="syntax",
                hint="Is a comma missing between them? A quote inside a text is doubled: 'O''Brien'.",
                span=Span(before.start, token.end + 1, before.line),
            )
    for token in tokens:
        depth += (token.token_type in opening) - (token.token_type in closing)
        run = run + 1 if token.token_type in prefix else 0
        if max(depth, run) > MAX_DEPTH:
            raise ParseError(
                f"The statement is nested more than {MAX_DEPTH} levels deep.", code="too-deep", span=span_of(token)
            )


def _single_query(statements: list[exp.Expr], tokens: list[Token]) -> exp.Query:
    if not statements:  # comments and semicolons alone
        raise _empty()
    if len(statements) != 1:
        raise ParseError(
            "Only one statement is allowed per query.",
            code="one-statement",
            hint="Send the statements one by one.",
        )
    statement = statements[0]
    if not isinstance(statement, exp.Query) or isinstance(statement, exp.Table):
        if statement.key.upper() not in STATEMENTS:
            raise ParseError("The text cannot be read as SQL.", code="syntax", hint=BEGIN)
        word = tokens[0].text.split()[0].upper()
        raise UnsupportedSQLError(
            f"Only SELECT is allowed; this is {word}.", code="not-a-select", hint=INSTEAD.get(word, BEGIN)
        )
    return statement


def _readable(error: SqlglotError, text: str, tokens: list[Token]) -> ParseError:
    opened = None if tokens else unclosed(text)
    if opened is not None:
        return ParseError("The text ends inside a quote or comment.", code="syntax", hint=opened.text, span=opened.span)
    details = getattr(error, "errors", None) or [{}]
    first = details[0]
    line, column = first.get("line"), first.get("col")  # of the last character of the word
    what = _plain(str(first.get("description") or ""))
    if line is None or column is None:
        return ParseError(f"{what}.", code="syntax")
    near = first.get("highlight") or ""
    column = max(column - len(near) + 1, 1) if near else max(column, 1)
    start = sum(len(row) + 1 for row in text.split("\n")[: line - 1]) + column - 1
    span = Span(start, start + max(len(near), 1), line)
    hint = hint_for(text, tokens, start)
    if hint is not None and hint.span is not None:
        span, near = hint.span, text[hint.span.start : hint.span.end]
        column = span.start - (text.rfind("\n", 0, span.start) + 1) + 1
    return ParseError(
        f"Syntax error at line {span.line}, column {column}{f', near {near!r}' if near else ''}: {what}.",
        code="syntax",
        hint=None if hint is None else hint.text,
        span=span,
        remedy=None if hint is None or hint.instead is None else replaced(hint.span, hint.instead),
    )


def _plain(description: str) -> str:
    """Return the parser's message without its own class names and tokens."""
    missing = re.match(r"Required \w+: '\w+' missing for <class '[\w.]*\.(\w+)'>", description)
    kind: type = exp.Expr if missing is None else getattr(exp, missing[1], exp.Expr)
    if issubclass(kind, exp.Func):
        return "a part is missing here" if issubclass(kind, NAMELESS) else f"{kind.sql_name()} needs another argument"
    if not description or "<class" in description or description.startswith("Invalid expression"):
        return "something is missing or does not belong here"
    return description.split(" but got <", maxsplit=1)[0].rstrip(".").replace("Expecting", "expected")
