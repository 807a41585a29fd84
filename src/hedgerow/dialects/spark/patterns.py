"""LIKE and regular expressions.

Patterns are constants, which the binder has tried out. They are read here and written anew for Java, and refused where
it is not certain that Java finds the same, on every text and in good time.
"""

from collections.abc import Callable, Mapping, Sequence

from hedgerow.dialects.base import Dialect
from hedgerow.dialects.regex import UnsupportedPatternError, read
from hedgerow.dialects.regex.backtracking import java
from hedgerow.dialects.regex.tree import (
    EVERY,
    Anchor,
    Characters,
    Concatenation,
    Node,
    Repeat,
    anchored,
    may_be_empty,
)
from hedgerow.dialects.spark.letters import written as in_case
from hedgerow.dialects.spark.spelling import quoted
from hedgerow.expressions.nodes import Call, Literal

Typed = Callable[[Call, Sequence[str]], str]
ESCAPES = "!~#@|^"
FEW = 2
"""So many % are looked for one after the other without going over the text too often."""


def patterns(dialect: Dialect) -> Mapping[str, Typed]:
    """All functions that take a pattern."""
    writers: Mapping[str, Callable[[Call, Sequence[str]], str]] = {
        "like": lambda call, texts: _like(texts[0], _items(_constant(call, 1), "")),
        "like_escape": lambda call, texts: _like(texts[0], _items(_constant(call, 1), _constant(call, 2))),
        "ilike": lambda call, texts: _ilike(texts[0], _constant(call, 1)),
        "regexp_matches": _matches,
        "regexp_full_match": _full_match,
        "regexp_extract": _extract,
        "regexp_replace": _replace_first,
        "regexp_replace_all": _replace_all,
    }
    return {name: _refusing(writer, dialect) for name, writer in writers.items()}


def _refusing(writer: Typed, dialect: Dialect) -> Typed:
    def written(call: Call, texts: Sequence[str]) -> str:
        try:
            return writer(call, texts)
        except UnsupportedPatternError:
            raise dialect.lacks("this pattern") from None

    return written


def _constant(call: Call, at: int) -> str:
    argument = call.arguments[at]
    if not isinstance(argument, Literal) or not isinstance(argument.value, str):
        raise UnsupportedPatternError("no constant")
    return argument.value


def _items(pattern: str, escape: str) -> list[str]:
    """The pattern of LIKE as `%`, `_` and literal signs, the latter marked by a leading `=`."""
    items, at = list[str](), 0
    while at < len(pattern):
        escaped = bool(escape) and pattern[at] == escape
        at += escaped
        sign = pattern[at : at + 1]
        items.append(sign if sign in "%_" and not escaped else f"={sign}")
        at += 1
    return items


def _like(text: str, items: Sequence[str]) -> str:
    """Spark takes an escape sign for granted, so there always is one, which does not occur."""
    if items.count("%") > FEW:
        return f"({text} RLIKE {quoted(java(_like_tree(items), search=True))})"
    escape = next((sign for sign in ESCAPES if f"={sign}" not in items), None)
    if escape is None:
        raise UnsupportedPatternError("every escape sign occurs")
    pattern = "".join(f"{escape}{i[1]}" if i in {"=%", "=_"} else i.removeprefix("=") for i in items)
    return f"({text} LIKE {quoted(pattern)} ESCAPE '{escape}')"


def _like_tree(items: Sequence[str]) -> Node:
    wild: dict[str, Node] = {"%": Repeat(Characters(EVERY), 0, None), "_": Characters(EVERY)}
    signs = [wild.get(item) or Characters(((ord(item[1]), ord(item[1])),)) for item in items]
    return Concatenation((Anchor("A"), *signs, Anchor("z")))


def _ilike(text: str, pattern: str) -> str:
    """Both sides in small letters. The pattern has few wildcards, and an escape sign that does not occur."""
    escape = next((sign for sign in ESCAPES if sign not in pattern), None)
    if escape is None:
        raise UnsupportedPatternError("every escape sign occurs")
    return f"({in_case('lower', text)} LIKE {in_case('lower', quoted(pattern))} ESCAPE '{escape}')"


def _matches(call: Call, texts: Sequence[str]) -> str:
    tree, _ = read(_constant(call, 1))
    return f"({texts[0]} RLIKE {quoted(java(tree, search=True))})"


def _full_match(call: Call, texts: Sequence[str]) -> str:
    tree, _ = read(_constant(call, 1))
    return f"({texts[0]} RLIKE {quoted(java(anchored(tree), search=True))})"


def _extract(call: Call, texts: Sequence[str]) -> str:
    tree, _ = read(_constant(call, 1))
    return f"regexp_extract({texts[0]}, {quoted(java(tree))}, {texts[2]})"


def _replace_first(call: Call, texts: Sequence[str]) -> str:
    """All before the first match is the first group, the match itself the second."""
    tree, _ = read(_constant(call, 1))
    pattern = f"\\A((?s:.)*?)({java(tree)})"
    by = "$1" + _replacement(_constant(call, 2), shift=2)
    return _replaced(texts[0], pattern, by)


def _replace_all(call: Call, texts: Sequence[str]) -> str:
    """An empty match right after another one does not count, nor one in the middle of a sign; Java takes both."""
    tree, _ = read(_constant(call, 1))
    pattern = java(tree)
    if may_be_empty(tree):
        pattern = f"(?:\\A|(?<=(?s:.)))(?>{pattern})(?:(?!\\G)|(?=\\A))"
    return _replaced(texts[0], pattern, _replacement(_constant(call, 2), shift=0))


def _replaced(text: str, pattern: str, by: str) -> str:
    return f"left(regexp_replace(left({text}, 1000), {quoted(pattern)}, {quoted(by)}), 1000)"


def _replacement(written: str, shift: int) -> str:
    r"""RE2 writes groups as `\1`, Java as `$1`; every other sign is marked to mean itself."""
    found, at = "", 0
    while at < len(written):
        sign = written[at]
        if sign == "\\" and written[at + 1 : at + 2].isdigit():
            found += f"${int(written[at + 1]) + shift}"
            at += 2
            continue
        at += 1 if sign != "\\" else 2
        found += f"\\{sign}"
    return found
