"""Functions of text. Lengths and positions count characters; what is out of reach is empty or NULL.

REPLACE reads and gives at most 1,000 characters, and what is put together is cut at 10,000: doubling a text again
and again would exhaust the engine, on rows that have one.
"""

from collections.abc import Sequence

from hedgerow.expressions.functions.registry import INTEGERS, TEXTS, Function, Template, register, takes
from hedgerow.expressions.ranges import NON_NEGATIVE, Range
from hedgerow.expressions.types import Type

for _name in ("lower", "upper", "reverse"):
    register(Function(_name, takes(TEXTS, gives=Type.TEXT), f"{_name}({{0}})", partial=False))


def _listed(name: str) -> Template:
    return lambda arguments: f"{name}({', '.join(arguments)})"


for _name in ("trim", "ltrim", "rtrim"):
    register(Function(_name, takes(TEXTS, TEXTS, gives=Type.TEXT), _listed(_name), partial=False, arity=(1, 2)))

register(
    Function("length", takes(TEXTS, gives=Type.INTEGER), "length({0})", range=lambda _: NON_NEGATIVE, partial=False)
)
register(
    Function(
        "substring",
        takes(TEXTS, INTEGERS, INTEGERS, gives=Type.TEXT),
        lambda a: f"TRY(substring({', '.join(a)}))",
        arity=(2, 3),
    )
)
register(Function("left", takes(TEXTS, INTEGERS, gives=Type.TEXT), "TRY(left({0}, {1}))", arity=(2, 2)))
register(Function("right", takes(TEXTS, INTEGERS, gives=Type.TEXT), "TRY(right({0}, {1}))", arity=(2, 2)))
register(
    Function(
        # Cut before and after: a replacement that multiplies the length could exhaust the engine on some rows only.
        "replace",
        takes(TEXTS, TEXTS, TEXTS, gives=Type.TEXT),
        "left(replace(left({0}, 1000), {1}, left({2}, 100)), 1000)",
        arity=(3, 3),
    )
)
register(
    Function(
        "position",
        takes(TEXTS, TEXTS, gives=Type.INTEGER),
        "strpos({0}, {1})",
        range=lambda _: NON_NEGATIVE,
        partial=False,
        arity=(2, 2),
    )
)
register(
    Function(
        "starts_with", takes(TEXTS, TEXTS, gives=Type.BOOLEAN), "starts_with({0}, {1})", partial=False, arity=(2, 2)
    )
)


def _concat(types: Sequence[Type]) -> Type | None:
    return Type.TEXT if all(t in {Type.TEXT, Type.NULL} for t in types) else None


register(Function("concat", _concat, lambda a: f"left({' || '.join(a)}, 10000)", partial=False, arity=(2, 100)))

for _name, _operator in (("like", "LIKE"), ("ilike", "ILIKE")):
    register(
        Function(
            _name,
            takes(TEXTS, TEXTS, gives=Type.BOOLEAN),
            f"({{0}} {_operator} {{1}})",
            range=lambda _: Range(0.0, 1.0),
            partial=False,
            arity=(2, 2),
        )
    )
