"""A function with too few arguments, too many, or of the wrong kinds is refused: no list of arguments makes us fail."""

import pytest
from sqlglot import exp

from hedgerow.errors import HedgerowError, InternalError
from hedgerow.plan.scalar import HANDLERS
from hedgerow.plan.syntax import PLAIN

FUNCTIONS = sorted(
    {name for kind in (*HANDLERS, *PLAIN) if issubclass(kind, exp.Func) for name in kind.sql_names()}
    | {"SUBSTR", "DATE_TRUNC", "DATE_DIFF", "TO_CHAR", "STRFTIME", "STRPTIME", "DATE_PART", "IFF", "REGEXP_REPLACE"}
)
ARGUMENTS = (
    "",
    "s",
    "i",
    "d",
    "NULL",
    "*",
    "s, s",
    "i, i",
    "s, 1",
    "d, d",
    "'day', d",
    "s, 'a', 'b'",
    "i, 1, 2",
    "1, 2, 3, 4",
)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_list_of_arguments_makes_a_function_fail(value, function):
    for arguments in ARGUMENTS:
        try:
            value(f"{function}({arguments})", "duckdb")
        except HedgerowError as error:
            assert not isinstance(error, InternalError), arguments  # noqa: PT017 - refused or not, it must not fail
