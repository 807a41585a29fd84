"""Errors of the service, and the status that each error has over HTTP and over the PostgreSQL wire."""

from hedgerow.errors import (
    BackendError,
    BudgetError,
    CatalogError,
    ConditionNotMet,
    HedgerowError,
    LedgerError,
    ParameterError,
    ParseError,
    PolicyError,
    UnknownNameError,
    UnsupportedSQLError,
)


class ServiceError(HedgerowError):
    """The service itself says no: nothing was asked of the database, and nothing was charged."""

    exit_code = 1


class AccessError(ServiceError):
    """Nobody with this name, password or token may do this here."""

    code = "not-allowed"


class BusyError(ServiceError):
    """Too many statements at once, of all or of one analyst. Asking again later helps."""

    code = "too-busy"


class ApprovalError(ServiceError):
    """The question needs an owner's word first. `request_id` names the request that waits for it."""

    code = "approval-needed"

    def __init__(self, message: str, *, request_id: str, code: str | None = None, hint: str | None = None) -> None:
        super().__init__(message, code=code, hint=hint)
        self.request_id = request_id


BY_CODE = {
    "cancelled": (409, "57014"),
    "statement-timeout": (504, "57014"),
    "shutting-down": (503, "57P01"),
    "login-refused": (401, "28P01"),
    "no-such-dataset": (404, "3D000"),
    "no-such-request": (404, "02000"),
    "no-such-account": (404, "02000"),
    "account-exists": (409, "42710"),
    "unknown-column": (422, "42703"),
    "unknown-table": (422, "42P01"),
    "ledger-locked": (503, "55P03"),
    "too-large": (422, "54000"),
}
"""Status over HTTP and SQLSTATE of errors whose class alone does not tell."""

BY_CLASS: tuple[tuple[type[HedgerowError], int, str], ...] = (
    (ParseError, 422, "42601"),
    (UnknownNameError, 422, "42704"),
    (ParameterError, 422, "22023"),
    (PolicyError, 403, "42501"),
    (UnsupportedSQLError, 422, "0A000"),
    (BudgetError, 402, "53400"),
    (ConditionNotMet, 422, "22023"),
    (CatalogError, 500, "F0000"),
    (LedgerError, 503, "58000"),
    (BackendError, 502, "58000"),
    (BusyError, 429, "53300"),
    (AccessError, 403, "42501"),
    (ApprovalError, 403, "42501"),
)
"""Status over HTTP and SQLSTATE of an error, by its class."""

UNKNOWN = 500, "XX000"


def _statuses(error: HedgerowError) -> tuple[int, str]:
    if error.code in BY_CODE:
        return BY_CODE[error.code]
    return next(((status, state) for kind, status, state in BY_CLASS if isinstance(error, kind)), UNKNOWN)


def http_status(error: HedgerowError) -> int:
    """Return the HTTP status of an error."""
    return _statuses(error)[0]


def sqlstate(error: HedgerowError) -> str:
    """Return the SQLSTATE of an error, by which clients of PostgreSQL tell errors apart."""
    return _statuses(error)[1]
