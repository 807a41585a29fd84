"""From a URL to a backend."""

from collections.abc import Mapping
from urllib.parse import unquote

from hedgerow.backends.postgres import errors
from hedgerow.backends.postgres.backend import TIMEOUT, Postgres
from hedgerow.backends.postgres.pool import DEFAULT_CONNECTIONS, ConnectionPool, driver

OURS = frozenset({"schema", "timeout", "connections", "snapshot"})
MAX_TIMEOUT = 7 * 86_400.0
MAX_CONNECTIONS = 1000


def open_postgres(url: str) -> Postgres:
    """Connect to a server by its URL: PostgreSQL's own syntax with four more options.

    `schema` is the schema of the tables, `timeout` the maximum seconds of one statement, `connections` the maximum
    number of open connections, and `snapshot` the seconds for which all statements read the same snapshot.
    """
    body, _, query = url.partition("://")[2].partition("?")
    options = [option.partition("=") for option in query.split("&") if option]
    ours = {name: unquote(value) for name, _, value in options if name in OURS}
    rest = "&".join("".join(option) for option in options if option[0] not in OURS)
    plain = f"postgresql://{body}?{rest}" if rest else f"postgresql://{body}"
    if not _is_valid(plain):
        raise errors.bad_url()
    timeout = _seconds(ours, "timeout", TIMEOUT)
    held = _seconds(ours, "snapshot", 0.0) if "snapshot" in ours else 0.0
    pool = ConnectionPool(plain, maximum=_connections(ours), timeout=timeout)
    try:
        return Postgres(pool, handed_in=False, schema=ours.get("schema"), timeout=timeout, held=held)
    except BaseException:
        pool.close()
        raise


def _is_valid(url: str) -> bool:
    """Return True if the driver can parse a URL. Its error quotes the URL, so it must not be chained."""
    psycopg = driver()
    try:
        psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        return False
    return True


def _seconds(options: Mapping[str, str], name: str, usual: float) -> float:
    try:
        seconds = float(options.get(name, usual))
    except ValueError:
        raise errors.bad_url() from None
    if not 0 < seconds <= MAX_TIMEOUT:
        raise errors.bad_url()
    return seconds


def _connections(options: Mapping[str, str]) -> int:
    text = options.get("connections", str(DEFAULT_CONNECTIONS))
    if not text.isdecimal() or not 1 <= int(text) <= MAX_CONNECTIONS:
        raise errors.bad_url()
    return int(text)
