"""Errors as PostgreSQL's clients read them: SQLSTATE, message, hint, and the position of the caret."""

from pathlib import Path

from hedgerow.errors import HedgerowError
from hedgerow.owners_log import about, withheld
from hedgerow.service.errors import sqlstate
from hedgerow.service.shadow.relay import ShadowError
from hedgerow.service.shadow.routing import TOOL_HINT
from hedgerow.service.wire.messages import ProtocolError, StatementError

PREVIEWS = frozenset({"star", "no-aggregate"})
"""Codes of refusals that a tool meets when it previews the rows of a table: the hint is for its user."""

IN_FAILED_TRANSACTION = "current transaction is aborted, commands ignored until end of transaction block"


def error_fields(error: Exception, offset: int = 0, *, severity: str = "ERROR") -> dict[str, str]:
    """Return the fields of an ErrorResponse. `offset` is the position of the query in the text that the client sent.

    Privacy: an exception that is not ours is not shown, because its message could quote private values: see `known`.
    """
    if isinstance(error, ShadowError):
        return shifted(error.fields, offset)
    if isinstance(error, ProtocolError):
        return {"S": "FATAL", "C": error.sqlstate, "M": str(error)}
    if isinstance(error, StatementError):
        return {"S": severity, "C": error.sqlstate, "M": str(error), **({"H": error.hint} if error.hint else {})}
    if not isinstance(error, HedgerowError):
        return {"S": severity, "C": "XX000", "M": "internal error"}
    message = " ".join(part for part in (error.message, error.cost) if part)
    fields = {"S": severity, "C": sqlstate(error), "M": message, "D": f"code: {error.code}"}
    hint = TOOL_HINT if error.code in PREVIEWS else error.hint
    if hint:
        fields["H"] = hint
    if error.span is not None:
        fields["P"] = str(error.span.start + offset + 1)
    return fields


def shifted(fields: dict[str, str], offset: int) -> dict[str, str]:
    """Return the fields of an error with its position moved by `offset` characters."""
    if offset and fields.get("P", "").isdigit():
        return {**fields, "P": str(int(fields["P"]) + offset)}
    return fields


def known(error: Exception, log: Path | None) -> Exception:
    """Return an error that may be shown; any other goes to the owner's log, and its number is shown instead."""
    if isinstance(error, HedgerowError | ProtocolError | StatementError):
        return error
    with about(log):
        return withheld(error)
