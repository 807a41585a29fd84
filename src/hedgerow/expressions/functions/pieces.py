"""Parts of text, and text made longer. What is made is cut: to 1,000 characters where a length is asked for."""

from collections.abc import Sequence

from hedgerow.expressions.functions.registry import INTEGERS, TEXTS, Function, register, takes
from hedgerow.expressions.ranges import NON_NEGATIVE, Range
from hedgerow.expressions.types import Type

LONGEST = 1_000
"""How long a text can become by REPEAT, LPAD, RPAD and REPLACE; their constants are checked against it."""

for _name in ("lpad", "rpad"):
    register(
        Function(
            # The length and the filling are constants: 0 to 1000 characters, filled with something.
            _name,
            takes(TEXTS, INTEGERS, TEXTS, gives=Type.TEXT),
            f"{_name}({{0}}, {{1}}, {{2}})",
            partial=False,
            arity=(3, 3),
        )
    )
register(
    Function(
        # The number is a constant; how often the text is repeated is cut before the text is made.
        "repeat",
        takes(TEXTS, INTEGERS, gives=Type.TEXT),
        f"left(repeat(left({{0}}, {LONGEST}), LEAST({{1}}, {LONGEST} // GREATEST(length({{0}}), 1) + 1)), {LONGEST})",
        partial=False,
        arity=(2, 2),
    )
)
register(
    Function(
        "split_part",
        takes(TEXTS, TEXTS, INTEGERS, gives=Type.TEXT),
        "TRY(split_part({0}, {1}, {2}))",
        arity=(3, 3),
    )
)
register(
    Function(
        # The place to begin at is a constant, from 1.
        "position_from",
        takes(TEXTS, TEXTS, INTEGERS, gives=Type.INTEGER),
        "CASE WHEN strpos(substring({0}, {2}), {1}) = 0 THEN 0 ELSE strpos(substring({0}, {2}), {1}) + {2} - 1 END",
        range=lambda _: NON_NEGATIVE,
        partial=False,
        arity=(3, 3),
    )
)
for _name in ("contains", "ends_with"):
    register(
        Function(
            _name,
            takes(TEXTS, TEXTS, gives=Type.BOOLEAN),
            f"{_name}({{0}}, {{1}})",
            range=lambda _: Range(0.0, 1.0),
            partial=False,
            arity=(2, 2),
        )
    )
register(
    Function(
        "translate",
        takes(TEXTS, TEXTS, TEXTS, gives=Type.TEXT),
        "translate({0}, {1}, {2})",
        partial=False,
        arity=(3, 3),
    )
)
register(
    Function(
        "code_point",
        takes(TEXTS, gives=Type.INTEGER),
        "ascii({0})",
        range=lambda _: Range(0.0, 1_114_111.0),
        partial=False,
    )
)
register(
    Function(
        "character",
        takes(INTEGERS, gives=Type.TEXT),
        "chr(CASE WHEN {0} BETWEEN 1 AND 55295 OR {0} BETWEEN 57344 AND 1114111 THEN TRY_CAST({0} AS INTEGER) END)",
    )
)


def _texts(types: Sequence[Type]) -> Type | None:
    return Type.TEXT if all(t in {Type.TEXT, Type.NULL} for t in types) else None


register(
    Function(
        "concat_present",
        _texts,
        lambda a: f"left(concat({', '.join(a)}), 10000)",
        partial=False,
        arity=(1, 100),
    )
)
register(
    Function(
        "concat_joined",
        _texts,
        lambda a: f"left(concat_ws({', '.join(a)}), 10000)",
        partial=False,
        arity=(2, 100),
    )
)
register(
    Function(
        # Escape sign and pattern are constants; the pattern does not end in the sign.
        "like_escape",
        takes(TEXTS, TEXTS, TEXTS, gives=Type.BOOLEAN),
        "({0} LIKE {1} ESCAPE {2})",
        range=lambda _: Range(0.0, 1.0),
        partial=False,
        arity=(3, 3),
    )
)
