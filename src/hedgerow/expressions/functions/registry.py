"""The allow-list of functions: what each takes, gives, ranges over, and how it is written.

Every rendering is *total*: it yields a value or NULL for every row and can raise no error that
depends on one. That is a privacy property: an error which appears for one row only is an answer that
nobody paid for.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hedgerow.errors import InternalError
from hedgerow.expressions.ranges import EVERYTHING, Range
from hedgerow.expressions.types import Type

Signature = Callable[[Sequence[Type]], Type | None]
RangeRule = Callable[[Sequence[Range]], Range]
Template = str | Callable[[Sequence[str]], str]


@dataclass(frozen=True)
class Function:
    """One allowed function.

    Attributes:
        name: Its name in our expressions.
        signature: Argument types to result type, or None where it does not apply.
        template: How DuckDB writes it, `{0}`, `{1}` … being the arguments; other engines have tables of their own.
        range: From the ranges of the arguments to that of the result.
        partial: Whether it can be NULL although no argument is.
        arity: The least and the largest number of arguments.
    """

    name: str
    signature: Signature
    template: Template
    range: RangeRule = lambda _: EVERYTHING
    partial: bool = True
    arity: tuple[int, int] = (1, 1)

    def render(self, arguments: Sequence[str]) -> str:
        """The call as DuckDB writes it."""
        return self.template.format(*arguments) if isinstance(self.template, str) else self.template(arguments)


_FUNCTIONS: dict[str, Function] = {}


def register(function: Function) -> None:
    """Put `function` on the allow-list."""
    if function.name in _FUNCTIONS:
        raise InternalError(f"Two functions are called {function.name}.")
    _FUNCTIONS[function.name] = function


def lookup(name: str) -> Function:
    """The function called `name`; it must be on the list."""
    return _FUNCTIONS[name]


def allowed() -> Mapping[str, Function]:
    """The whole list, by name."""
    return dict(_FUNCTIONS)


def takes(*kinds: frozenset[Type], gives: Type) -> Signature:
    """A signature with one set of admitted types for each argument; NULL is always admitted."""

    def signature(types: Sequence[Type]) -> Type | None:
        fits = len(types) <= len(kinds) and all(
            t in kind or t is Type.NULL for t, kind in zip(types, kinds, strict=False)
        )
        return gives if fits else None

    return signature


def whole_around(values: Range) -> Range:
    """The range of the values made whole, however they are rounded."""
    lower = math.floor(values.lower) if math.isfinite(values.lower) else values.lower
    return Range(float(lower), float(math.ceil(values.upper) if math.isfinite(values.upper) else values.upper))


NUMBERS = frozenset({Type.INTEGER, Type.DECIMAL, Type.FLOAT})
TEXTS = frozenset({Type.TEXT})
TIMES = frozenset({Type.DATE, Type.TIMESTAMP})
BOOLEANS = frozenset({Type.BOOLEAN})
INTEGERS = frozenset({Type.INTEGER})
ANYTHING = frozenset(set(Type) - {Type.OTHER})
