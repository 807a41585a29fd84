"""CASE, COALESCE, NULLIF, LEAST, GREATEST, IN, CLIP.

The binder has already brought all branches to one type, so none of them needs an implicit cast.
"""

from collections.abc import Sequence

from hedgerow.expressions import ranges
from hedgerow.expressions.functions.registry import NUMBERS, Function, register, takes
from hedgerow.expressions.ranges import Range
from hedgerow.expressions.types import Type

MANY = 1_000


def one_type(types: Sequence[Type]) -> Type | None:
    """The common type of all branches, if there is one."""
    kinds = {t for t in types if t is not Type.NULL}
    return kinds.pop() if len(kinds) == 1 else (Type.NULL if not kinds else None)


def _case(types: Sequence[Type]) -> Type | None:
    if any(t not in {Type.BOOLEAN, Type.NULL} for t in types[:-1:2]):
        return None
    return one_type([*types[1::2], types[-1]])


def _render_case(arguments: Sequence[str]) -> str:
    branches = " ".join(f"WHEN {c} THEN {v}" for c, v in zip(arguments[:-1:2], arguments[1::2], strict=True))
    return f"CASE {branches} ELSE {arguments[-1]} END"


def _clip(arguments: Sequence[Range]) -> Range:
    return ranges.meet(Range(arguments[1].lower, arguments[2].upper), arguments[0])


register(
    Function(
        "case",
        _case,
        _render_case,
        range=lambda r: ranges.hull([*r[1::2], r[-1]]),
        arity=(3, MANY),
    )
)
register(
    Function(
        "coalesce",
        one_type,
        lambda a: f"COALESCE({', '.join(a)})",
        range=ranges.hull,
        arity=(1, MANY),
    )
)
register(
    Function(
        "nullif",
        lambda types: types[0] if one_type(types) else None,
        "NULLIF({0}, {1})",
        range=lambda r: r[0],
        arity=(2, 2),
    )
)


def _least(arguments: Sequence[Range]) -> Range:
    """NULL is passed over, so only what is certainly there (a constant) holds the value down."""
    fixed = [r.upper for r in arguments if r.lower == r.upper]
    top = max(r.upper for r in arguments)
    return Range(min(r.lower for r in arguments), min([top, *fixed]))


def _greatest(arguments: Sequence[Range]) -> Range:
    return ranges.negate(_least([ranges.negate(r) for r in arguments]))


for _name, _rule in (("least", _least), ("greatest", _greatest)):
    register(
        Function(
            _name,
            one_type,
            lambda a, name=_name: f"{name.upper()}({', '.join(a)})",  # type: ignore[misc]
            range=_rule,
            partial=False,
            arity=(1, MANY),
        )
    )
register(
    Function(
        "in",
        lambda types: Type.BOOLEAN if one_type(types) else None,
        lambda a: f"({a[0]} IN ({', '.join(a[1:])}))",
        range=lambda _: Range(0.0, 1.0),
        arity=(2, 10 * MANY),
    )
)
register(
    Function(
        "clip",
        takes(NUMBERS, NUMBERS, NUMBERS, gives=Type.FLOAT),
        "CASE WHEN NOT isnan(CAST({0} AS DOUBLE)) THEN LEAST(GREATEST(CAST({0} AS DOUBLE), {1}), {2}) END",
        range=_clip,
        arity=(3, 3),
    )
)
register(
    Function(
        "clip_whole",
        takes(frozenset({Type.INTEGER}), frozenset({Type.INTEGER}), frozenset({Type.INTEGER}), gives=Type.INTEGER),
        "CASE WHEN {0} IS NOT NULL THEN LEAST(GREATEST(CAST({0} AS BIGINT), {1}), {2}) END",
        range=_clip,
        partial=False,
        arity=(3, 3),
    )
)
register(
    Function(
        "indicator",
        takes(frozenset({Type.BOOLEAN}), gives=Type.INTEGER),
        "CAST({0} AS INTEGER)",
        range=lambda _: Range(0.0, 1.0),
        partial=False,
    )
)
