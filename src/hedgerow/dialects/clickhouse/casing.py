"""Capitals and small letters, one character for one character, as DuckDB has them.

ClickHouse writes some characters as two (ß as SS), looks at the place of a sigma in its word, and knows letters of
newer versions of Unicode. Texts with such characters are taken to pieces; all others go through as they are.
"""

from collections.abc import Sequence

from hedgerow.dialects.clickhouse.spelling import let, quoted

NEW = ((0x10D50, 0x10D65), (0x16EA0, 0x16EB8))
LOWER_APART: Sequence[tuple[int, int]] = (
    (0x130, 0x130),
    (0x3A3, 0x3A3),
    (0x1C89, 0x1C89),
    (0xA7CB, 0xA7CC),
    (0xA7CE, 0xA7CE),
    (0xA7D2, 0xA7D2),
    (0xA7D4, 0xA7D4),
    (0xA7DA, 0xA7DA),
    (0xA7DC, 0xA7DC),
    *NEW,
)
LOWER_KNOWN = {"\u0130": "i", "\u03a3": "\u03c3"}
UPPER_APART: Sequence[tuple[int, int]] = (
    *((code, code) for code in (0xDF, 0x149, 0x19B, 0x1F0, 0x264, 0x390, 0x3B0, 0x587, 0x1C8A)),
    (0x1E96, 0x1E9A),
    *((code, code) for code in (0x1F50, 0x1F52, 0x1F54, 0x1F56)),
    (0x1F80, 0x1FAF),
    (0x1FB2, 0x1FB4),
    (0x1FB6, 0x1FB7),
    (0x1FBC, 0x1FBC),
    (0x1FC2, 0x1FC4),
    (0x1FC6, 0x1FC7),
    (0x1FCC, 0x1FCC),
    (0x1FD2, 0x1FD3),
    (0x1FD6, 0x1FD7),
    (0x1FE2, 0x1FE4),
    (0x1FE6, 0x1FE7),
    (0x1FF2, 0x1FF4),
    (0x1FF6, 0x1FF7),
    (0x1FFC, 0x1FFC),
    *((code, code) for code in (0xA7CD, 0xA7CF, 0xA7D3, 0xA7D5, 0xA7DB)),
    (0xFB00, 0xFB06),
    (0xFB13, 0xFB17),
    (0x10D70, 0x10D85),
    (0x16EBB, 0x16ED3),
)
UPPER_KNOWN = {
    "\u00df": "\u1e9e",
    **{chr(code): chr(code + 8) for start in (0x1F80, 0x1F90, 0x1FA0) for code in range(start, start + 8)},
    "\u1fb3": "\u1fbc",
    "\u1fc3": "\u1fcc",
    "\u1ff3": "\u1ffc",
}


def lower(text: str) -> str:
    """In small letters."""
    return _apart(text, "lowerUTF8", LOWER_APART, LOWER_KNOWN)


def upper(text: str) -> str:
    """In capitals."""
    return _apart(text, "upperUTF8", UPPER_APART, UPPER_KNOWN)


def _apart(text: str, name: str, ranges: Sequence[tuple[int, int]], known: dict[str, str]) -> str:
    inside = "".join(f"\\x{{{low:x}}}-\\x{{{high:x}}}" for low, high in ranges)
    letters = ", ".join(quoted("".join(side)) for side in (known.keys(), known.values()))
    found = quoted(f"[{inside}]")
    piece = f"if(match(p, {found}), translateUTF8(p, {letters}), {name}(p))"
    pieces = f"extractAll(assumeNotNull(s), {quoted(f'[{inside}]|[^{inside}]+')})"
    whole = f"arrayStringConcat(arrayMap(p -> {piece}, {pieces}))"
    return let(f"if(match(s, {found}), {whole}, {name}(s))", s=text)
