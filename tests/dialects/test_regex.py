"""One reader of regular expressions: its tree means what RE2 means, on every text."""

import random
import re

import duckdb
import pytest

from hedgerow.dialects import DIALECTS
from hedgerow.dialects.regex import UnsupportedPatternError, read
from hedgerow.dialects.regex.backtracking import java
from hedgerow.dialects.regex.tree import in_any_case, may_be_empty
from hedgerow.expressions.nodes import Call, Column, Literal
from hedgerow.expressions.types import Type

LETTERS = [*"aBkS7 _-{}]\néÉßθ日", "\u03d1", "\U0001f600"]
ATOMS = [
    *"aBkS7 _-éßθ日{}.^$",
    *("(?i)", "(?s)", "(?m)", "(?-i)", "{,3}"),
    *(r"\d", r"\W", r"\s", r"\b", r"\A", r"\z", r"\n", r"\.", r"\-", r"\x41", r"\x{e9}", r"\x{1F600}"),
    *("[a-c]", "[^a-z]", "[[:alpha:]]", "[[:^digit:]_]", r"[\d_]", r"[\W]", "[[:print:]]"),
    *("[é-ü]", "[]a]", "[^]]", "[a-]", "[--a]", r"[a\]b]"),
]
BRACKETS = ["(", "(?:", "(?i:", "(?s:", "(?P<n>", "(?-i:", "(?m:", "(?i-s:"]
REPEATS = [*"*+?", "{2}", "{1,3}", "{2,}", "*?", "+?", "{0,2}?"]


@pytest.fixture(scope="module")
def engine():
    with duckdb.connect(config={"threads": "1"}) as connection:
        yield connection


def some_pattern(choose: random.Random, depth: int = 0) -> str:
    parts = list[str]()
    for _ in range(choose.randint(1, 4)):
        if choose.random() < 0.2 and depth < 2:
            parts.append(f"{choose.choice(BRACKETS)}{some_pattern(choose, depth + 1)})")
        else:
            parts.append(choose.choice(ATOMS))
        parts += [choose.choice(REPEATS)] * (choose.random() < 0.3) + ["|"] * (choose.random() < 0.1)
    return "".join(parts)


def as_python(pattern: str) -> str:
    """Java's spelling in Python's, which has possessive repetitions and look-behind as well."""
    spelled = re.sub(r"\\x\{([0-9A-F]+)\}", lambda code: f"\\U{int(code[1], 16):08X}", pattern)
    return spelled.replace("\\z", "\\Z")


def test_what_is_written_for_java_finds_what_re2_finds(engine):
    choose, compared = random.Random(20), 0
    while compared < 400:
        pattern = some_pattern(choose)
        try:
            tree, _ = read(pattern)
            actual, extracted = (re.compile(as_python(java(tree, search=search))) for search in (True, False))
            engine.execute("SELECT regexp_matches('', $1)", [pattern])
        except (UnsupportedPatternError, duckdb.Error):
            continue
        texts = ["", *("".join(choose.choices(LETTERS, k=choose.randint(1, 6))) for _ in range(40))]
        # As a column: where a pattern is a constant, DuckDB rewrites one that begins with `(?:)` wrongly.
        rows = engine.execute(
            "SELECT t, regexp_matches(t, p), regexp_extract(t, p) FROM unnest($1) a(p), unnest($2) u(t)",
            [[pattern, pattern], texts],
        ).fetchall()
        for text, matches, part in rows:
            assert (actual.search(text) is not None) is matches, (pattern, text)
            match = extracted.search(text)
            assert (match[0] if match else "") == part, (pattern, text)
        assert may_be_empty(tree) or not any(matches for text, matches, _ in rows if not text), pattern
        compared += 1


def test_letters_in_any_case_are_those_of_re2(engine):
    cased = [code for code in range(1, 0x20000) if chr(code).lower() != chr(code) or chr(code).upper() != chr(code)]
    text, known = "".join(map(chr, cased)), 0
    for code in cased:
        if not (code < 0x590 or code % 7 == 0):
            continue
        try:
            ranges = in_any_case(((code, code),))
        except UnsupportedPatternError:
            continue
        [[letters]] = engine.execute("SELECT regexp_extract_all($1, $2)", [text, f"(?i)\\x{{{code:x}}}"]).fetchall()
        assert {ord(letter) for letter in letters} == {c for low, high in ranges for c in range(low, high + 1)}, code
        known += 1
    assert known > 700


@pytest.mark.parametrize("name", ["clickhouse", "mariadb", "postgres", "spark"])
@pytest.mark.parametrize("pattern", ["(?i)é|ß", "(?P<year>[0-9]{4})-(?-i:x)", "{,3}[[:graph:]]"])
def test_every_dialect_reads_the_same_patterns(name, pattern):
    dialect = DIALECTS[name]()
    arguments = (Column("x", Type.TEXT), Literal(pattern, Type.TEXT))
    assert dialect.call(Call("regexp_matches", arguments, Type.BOOLEAN), ["x", dialect.string(pattern)])


@pytest.mark.parametrize(
    "pattern",
    [
        r"a\B",
        r"\pL",
        r"\Qa\E",
        "(?=a)",
        "(?U)a",
        "a**",
        "^*",
        "a(?i){2}",
        "[z-a]",
        "[[:no:]]",
        "(a",
        "a)",
        "(?i)ŉ",
        r"(?i)[\x00-\x{10FFFF}]",
    ],
)
def test_what_engines_could_read_differently_is_not_read(pattern):
    with pytest.raises(UnsupportedPatternError):
        read(pattern)
