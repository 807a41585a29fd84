"""Remedies of refusals: what to change in the text of a statement, where that is known.

A remedy is a function of the text, because the syntax tree records the positions of names alone: brackets and clauses
are holding among the words of the text. Each returns edits, or None where it finds no place for them.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from sqlglot import Token, TokenType, tokenize
from sqlglot.errors import SqlglotError
from sqlglot.tokens import Tokenizer

from hedgerow.errors import Edit, Remedy, Span
from hedgerow.expressions.table_names import parts_of

PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
KEYWORDS = frozenset(word for words in Tokenizer.KEYWORDS for word in words.split())
OPENING, CLOSING = TokenType.L_PAREN, TokenType.R_PAREN
AFTER_GROUPS = frozenset(
    {"HAVING", "QUALIFY", "WINDOW", "ORDER BY", "LIMIT", "OFFSET", "UNION", "EXCEPT", "INTERSECT", ";"}
)
"""Words that begin the clauses after GROUP BY."""

UNEQUAL = frozenset({"<>", "!="})


def identifier(name: str) -> str:
    """Return a name as SQL: quoted where it needs quotes.

    Example:
        >>> identifier("age"), identifier("Paid by"), identifier("order")
        ('age', '"Paid by"', '"order"')
    """
    plain = PLAIN.fullmatch(name) and name.upper() not in KEYWORDS
    return name if plain else '"' + name.replace('"', '""') + '"'


def table_identifier(name: str) -> str:
    """Return the name of a table as SQL, part by part.

    Example:
        >>> table_identifier("patients"), table_identifier('shop."Order lines"')
        ('patients', 'shop."Order lines"')
    """
    return ".".join(map(identifier, parts_of(name)))


def replaced(span: Span | None, text: str) -> Remedy:
    """Replace the text at a position by `text`."""

    def remedy(_: str) -> tuple[Edit, ...] | None:
        return None if span is None else (Edit(span.start, span.end, text),)

    return remedy


def grouped_by(span: Span | None, name: str) -> Remedy:
    """Add a name to the GROUP BY of the SELECT that holds a position."""

    def remedy(text: str) -> tuple[Edit, ...] | None:
        tokens = _words(text)
        inside = [] if span is None else _same_brackets(tokens, span.start)
        after = [token for token in inside if span is not None and token.start >= span.end]
        for token in after:
            if token.text.upper() == "GROUP BY":
                return (Edit(token.end + 1, token.end + 1, f" {name},"),)
            if token.text.upper() in AFTER_GROUPS:
                return (Edit(token.start, token.start, f"GROUP BY {name} "),)
        end = inside[-1].end + 1 if inside else 0
        return (Edit(end, end, f" GROUP BY {name}"),) if inside else None

    return remedy


def clipped(span: Span | None, lower: int = 0, upper: int = 100) -> Remedy:
    """Write CLIP around the first argument of the function at a position, with bounds that the analyst then changes."""

    def remedy(text: str) -> tuple[Edit, ...] | None:
        tokens = _words(text)
        inside = [] if span is None else _argument(tokens, span.start)
        if not inside:
            return None
        start, end = inside[0].start, inside[-1].end + 1
        return Edit(start, start, "CLIP("), Edit(end, end, f", {lower}, {upper})")

    return remedy


def is_null(span: Span | None) -> Remedy:
    """Write IS NULL in place of the comparison with NULL that begins at a position."""

    def remedy(text: str) -> tuple[Edit, ...] | None:
        tokens = _words(text)
        for before, null in pairwise(tokens):
            if span is not None and null.token_type is TokenType.NULL and before.start >= span.start:
                said = "IS NOT NULL" if before.text in UNEQUAL else "IS NULL"
                return (Edit(before.start, null.end + 1, said),)
        return None

    return remedy


def _words(text: str) -> Sequence[Token]:
    try:
        return tokenize(text)
    except SqlglotError:
        return ()


def _same_brackets(tokens: Sequence[Token], position: int) -> list[Token]:
    """Return the words in the innermost brackets around a position that hold a SELECT, without those deeper inside."""
    levels: list[list[Token]] = [[]]
    holding: list[Token] | None = None
    for token in tokens:
        if token.token_type is CLOSING and len(levels) > 1:
            closed = levels.pop()
            if holding is closed and not any(word.token_type is TokenType.SELECT for word in closed):
                holding = levels[-1]  # brackets of an expression
        levels[-1].append(token)
        if token.start <= position <= token.end:
            holding = levels[-1]
        if token.token_type is OPENING:
            levels.append([])
    return holding or []


def _argument(tokens: Sequence[Token], position: int) -> list[Token]:
    """Return the words of the first argument of the function whose name is at a position."""
    at = next((index for index, token in enumerate(tokens) if token.start <= position <= token.end), len(tokens))
    if [token.token_type for token in tokens[at + 1 : at + 2]] != [OPENING]:
        return []
    depth, argument = 0, list[Token]()
    for token in tokens[at + 2 :]:
        if depth == 0 and token.token_type in {CLOSING, TokenType.COMMA}:
            return argument
        depth += (token.token_type is OPENING) - (token.token_type is CLOSING)
        argument.append(token)
    return []
