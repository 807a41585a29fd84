"""Calls of every function of the allow-list, on columns of every type that it admits."""

from datetime import datetime

from hedgerow.expressions.functions import allowed
from hedgerow.expressions.nodes import Call, Column, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan.coerce import TELLS_SIGNS
from hedgerow.plan.syntax import COMPARISONS

NATIVE = {
    Type.FLOAT: "DOUBLE",
    Type.INTEGER: "BIGINT",
    Type.TEXT: "VARCHAR",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
    Type.TIME: "TIME",
    Type.BOOLEAN: "BOOLEAN",
    Type.DECIMAL: "DECIMAL(38,4)",
}
ORIGIN = Literal(datetime(2000, 1, 3), Type.TIMESTAMP)  # noqa: DTZ001


def whole(value):
    return Literal(value, Type.INTEGER)


def text(value):
    return Literal(value, Type.TEXT)


CONSTANTS = {
    "lpad": {1: whole(1000), 2: text("ab")},
    "rpad": {1: whole(1000), 2: text("é")},
    "repeat": {1: whole(1000)},
    "fixed": {1: whole(10), 2: whole(2)},
    "width_bucket": {1: Literal(-5.0, Type.FLOAT), 2: Literal(5.0, Type.FLOAT), 3: whole(7)},
    "position_from": {2: whole(3)},
    "like_escape": {1: text("%a!%_%"), 2: text("!")},
    "regexp_matches": {1: text("(?i)a+(b|c)*")},
    "regexp_full_match": {1: text("(?s).*x.*")},
    "regexp_extract": {1: text("(a)(b)?"), 2: whole(2)},
    "regexp_replace": {1: text("(x*)"), 2: text("\\1\\1\\1")},
    "regexp_replace_all": {1: text("(x*)"), 2: text("\\1\\1\\1-")},
    "format_time": {1: text("%Y-%m-%d %H:%M:%S %a %A %b %B %j %U %W %V %G %w %u %y %p %I")},
    "read_time": {1: text("%Y-%m-%d")},
    "in_zone": {1: text("UTC"), 2: text("Europe/Berlin")},
    "read_instant": {1: text("Europe/Berlin")},
    "clip": {1: Literal(-5.0, Type.FLOAT), 2: Literal(5.0, Type.FLOAT)},
    "clip_whole": {1: whole(-5), 2: whole(5)},
    **{name: {1: whole(3), 2: ORIGIN} for name in allowed() if name.startswith("bucket_")},
}
"""Arguments that the binder admits as constants only."""

OF_TYPE = {
    kind: [Column(f"{kind.value}_{at}", kind, native=native) for at in range(3)] for kind, native in NATIVE.items()
}
COLUMNS = [column for columns in OF_TYPE.values() for column in columns]
SEVERAL = {"case": 3, "in": 3, "coalesce": 2, "least": 2, "greatest": 2, "concat": 3, "concat_present": 3}


COMPARED = {*COMPARISONS.values()}
"""The binder brings both sides of a comparison to one type."""


def calls(name, columns=OF_TYPE):
    """A call of the function for each combination of types that it admits, on columns."""
    function = allowed()[name]
    count = SEVERAL.get(name, function.arity[1] if function.arity[1] < 10 else function.arity[0])
    fixed = CONSTANTS.get(name, {})
    for kinds in _kinds(count, fixed):
        result = function.signature(kinds)
        if result is None or (name in COMPARED and len({*kinds}) > 1):
            continue
        picked = [fixed.get(at) or columns[kind][at % len(columns[kind])] for at, kind in enumerate(kinds)]
        if name in TELLS_SIGNS:
            picked = [Call("one_spelling", (a,), a.type) if a.type is Type.FLOAT else a for a in picked]
        yield Call(name, tuple(picked), result)


def _kinds(count, fixed):
    """Types for every argument: each alone, and the rest alike or numbers or texts."""
    if count > 4:
        return [[Type.INTEGER] * count]
    options = [[fixed[at].type] if at in fixed else list(OF_TYPE) for at in range(count)]
    actual = [[]]
    for choice in options:
        actual = [[*head, kind] for head in actual for kind in choice]
    return actual
