"""Placeholders for values that are passed beside the text, brought to one spelling that every dialect reads.

`?` is numbered in the order of the text; `?1`, `$1`, `:1`, `:name`, `$name` and `@name` keep their number or name.
Words are exchanged, never text, so that every word keeps its place.
"""

from collections.abc import Sequence

from sqlglot import Token, TokenType

from hedgerow.errors import ParseError, Span

ENDS_A_VALUE = frozenset({TokenType.VAR, TokenType.IDENTIFIER, TokenType.R_PAREN, TokenType.R_BRACKET})
"""After one of these a colon reaches into a value, or cuts a list; it begins no placeholder."""


def number_placeholders(tokens: Sequence[Token]) -> list[Token]:
    """The words of a statement with every placeholder as `$` and a number or name."""
    made: list[Token] = []
    at, unnumbered = 0, 0
    numbered = False
    while at < len(tokens):
        name, length = _placeholder(tokens, at)
        if length == 0:
            made.append(tokens[at])
        else:
            unnumbered += not name
            numbered = numbered or name.isdigit()
            if numbered and unnumbered:
                raise _mixed(tokens[at])
            made += _spelled(tokens[at], tokens[at + length - 1], name or str(unnumbered))
        at += max(length, 1)
    return made


def _placeholder(tokens: Sequence[Token], at: int) -> tuple[str, int]:
    """The name of the placeholder that begins here (empty for `?`), and how many words it takes; none: zero."""
    token = tokens[at]
    after = tokens[at + 1] if at + 1 < len(tokens) and tokens[at + 1].start == token.end + 1 else None
    named = after is not None and after.token_type is not TokenType.STRING and after.text.replace("_", "a").isalnum()
    if token.token_type is TokenType.PLACEHOLDER:
        counted = after is not None and after.token_type is TokenType.NUMBER and after.text.isdecimal()
        return (after.text, 2) if counted and after is not None else ("", 1)
    if token.token_type is TokenType.COLON and named and after is not None and not _reaches_in(tokens, at):
        return after.text, 2
    if token.token_type is TokenType.PARAMETER and token.text == "$" and named and after is not None:
        return after.text, 2
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
        "Placeholders with and without a number stand side by side, so it cannot be told which is which.",
        code="syntax",
        hint="Write all of them as ?, or all of them as $1, $2.",
        span=Span(token.start, token.end + 1, token.line),
    )
