"""Regular expressions, by an engine that takes time in proportion to the text.

The pattern is always a constant that was tried out when the query was bound, so that it cannot fail on a row.
What REGEXP_REPLACE reads and gives is at most 1,000 characters long.
"""

from hedgerow.expressions.functions.registry import INTEGERS, TEXTS, Function, register, takes
from hedgerow.expressions.ranges import Range
from hedgerow.expressions.types import Type

for _name in ("regexp_matches", "regexp_full_match"):
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
        "regexp_extract",
        takes(TEXTS, TEXTS, INTEGERS, gives=Type.TEXT),
        "regexp_extract({0}, {1}, {2})",
        partial=False,
        arity=(3, 3),
    )
)
for _name, _options in (("regexp_replace", ""), ("regexp_replace_all", ", 'g'")):
    register(
        Function(
            _name,
            takes(TEXTS, TEXTS, TEXTS, gives=Type.TEXT),
            f"left(regexp_replace(left({{0}}, 1000), {{1}}, {{2}}{_options}), 1000)",
            partial=False,
            arity=(3, 3),
        )
    )
