"""One allowed function, and helpers for the rows of the table."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hedgerow.expressions import ranges
from hedgerow.expressions.ranges import EVERYTHING, Range
from hedgerow.expressions.types import Type

Signature = Callable[[Sequence[Type]], Type | None]
RangeRule = Callable[[Sequence[Range]], Range]
Template = str | Callable[[Sequence[str]], str]
Kinds = tuple[frozenset[Type], ...]


@dataclass(frozen=True)
class Function:
    """One allowed function.

    Attributes:
        name: Its name in our expressions.
        signature: Argument types to result type, or None where it does not apply.
        template: Its text in DuckDB, `{0}`, `{1}` … being the arguments; other engines have tables of their own.
        range: From the ranges of the arguments to that of the result.
        partial: True if it can be NULL although no argument is.
        arity: The smallest and the largest number of arguments.
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


def unbounded(_: Sequence[Range]) -> Range:
    """The rule of a function without a known range."""
    return EVERYTHING


def row(
    name: str,
    takes: Kinds,
    gives: Type,
    template: Template,
    rule: RangeRule = unbounded,
    *,
    partial: bool = True,
    arity: tuple[int, int] | None = None,
) -> Function:
    """A function with one set of admitted types for each argument; NULL is always admitted."""

    def signature(types: Sequence[Type]) -> Type | None:
        fits = len(types) <= len(takes) and all(
            t in kind or t is Type.NULL for t, kind in zip(types, takes, strict=False)
        )
        return gives if fits else None

    return Function(name, signature, template, rule, partial, arity or (len(takes), len(takes)))


NUMBERS = frozenset({Type.INTEGER, Type.DECIMAL, Type.FLOAT})
TEXTS = frozenset({Type.TEXT})
TIMES = frozenset({Type.DATE, Type.TIMESTAMP})
BOOLEANS = frozenset({Type.BOOLEAN})
INTEGERS = frozenset({Type.INTEGER})
ANYTHING = frozenset(set(Type) - {Type.OTHER})
TWO_WHOLE = (INTEGERS, INTEGERS)
TWO_NUMBERS = (NUMBERS, NUMBERS)
TWO_TEXTS = (TEXTS, TEXTS)
DOUBLE = "CAST({0} AS DOUBLE)"
DOUBLE_1 = "CAST({1} AS DOUBLE)"


def within(lower: float, upper: float) -> RangeRule:
    """The rule of a function whose values always lie between two numbers."""
    return lambda _: Range(lower, upper)


def first(arguments: Sequence[Range]) -> Range:
    """Return the rule of a function whose values have the range of its first argument."""
    return arguments[0]


def unary(rule: Callable[[Range], Range]) -> RangeRule:
    """The rule for one argument."""
    return lambda arguments: rule(arguments[0])


def binary(rule: Callable[[Range, Range], Range]) -> RangeRule:
    """The rule for two arguments."""
    return lambda arguments: rule(arguments[0], arguments[1])


def increasing(function: Callable[[float], float], domain: Range = EVERYTHING) -> RangeRule:
    """The rule of an increasing function that is NULL outside `domain`."""
    return unary(ranges.monotone(function, domain))


TRUTH = within(0.0, 1.0)


def whole_around(values: Range) -> Range:
    """Return the range of rounded values, for any rounding."""
    lower = math.floor(values.lower) if math.isfinite(values.lower) else values.lower
    return Range(float(lower), float(math.ceil(values.upper) if math.isfinite(values.upper) else values.upper))
