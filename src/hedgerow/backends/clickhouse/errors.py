"""ClickHouse's errors, told apart by their numbers.

Privacy: a message may quote a row, and with it any words. So the number is read where nothing of a row can stand: from
the driver, which has it from a header of the response, or from the beginning of the message.
"""

import re

BEGINNING = re.compile(r"Code: (\d+)\. DB::")
RUNNING = {
    394: "cancelled",
    734: "cancelled",
    159: "timed-out",
    241: "out-of-memory",
    396: "out-of-memory",
    60: "schema-changed",
    47: "schema-changed",
    497: "not-permitted",
}
"""Codes of errors of a statement, by number."""

OPENING = {81: "no-database", **dict.fromkeys((192, 193, 194, 516), "login-refused")}
"""Codes of errors of a connection that is being made, by number."""


def number_of(error: BaseException) -> int | None:
    """Return the number of an error of ClickHouse; None where it has none."""
    number = getattr(error, "code", None)
    if isinstance(number, int):
        return number
    found = BEGINNING.match(str(error))
    return int(found[1]) if found else None


def code_of(error: BaseException) -> str | None:
    """Return the code of an error of a statement that is told apart."""
    return RUNNING.get(number_of(error) or 0)
