"""Functions of text."""

from collections.abc import Sequence

from hedgerow.expressions.functions.function import INTEGERS, TEXTS, TRUTH, TWO_TEXTS, Function, Template, row, within
from hedgerow.expressions.ranges import NON_NEGATIVE
from hedgerow.expressions.types import Type

# --- Text
#
# Lengths and positions count characters; what is out of reach is empty or NULL. REPLACE and REGEXP_REPLACE read and
# give at most 1,000 characters, and concatenations are cut at 10,000: doubling a text again and again would exhaust the
# engine, on rows that have one. Regular expressions are constants that were tried out when the query was bound, so they
# cannot fail on a row.

LONGEST_TEXT = 1_000
"""The longest result of REPEAT, LPAD, RPAD and REPLACE; their constants are checked against it."""

_THREE_TEXTS = (TEXTS, TEXTS, TEXTS)


def _all_text(types: Sequence[Type]) -> Type | None:
    return Type.TEXT if all(t in {Type.TEXT, Type.NULL} for t in types) else None


def _call(name: str) -> Template:
    return lambda arguments: f"{name}({', '.join(arguments)})"


TEXT = (
    *(row(name, (TEXTS,), Type.TEXT, f"{name}({{0}})", partial=False) for name in ("lower", "upper", "reverse")),
    *(row(name, TWO_TEXTS, Type.TEXT, _call(name), partial=False, arity=(1, 2)) for name in ("trim", "ltrim", "rtrim")),
    row("length", (TEXTS,), Type.INTEGER, "length({0})", lambda _: NON_NEGATIVE, partial=False),
    row(
        "substring",
        (TEXTS, INTEGERS, INTEGERS),
        Type.TEXT,
        lambda a: f"TRY(substring({', '.join(a)}))",
        arity=(2, 3),
    ),
    row("left", (TEXTS, INTEGERS), Type.TEXT, "TRY(left({0}, {1}))"),
    row("right", (TEXTS, INTEGERS), Type.TEXT, "TRY(right({0}, {1}))"),
    # Cut before and after: a replacement that multiplies the length could exhaust the engine on some rows only.
    row("replace", _THREE_TEXTS, Type.TEXT, "left(replace(left({0}, 1000), {1}, left({2}, 100)), 1000)"),
    row("position", TWO_TEXTS, Type.INTEGER, "strpos({0}, {1})", lambda _: NON_NEGATIVE, partial=False),
    # The position to begin at is a constant, from 1.
    row(
        "position_from",
        (TEXTS, TEXTS, INTEGERS),
        Type.INTEGER,
        "CASE WHEN strpos(substring({0}, {2}), {1}) = 0 THEN 0 ELSE strpos(substring({0}, {2}), {1}) + {2} - 1 END",
        lambda _: NON_NEGATIVE,
        partial=False,
    ),
    row("starts_with", TWO_TEXTS, Type.BOOLEAN, "starts_with({0}, {1})", partial=False),
    row("contains", TWO_TEXTS, Type.BOOLEAN, "contains({0}, {1})", TRUTH, partial=False),
    row("ends_with", TWO_TEXTS, Type.BOOLEAN, "ends_with({0}, {1})", TRUTH, partial=False),
    Function("concat", _all_text, lambda a: f"left({' || '.join(a)}, 10000)", partial=False, arity=(2, 100)),
    Function(
        "concat_present", _all_text, lambda a: f"left(concat({', '.join(a)}), 10000)", partial=False, arity=(1, 100)
    ),
    Function(
        "concat_joined", _all_text, lambda a: f"left(concat_ws({', '.join(a)}), 10000)", partial=False, arity=(2, 100)
    ),
    row("like", TWO_TEXTS, Type.BOOLEAN, "({0} LIKE {1})", TRUTH, partial=False),
    row("ilike", TWO_TEXTS, Type.BOOLEAN, "({0} ILIKE {1})", TRUTH, partial=False),
    # Escape sign and pattern are constants; the pattern does not end in the sign.
    row("like_escape", _THREE_TEXTS, Type.BOOLEAN, "({0} LIKE {1} ESCAPE {2})", TRUTH, partial=False),
    # The length and the filling are constants: 0 to 1000 characters, filled with something.
    row("lpad", (TEXTS, INTEGERS, TEXTS), Type.TEXT, "lpad({0}, {1}, {2})", partial=False),
    row("rpad", (TEXTS, INTEGERS, TEXTS), Type.TEXT, "rpad({0}, {1}, {2})", partial=False),
    # The number is a constant; it is cut before the text is repeated.
    row(
        "repeat",
        (TEXTS, INTEGERS),
        Type.TEXT,
        f"left(repeat(left({{0}}, {LONGEST_TEXT}), "
        f"LEAST({{1}}, {LONGEST_TEXT} // GREATEST(length({{0}}), 1) + 1)), {LONGEST_TEXT})",
        partial=False,
    ),
    row("split_part", (TEXTS, TEXTS, INTEGERS), Type.TEXT, "TRY(split_part({0}, {1}, {2}))"),
    row("translate", _THREE_TEXTS, Type.TEXT, "translate({0}, {1}, {2})", partial=False),
    row("code_point", (TEXTS,), Type.INTEGER, "ascii({0})", within(0.0, 1_114_111.0), partial=False),
    row(
        "character",
        (INTEGERS,),
        Type.TEXT,
        "chr(CASE WHEN {0} BETWEEN 1 AND 55295 OR {0} BETWEEN 57344 AND 1114111 THEN TRY_CAST({0} AS INTEGER) END)",
    ),
    row("regexp_matches", TWO_TEXTS, Type.BOOLEAN, "regexp_matches({0}, {1})", TRUTH, partial=False),
    row("regexp_full_match", TWO_TEXTS, Type.BOOLEAN, "regexp_full_match({0}, {1})", TRUTH, partial=False),
    row("regexp_extract", (TEXTS, TEXTS, INTEGERS), Type.TEXT, "regexp_extract({0}, {1}, {2})", partial=False),
    *(
        row(
            name,
            _THREE_TEXTS,
            Type.TEXT,
            f"left(regexp_replace(left({{0}}, 1000), {{1}}, {{2}}{options}), 1000)",
            partial=False,
        )
        for name, options in (("regexp_replace", ""), ("regexp_replace_all", ", 'g'"))
    ),
)
