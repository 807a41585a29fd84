"""Errors of the service, and the status that each error has over HTTP and over the PostgreSQL wire."""

from hedgerow.errors import (
    AccessError,
    ApprovalError,
    BackendError,
    BudgetError,
    BusyError,
    CatalogError,
    ConditionNotMet,
    HedgerowError,
    LedgerError,
    ParameterError,
    ParseError,
    PolicyError,
    ServiceError,
    UnknownNameError,
    UnsupportedSQLError,
)

__all__ = ["AccessError", "ApprovalError", "BusyError", "ServiceError", "http_status", "sqlstate"]

BY_CODE = {
    "cancelled": (409, "57014"),
    "statement-timeout": (504, "57014"),
    "shutting-down": (503, "57P01"),
    "login-refused": (401, "28P01"),
    "no-such-dataset": (404, "3D000"),
    "no-such-answer": (404, "02000"),
    "no-such-dashboard": (404, "02000"),
    "no-such-request": (404, "02000"),
    "no-such-account": (404, "02000"),
    "account-exists": (409, "42710"),
    "account-name": (422, "22023"),
    "access-store": (503, "58000"),
    "unknown-column": (422, "42703"),
    "unknown-table": (422, "42P01"),
    "ledger-locked": (503, "55P03"),
    "too-large": (422, "54000"),
    "bad-request": (400, "08P01"),
    "bad-token": (401, "28P01"),
    "body-too-large": (413, "54000"),
    "not-acceptable": (406, "0A000"),
    "no-such-route": (404, "08P01"),
    "no-such-statement": (404, "02000"),
    "request-decided": (409, "55000"),
    "slow-request": (408, "08P01"),
    "wrong-content-type": (415, "08P01"),
    "wrong-method": (405, "08P01"),
}
"""HTTP status and SQLSTATE of errors whose class alone does not determine them."""

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
