"""BigQuery's `SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(…)`: found among the tokens of a statement and removed.

It is read here, before the parser, which does not know it. The clause sets the options of a statement, not its result;
so it is allowed once, at the first SELECT or at the one after WITH.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from sqlglot import Token, TokenType

from hedgerow.errors import ParameterError, ParseError, PolicyError, Span

Option = int | float | str
NAMES = {
    "epsilon": "epsilon",
    "delta": "delta",
    "max_groups_contributed": "max_groups",
    "min_privacy_units_per_group": "min_frequency",
}
UNIT = "privacy_unit_column"
MAX_DIGITS = 40
LIKE = "OPTIONS(epsilon = 1, delta = 1e-6, max_groups_contributed = 2)"


@dataclass(frozen=True)
class Identifier:
    """A plain name given as the value of an option."""

    name: str


def cut(tokens: Sequence[Token]) -> tuple[list[Token], Mapping[str, Option | Identifier]]:
    """Return the tokens without the clause, and its options.

    The remaining tokens keep their positions, so later messages point at the original text.
    """
    starts = [at for at in range(len(tokens)) if _is_clause(tokens, at)]
    if not starts:
        return list(tokens), MappingProxyType({})
    if len(starts) > 1 or starts[0] not in _homes(tokens):
        raise ParseError(
            "WITH DIFFERENTIAL_PRIVACY is allowed only once: at the first SELECT, or at the one after WITH.",
            code="privacy-clause",
            hint="The options hold for the whole statement; say them once.",
            span=span_of(tokens[starts[-1] + 1]),
        )
    options, end = _options(tokens, starts[0] + 3)
    return [*tokens[: starts[0] + 1], *tokens[end:]], MappingProxyType(options)


def engine_options(options: Mapping[str, Option | Identifier]) -> dict[str, object]:
    """Return the options of a statement by the names that `Database.sql` knows.

    If the statement names a unit, there is `unit` as well: not an option, but compared with the owner's.

    Example:
        >>> engine_options({"epsilon": 1.5, "max_groups_contributed": 2, "privacy_unit_column": Identifier("id")})
        {'epsilon': 1.5, 'max_groups': 2, 'unit': 'id'}
    """
    for name, value in options.items():
        if name not in NAMES and name != UNIT:
            known = ", ".join([*NAMES, UNIT])
            raise ParameterError(
                f"WITH DIFFERENTIAL_PRIVACY has no option {name!r}.",
                code="bad-option",
                hint=f"Options: {known}.",
            )
        if name != UNIT and not isinstance(value, int | float):
            raise ParameterError(f"The option {name} must be a number.", code="bad-option", hint=f"Write {LIKE}.")
    read: dict[str, object] = {NAMES[name]: value for name, value in options.items() if name != UNIT}
    return {**read, "unit": unit(options)} if UNIT in options else read


def require_unit(name: str, units: Iterable[str]) -> None:
    """Refuse a privacy unit that is not the owner's: a query may name it, but not choose another."""
    if name.lower() not in {unit.lower() for unit in units}:
        raise PolicyError(
            f"privacy_unit_column = {name} is not a unit of this catalog.",
            code="not-the-unit",
            hint="Leave it out: the owner's catalog says who is protected.",
        )


def unit(options: Mapping[str, Option | Identifier]) -> str | None:
    """Return the column that the statement names as the privacy unit; None if it names none.

    Example:
        >>> unit({"privacy_unit_column": Identifier("id")})
        'id'
    """
    value = options.get(UNIT)
    if value is None:
        return None
    if not isinstance(value, Identifier):
        raise ParameterError(f"{UNIT} must be the name of a column.", code="bad-option", hint=f"Write {UNIT} = id.")
    return value.name


def span_of(token: Token) -> Span:
    """Position of a word."""
    return Span(token.start, token.end + 1, token.line)


def _is_clause(tokens: Sequence[Token], at: int) -> bool:
    words = [token.text.upper() for token in tokens[at : at + 3]]
    return tokens[at].token_type is TokenType.SELECT and words[1:] == ["WITH", "DIFFERENTIAL_PRIVACY"]


def _homes(tokens: Sequence[Token]) -> set[int]:
    """Return the positions of the first SELECT, and of the first outside of all brackets."""
    depth, homes, outside = 0, set[int](), set[int]()
    for at, token in enumerate(tokens):
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if token.token_type is TokenType.SELECT:
            homes = homes or {at}
            outside = outside or ({at} if depth == 0 else set())
    return homes | outside


def _options(tokens: Sequence[Token], at: int) -> tuple[dict[str, Option | Identifier], int]:
    """Return the options that begin at `at`, and the position after their closing bracket."""
    if _text(tokens, at).upper() != "OPTIONS" or _text(tokens, at + 1) != "(":
        raise _unreadable(tokens, at)
    options: dict[str, Option | Identifier] = {}
    at += 2
    while True:
        name = _text(tokens, at).lower()
        if not name.isidentifier() or _text(tokens, at + 1) != "=" or name in options:
            raise _unreadable(tokens, at)
        options[name], at = _value(tokens, at + 2)
        if _text(tokens, at) == ")":
            return options, at + 1
        if _text(tokens, at) != ",":
            raise _unreadable(tokens, at)
        at += 1


def _value(tokens: Sequence[Token], at: int) -> tuple[Option | Identifier, int]:
    sign, at = (-1, at + 1) if _text(tokens, at) == "-" else (1, at)
    token = tokens[at] if at < len(tokens) else None
    if token is not None and token.token_type is TokenType.NUMBER and len(token.text) <= MAX_DIGITS:
        return sign * (int(token.text) if token.text.isdecimal() else _real(tokens, at)), at + 1
    if token is not None and sign == 1 and token.token_type is TokenType.STRING:
        return token.text, at + 1
    if token is not None and sign == 1 and token.token_type in {TokenType.VAR, TokenType.IDENTIFIER}:
        return Identifier(token.text), at + 1
    raise _unreadable(tokens, at)


def _real(tokens: Sequence[Token], at: int) -> float:
    try:
        return float(tokens[at].text)
    except ValueError:
        raise _unreadable(tokens, at) from None


def _text(tokens: Sequence[Token], at: int) -> str:
    quoted = {TokenType.STRING, TokenType.IDENTIFIER}
    return "" if at >= len(tokens) or tokens[at].token_type in quoted else tokens[at].text


def _unreadable(tokens: Sequence[Token], at: int) -> ParseError:
    return ParseError(
        "The options of WITH DIFFERENTIAL_PRIVACY cannot be read: each is a name, =, and a number, a text or a column.",
        code="privacy-clause",
        hint=f"Write {LIKE}.",
        span=span_of(tokens[min(at, len(tokens) - 1)]),
    )
