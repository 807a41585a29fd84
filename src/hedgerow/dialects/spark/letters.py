"""Upper and lower case, sign by sign.

Java writes `ß` in capitals as `SS`, knows a last sigma, and follows the newest Unicode; DuckDB maps each sign to one.
So text that is not plain ASCII is translated by a table.
"""

from functools import cache

_BLOCKS = (
    (0x1C89, 0x1C8A),
    (0xA7CB, 0xA7CF),
    (0xA7D2, 0xA7D5),
    (0xA7DA, 0xA7DC),
    (0x10D50, 0x10D85),
    (0x16EA0, 0x16EDA),
)
NEWER = frozenset(code for first, last in _BLOCKS for code in range(first, last + 1))
"""Letters that came after Unicode 15, and older ones whose partner did: they have no other case."""

BEYOND = 0x1F000
"""No sign from here on has a case."""

UPPER = {"ß": "ẞ"}
LOWER = {"İ": "i"}


def _one_sign(sign: str, *spellings: str) -> str:
    """The first spelling that is a single sign."""
    return next((text for text in spellings if len(text) == 1 and ord(text) not in NEWER), sign)


@cache
def table(case: str) -> tuple[str, str]:
    """All signs that have the other case, and what they become."""
    pairs = []
    for code in range(BEYOND):
        sign = chr(code)
        if code in NEWER:
            continue
        new = (
            UPPER.get(sign) or _one_sign(sign, sign.upper(), sign.title())
            if case == "upper"
            else LOWER.get(sign) or _one_sign(sign, sign.lower())
        )
        if new != sign:
            pairs.append((sign, new))
    return "".join(old for old, _ in pairs), "".join(new for _, new in pairs)


def written(case: str, text: str) -> str:
    """A text in upper or lower case. The tables are letters only, which every parser reads as they are."""
    old, new = table(case)
    ascii_only = f"octet_length({text}) = char_length({text})"
    return f"CASE WHEN {ascii_only} THEN {case}({text}) ELSE translate({text}, '{old}', '{new}') END"
