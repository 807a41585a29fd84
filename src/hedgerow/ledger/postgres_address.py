"""Where a PostgreSQL ledger is, and how that is written down without its password."""

import math
import re
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any

from hedgerow.errors import LedgerError
from hedgerow.ledger import postgres_faults as faults

if TYPE_CHECKING:
    from psycopg import Connection

SCHEMES = ("postgresql", "postgres")

SCHEMA = "hedgerow"
"""The schema of the tables, unless the URL names another (`?schema=...`)."""

_NAME = re.compile(r"(?!pg_)[a-z_][a-z0-9_]{0,62}")
_HOST = r"(?:[\w.-]*|\[[0-9A-Fa-f:.]+\])(?::\d*)?"
_SHOWABLE = re.compile(rf"{_HOST}(?:,{_HOST})*(?:/[\w.-]*)?")


@dataclass(frozen=True, slots=True)
class Address:
    """A schema in a PostgreSQL database. As text it shows no user, no password and no options."""

    url: str = field(repr=False)
    schema: str
    shown: str

    @classmethod
    def of(cls, location: str) -> "Address":
        """The address meant by a URL of PostgreSQL's, with the name of a schema among its options if wanted."""
        body, _, query = location.partition("://")[2].partition("?")
        options = query.split("&") if query else []
        kept = [option for option in options if not option.startswith("schema=")]
        schema = next((option for option in options if option not in kept), "").removeprefix("schema=") or SCHEMA
        if not _NAME.fullmatch(schema):
            raise faults.schema_name()
        url = f"postgresql://{body}?{'&'.join(kept)}" if kept else f"postgresql://{body}"
        return cls(url, schema, _shown(body, query) + ("" if schema == SCHEMA else f"?schema={schema}"))

    def __str__(self) -> str:
        return self.shown

    def connect(self, patience: float) -> "Connection":
        """A connection that commits when it is told to; if there is none, a `LedgerError` in our own words."""
        psycopg = driver()
        failure = None
        try:
            connection: Connection = psycopg.connect(
                **_settings(self.url, patience), autocommit=True, prepare_threshold=None
            )
        except psycopg.ProgrammingError:
            failure = faults.malformed()
        except (psycopg.Error, OSError, UnicodeError):
            failure = faults.unreachable(self)
        if failure is not None:  # raised out here, so that the driver's own words do not hang on to it
            raise failure
        if connection.info.parameter_status("server_encoding") != "UTF8":
            connection.close()
            raise faults.encoding(self)
        return connection


def is_address(location: str) -> bool:
    """Whether `location` is the URL of a PostgreSQL database."""
    scheme, colon, _ = location.partition("://")
    return bool(colon) and scheme.lower() in SCHEMES


def driver() -> ModuleType:
    """The driver, which is an extra."""
    try:
        import psycopg  # noqa: PLC0415 - the base install does without it
        import psycopg.conninfo  # noqa: PLC0415 - likewise
    except ImportError:
        raise LedgerError(
            "A ledger in PostgreSQL needs the driver psycopg, which is not installed.",
            code="ledger-driver",
            hint="pip install hedgerow[postgres]",
        ) from None
    return psycopg


def _settings(url: str, patience: float) -> dict[str, Any]:
    """How to connect: a peer that vanished is noticed in time, and the URL may say otherwise."""
    seconds = max(2, math.ceil(patience))
    steady: dict[str, Any] = {
        "application_name": "hedgerow",
        "connect_timeout": seconds,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": seconds * 1000,
    }
    steady.update(driver().conninfo.conninfo_to_dict(url))
    return steady


def _shown(body: str, query: str) -> str:
    """Host and database, where it is certain that nothing of a password is among them."""
    login, slash, database = body.partition("/")
    place = f"{login.rpartition('@')[2]}{slash}{database}"
    certain = "@" not in database and "@" not in query and _SHOWABLE.fullmatch(place)
    return f"postgresql://{place}" if certain else "postgresql://…"
