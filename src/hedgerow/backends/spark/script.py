"""Running a script of steps: those that are kept are computed once, when they are first read, and dropped again.

What is kept stays in Spark: partial sums, with one row for each pair of person and key.
"""

import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from hedgerow.dialects.spark import KEPT, VIEW

Session = Any
"""`pyspark.sql.SparkSession` or that of Spark Connect; PySpark is loaded only where it is used."""

Frame = Any
"""A DataFrame of either kind."""

STEP = re.compile(rf"({VIEW}|{KEPT}) (\w+) AS (.*)", re.DOTALL)
WORD = re.compile(r"'[^']*'|`[^`]*`|\b[a-z_]\w*\b")
"""A text, a quoted name, or a word of ours. Texts hold no quotes: those that would are written in hexadecimal."""

QUOTED = re.compile(r"'[^']*'|`[^`]*`")
STEP_OF_WITH = re.compile(r"(?:^WITH|\),) (\w+) AS \(")


@contextmanager
def script(session: Session, text: str, known: Mapping[str, str]) -> Iterator[Frame]:
    """The result of the last line, to be fetched while the steps are there.

    Every step is a view of a name that nobody else has, for other statements run in the same session; `known` are
    names that have others already. Steps are no WITH: Spark does not recognise a plan that is kept inside of one.

    Where no step is kept they are a WITH. Its steps get such names as well: the owner's temporary views have no name
    but a plain one, and a step of the same name would hide them.
    """
    *steps, query = text.split(";\n")
    names = {**known, **{name: _fresh(name) for name in STEP_OF_WITH.findall(QUOTED.sub("", query))}}
    with ExitStack() as made:
        for step in steps:
            how, name, body = _parts(step)
            view = _fresh(name)
            made.enter_context(_view(session, view, _renamed(body, names), kept=how == KEPT))
            names[name] = view
        yield session.sql(_renamed(query, names))


def _fresh(name: str) -> str:
    """Return a name that begins with `name` and that nobody else has."""
    return f"{name}_{secrets.token_hex(8)}"


def _parts(step: str) -> tuple[str, str, str]:
    found = STEP.fullmatch(step)
    if found is None:
        raise ValueError("A step of a script that is none.")
    return found[1], found[2], found[3]


def _renamed(text: str, names: Mapping[str, str]) -> str:
    return WORD.sub(lambda found: names.get(found[0], found[0]), text)


@contextmanager
def _view(session: Session, name: str, query: str, *, kept: bool) -> Iterator[None]:
    """A view. What is kept has its name in its plan: Spark takes plans that are alike for one, whenever they ran."""
    frame = session.sql(f"SELECT * FROM ({query}) WHERE '{name}' IS NOT NULL" if kept else query)
    if kept:
        frame.persist()
    frame.createTempView(name)
    try:
        yield
    finally:
        session.catalog.dropTempView(name)
        if kept:
            frame.unpersist()
