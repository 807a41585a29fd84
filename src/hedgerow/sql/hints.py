"""Hints for text that the parser cannot read: the likely mistake, and the correction."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from sqlglot import Token, TokenType

from hedgerow.errors import Span

KEYWORDS = (
    *("SELECT", "DISTINCT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "JOIN", "INNER", "LEFT"),
    *("BETWEEN", "UNION", "FILTER", "PARTITION", "QUALIFY"),
)
BEFORE_NAMES = frozenset({"FROM", "JOIN", "SELECT", "BY", ",", "WHERE", "."})
CURLY = "‘’“”„‚´"
TEXT = "Write text in straight single quotes: 'north'."
NAMES = 'Write names as they are, or in double quotes: "region".'
DIALECT = 'For a query in another dialect, pass dialect="bigquery" or dialect="spark".'
COMMENT = "A comment begins with --."
GROUPED_DIGITS = re.compile(r"\d,\d{3}(?!\d)")


@dataclass(frozen=True, slots=True)
class Hint:
    """The correction, and the position of the mistake if the parser stopped somewhere else."""

    text: str
    span: Span | None = None
    instead: str | None = None
    """The text that belongs at the position."""


def hint_for(text: str, tokens: Sequence[Token], position: int) -> Hint | None:
    """Return the likely mistake in `text`, where the parser stopped at character `position`; None if none is known."""
    for index in range(len(tokens)):
        hint = _foreign_name(tokens, index) or _foreign_word(tokens, index)
        if hint is not None:
            return hint
    if GROUPED_DIGITS.search(text[max(position - 5, 0) : position + 4]):
        return Hint("Write numbers without separators between the digits: 1000, not 1,000.")
    if tokens and tokens[0].token_type not in {TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN, TokenType.FROM}:
        return _misspelt(tokens, position) or Hint("Start the query with SELECT or WITH.")
    return _misspelt(tokens, position) or _missing_comma(tokens, position)


def _foreign_name(tokens: Sequence[Token], index: int) -> Hint | None:
    """Detect quotes of another dialect, or of a word processor, around a name or a text."""
    token = tokens[index]
    if token.token_type is TokenType.UNKNOWN and token.text == "`":
        closing = next((later for later in tokens[index + 1 :] if later.text == "`"), token)
        return Hint(f"{NAMES} {DIALECT}", _at(token, closing))
    if token.token_type is TokenType.L_BRACKET and _is_bracketed_name(tokens, index):
        return Hint(NAMES, _at(token, tokens[index + 2]))
    if token.token_type is not TokenType.STRING and any(sign in token.text for sign in CURLY):
        return Hint(TEXT, _at(token))
    if token.token_type is TokenType.DASH and _is_name_with_dash(tokens, index):
        before, after = tokens[index - 1], tokens[index + 1]
        return Hint(f'Write a name with a dash in double quotes: "{before.text}-{after.text}".', _at(before, after))
    return None


def _is_name_with_dash(tokens: Sequence[Token], index: int) -> bool:
    """Return True if the name of a table contains a dash, without spaces around it."""
    if not 2 <= index < len(tokens) - 1 or tokens[index - 2].text.upper() not in {"FROM", "JOIN"}:
        return False
    before, dash, after = tokens[index - 1 : index + 2]
    return before.end + 1 == dash.start and dash.end + 1 == after.start


def _foreign_word(tokens: Sequence[Token], index: int) -> Hint | None:
    """Detect words and signs of another dialect."""
    token, following = tokens[index], tokens[index + 1] if index + 1 < len(tokens) else None
    before_number = following is not None and following.token_type is TokenType.NUMBER
    if token.text.upper() == "TOP" and before_number and following is not None:
        return Hint(f"Write LIMIT {following.text} at the end of the query.", _at(token, following))
    if token.text == "=>":
        return Hint("Write >=.", _at(token))
    if (
        token.text == "="
        and following is not None
        and following.text in {">", "<"}
        and following.start == token.end + 1
    ):
        return Hint(f"Write {following.text}=.", _at(token, following))
    if token.token_type is TokenType.HASH or token.text == "//":
        return Hint("Write a date in quotes: DATE '2026-01-31'." if before_number else COMMENT, _at(token))
    if (
        token.text == "%"
        and following is not None
        and following.text in {"s", "("}
        and following.start == token.end + 1
    ):
        return Hint("Placeholders are ? and :name.", _at(token, following))
    return Hint("Write CAST(x AS VARCHAR).", _at(token)) if token.text.upper() == "CONVERT" else None


def unclosed(text: str) -> Hint | None:
    """The quote or comment that is opened and not closed."""
    at = 0
    while at < len(text):
        sign = text[at]
        if text.startswith("--", at):
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif sign in "'\"" or text.startswith("/*", at):
            closing = sign if sign in "'\"" else "*/"
            end = text.find(closing, at + len(closing))
            if end < 0:
                span = Span(at, at + 1, text.count("\n", 0, at) + 1)
                what = "comment" if closing == "*/" else "quote"
                doubled = (
                    " A quote inside a text is doubled: 'O''Brien'." if sign == "'" and text.count("'") > 1 else ""
                )
                return Hint(f"The {what} that begins here is not closed: add {closing}{doubled}", span)
            at = end + len(closing) - 1
        at += 1
    return None


def _is_bracketed_name(tokens: Sequence[Token], index: int) -> bool:
    """Return True if SQL Server would read `[name]` here as a name."""
    if index + 2 >= len(tokens) or tokens[index + 2].token_type is not TokenType.R_BRACKET:
        return False
    before = tokens[index - 1].text.upper() if index else ""
    return tokens[index + 1].token_type is TokenType.VAR and before in BEFORE_NAMES


def _misspelt(tokens: Sequence[Token], position: int) -> Hint | None:
    """Detect a word just before the error that is almost a keyword."""
    near = [token for token in tokens if token.start <= position][-3:]
    for token in reversed(near):
        if token.token_type is TokenType.VAR:
            close = get_close_matches(token.text.upper(), KEYWORDS, n=1, cutoff=0.75)
            if close and close[0] != token.text.upper():
                return Hint(f"Did you mean {close[0]}?", _at(token), close[0])
    return None


def _missing_comma(tokens: Sequence[Token], position: int) -> Hint | None:
    """Detect a bracket after two adjacent names, such as `SELECT region COUNT(*)`."""
    index = next((i for i, token in enumerate(tokens) if token.start == position), 0)
    if (
        index < 2
        or tokens[index].token_type is not TokenType.L_PAREN
        or tokens[index - 2].token_type is not TokenType.VAR
    ):
        return None
    name = tokens[index - 1]
    return Hint(f"Is a comma missing before {name.text}?", _at(name), f", {name.text}")


def _at(first: Token, last: Token | None = None) -> Span:
    return Span(first.start, (last or first).end + 1, first.line)
