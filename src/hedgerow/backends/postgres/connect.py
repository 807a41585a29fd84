"""From a URL to a backend."""

from collections.abc import Mapping
from urllib.parse import unquote

from hedgerow.backends.postgres import errors
from hedgerow.backends.postgres.backend import Postgres
from hedgerow.backends.postgres.pool import MOST, ConnectionPool, driver
from hedgerow.backends.postgres.settings import PATIENCE

OURS = frozenset({"schema", "timeout", "connections"})
LONGEST_PATIENCE = 7 * 86_400.0
MOST_CONNECTIONS = 1000


def open_postgres(url: str) -> Postgres:
    """A server by its URL: PostgreSQL's own, and three options more.

    `schema` names the schema of the tables, `timeout` the seconds that one statement may take, `connections` how many
    connections may be open at once.
    """
    body, _, query = url.partition("://")[2].partition("?")
    options = [option.partition("=") for option in query.split("&") if option]
    ours = {name: unquote(value) for name, _, value in options if name in OURS}
    rest = "&".join("".join(option) for option in options if option[0] not in OURS)
    plain = f"postgresql://{body}?{rest}" if rest else f"postgresql://{body}"
    if not _is_understood(plain):
        raise errors.bad_url()
    patience = _patience(ours)
    pool = ConnectionPool(plain, most=_connections(ours), patience=patience)
    try:
        return Postgres(pool, handed_in=False, schema=ours.get("schema"), patience=patience)
    except BaseException:
        pool.close()
        raise


def _is_understood(url: str) -> bool:
    """Return True if the driver can read a URL. Its words quote all of it, so no error may hang on to them."""
    psycopg = driver()
    try:
        psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        return False
    return True


def _patience(options: Mapping[str, str]) -> float:
    try:
        found = float(options.get("timeout", PATIENCE))
    except ValueError:
        raise errors.bad_url() from None
    if not 0 < found <= LONGEST_PATIENCE:
        raise errors.bad_url()
    return found


def _connections(options: Mapping[str, str]) -> int:
    stated = options.get("connections", str(MOST))
    if not stated.isdecimal() or not 1 <= int(stated) <= MOST_CONNECTIONS:
        raise errors.bad_url()
    return int(stated)
