"""Places in the text for syntax that the parser leaves without one, so that a refusal points at it."""

import itertools
from collections.abc import Sequence

from sqlglot import Token, TokenType, exp

NAMELESS = (exp.Binary, exp.Connector, exp.Cast, exp.Case, exp.Array, exp.Star)
"""Syntax of which no function's name and bracket stand in the text."""

CLAUSE_WORDS = {exp.Lock: "FOR", exp.WithTableHint: "WITH"}
CLAUSES = tuple(CLAUSE_WORDS)
"""Clauses that are refused, and the word that they begin with."""


def place_functions(query: exp.Expr, tokens: Sequence[Token]) -> None:
    """Give every function without a place that of its name; every keyword and placeholder that of its word.

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
            token = _placeholder(node.name, tokens)
        elif isinstance(node, exp.Func) and not isinstance(node, NAMELESS):
            token = _name(node, tokens, starts)
        if token is not None:
            node.meta.update(line=token.line, col=token.col, start=token.start, end=token.end, name=token.text)


def _placeholder(name: str, tokens: Sequence[Token]) -> Token | None:
    """The word after the sign, or the question mark that was numbered (whose number keeps its place)."""
    pairs = itertools.pairwise(tokens)
    return next((word for sign, word in pairs if sign.token_type is TokenType.PARAMETER and word.text == name), None)


def _name(node: exp.Func, tokens: Sequence[Token], starts: dict[int, int]) -> Token | None:
    """The word before the bracket in which the first part of `node` stands; a keyword without brackets itself."""
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
