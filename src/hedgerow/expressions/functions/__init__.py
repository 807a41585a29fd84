"""The allow-list of functions, as one table: arguments, result, SQL text and range of each.

To add a function, add a row to the table of its family. Every text is *total*: it yields a value or NULL for every row
and can raise no error that depends on one. That is a privacy property: an error that occurs only for some rows would be
an answer without a charge.
"""

from collections.abc import Iterable, Mapping

from hedgerow.errors import InternalError
from hedgerow.expressions.functions.function import Function
from hedgerow.expressions.functions.numbers import CASTS, CONDITIONALS, NUMERIC, OPERATORS
from hedgerow.expressions.functions.text import TEXT
from hedgerow.expressions.functions.times import CALENDAR, TIME_OF_DAY

__all__ = ["Function", "allowed", "lookup"]


def lookup(name: str) -> Function:
    """Return the function called `name`, which must be on the list."""
    return _FUNCTIONS[name]


def allowed() -> Mapping[str, Function]:
    """Return the whole list, by name."""
    return dict(_FUNCTIONS)


def _by_name(functions: Iterable[Function]) -> Mapping[str, Function]:
    table: dict[str, Function] = {}
    for function in functions:
        if function.name in table:
            raise InternalError(f"Two functions are called {function.name}.")
        table[function.name] = function
    return table


_FUNCTIONS = _by_name((*OPERATORS, *CONDITIONALS, *CASTS, *NUMERIC, *TEXT, *CALENDAR, *TIME_OF_DAY))
