"""Private SQL with honest error bars."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hedgerow.answer import Answer, Batch
    from hedgerow.distributions import Gaussian, Laplace
    from hedgerow.error_bars.intervals.interval import Interval
    from hedgerow.errors import (
        BackendError,
        BudgetError,
        CatalogError,
        ConditionNotMet,
        HedgerowError,
        InternalError,
        LedgerError,
        ParameterError,
        ParseError,
        PolicyError,
        QueryError,
        UnknownNameError,
        UnsupportedSQLError,
    )
    from hedgerow.publication.verification import verify
    from hedgerow.session.asynchronous import AsyncDatabase, aconnect
    from hedgerow.session.batch_quote import BatchQuote
    from hedgerow.session.connection import connect
    from hedgerow.session.database import Database
    from hedgerow.session.explain import Explanation
    from hedgerow.session.job import Job
    from hedgerow.session.planning import PlannedReport
    from hedgerow.session.quote import Quote
    from hedgerow.session.report import Report

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "AsyncDatabase",
    "BackendError",
    "Batch",
    "BatchQuote",
    "BudgetError",
    "CatalogError",
    "ConditionNotMet",
    "Database",
    "Explanation",
    "Gaussian",
    "HedgerowError",
    "InternalError",
    "Interval",
    "Job",
    "Laplace",
    "LedgerError",
    "ParameterError",
    "ParseError",
    "PlannedReport",
    "PolicyError",
    "QueryError",
    "Quote",
    "Report",
    "UnknownNameError",
    "UnsupportedSQLError",
    "aconnect",
    "connect",
    "verify",
]

_MODULES = {
    "Answer": "answer",
    "AsyncDatabase": "session.asynchronous",
    "Batch": "answer",
    "BatchQuote": "session.batch_quote",
    "Database": "session.database",
    "Explanation": "session.explain",
    "Gaussian": "distributions",
    "Interval": "error_bars.intervals.interval",
    "Job": "session.job",
    "Laplace": "distributions",
    "PlannedReport": "session.planning",
    "Quote": "session.quote",
    "Report": "session.report",
    "aconnect": "session.asynchronous",
    "connect": "session.connection",
    "verify": "publication.verification",
}
"""Modules of the names above; errors are in `hedgerow.errors`."""

if not TYPE_CHECKING:  # a type checker reads the imports above, and reports a name that is not among them

    def __getattr__(name: str) -> object:
        """Import a public name when it is first used: `import hedgerow` alone loads no library."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_MODULES.get(name, 'errors')}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """List the public names, imported or not, for completion and `help()`."""
    return sorted({*globals(), *__all__})


def load_ipython_extension(shell: object) -> None:
    """Add `%%hedgerow` to a notebook: IPython calls it for `%load_ext hedgerow`."""
    from hedgerow.magic import register  # noqa: PLC0415 - for notebooks alone

    register(shell)
