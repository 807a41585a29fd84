"""How long an expression becomes as text: functions may name an argument twice, so nesting can double it."""

from functools import lru_cache

from hedgerow.errors import ParseError
from hedgerow.expressions.functions import lookup
from hedgerow.expressions.nodes import Call, Expr

LONGEST = 2_000_000
ROOM = 20
"""Characters for a column or a constant: few, for it is growth that is looked for."""

FIRST_MARK = 0xE000
"""Characters of private use stand for the arguments while their mentions are counted."""


def check_size(expr: Expr) -> None:
    """Refuse an expression whose text would exhaust the program; that depends on the query alone."""
    if _size(expr, {}) > LONGEST:
        raise ParseError(
            "An expression becomes too long when its functions are written out.",
            code="too-deep",
            hint="Compute it in steps, each in a subquery or a common table expression.",
        )


def _size(expr: Expr, known: dict[int, int]) -> int:
    if not isinstance(expr, Call):
        return ROOM
    if id(expr) not in known:
        inner = (_size(argument, known) for argument in expr.arguments)
        times = _mentions(expr.function, len(expr.arguments))
        known[id(expr)] = ROOM + sum(size * often for size, often in zip(inner, times, strict=True))
    return known[id(expr)]


@lru_cache(maxsize=1_000)
def _mentions(function: str, count: int) -> tuple[int, ...]:
    """How often the text of a function names each of its arguments; long lists name each once."""
    if count > 10:
        return (1,) * count
    marks = [chr(FIRST_MARK + at) for at in range(count)]
    text = lookup(function).render(marks)
    return tuple(text.count(mark) for mark in marks)
