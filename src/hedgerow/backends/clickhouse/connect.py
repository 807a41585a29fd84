"""From a URL, a folder, a session or a client to a backend; and the settings of every statement.

First, a few constants are computed. An engine that gives other values, because of its version or its configuration, is
refused: its answers would differ from those of the other engines.
"""

import importlib
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from hedgerow.backends.base import failure
from hedgerow.backends.clickhouse.backend import ClickHouse
from hedgerow.backends.clickhouse.clients import OPENING, InProcessClient, ServerClient, number_of
from hedgerow.dialects.clickhouse import CLICKHOUSE
from hedgerow.errors import BackendError

PORTS = {"clickhouse": 8123, "clickhouses": 8443}
IN_MEMORY = ":memory:"
KNOWN = (
    "SELECT toString(toDate32('0001-01-01')) = '0001-01-01' AND toString(makeDate32(9999, 12, 31)) = '9999-12-31' "
    "AND least(NULL, 2) = 2 AND isNull(CAST(CAST(NULL AS Nullable(Float64)) AS Int64)) "
    "AND toYear(toLastDayOfMonth(toDate32('1800-02-03'))) = 1800 "
    "AND arrayFold((a, v) -> a + v, [1e0, 2e0], 0e0) = 3 AND lower(hex(MD5('a'))) = '0cc175b9c0f1b6a831c399e269772661' "
    "AND toFloat64OrZero('5e-324') > 0 AND (SELECT count() FROM (SELECT 1 AS a) AS x LEFT JOIN (SELECT 2 AS b) AS y "
    "ON x.a = y.b WHERE isNull(y.b)) = 1 AS same, currentDatabase() AS place"
)


def open_clickhouse(url: str) -> ClickHouse:
    """Connect to a server: `clickhouse://user:password@host:8123/database`, or `clickhouses://…` over TLS."""
    driver = _driver("clickhouse_connect")
    parts = urlsplit(url)
    try:
        client = driver.get_client(
            host=parts.hostname or "localhost",
            port=parts.port or PORTS[parts.scheme],
            username=unquote(parts.username or "default"),
            password=unquote(parts.password or ""),
            database=parts.path.strip("/") or None,
            secure=parts.scheme == "clickhouses",
            autogenerate_session_id=False,
            show_clickhouse_errors=False,
        )
    except Exception as error:  # noqa: BLE001 - the driver's message may contain the password
        raise _unreachable(error) from None
    return _checked(_over(client, handed_in=False))


def over_client(client: Any) -> ClickHouse:  # noqa: ANN401 - an optional import
    """Return the backend over the owner's client of clickhouse-connect."""
    return _checked(_over(client, handed_in=True))


def _over(client: Any, *, handed_in: bool) -> ClickHouse:  # noqa: ANN401 - likewise
    """Return the backend over a client; it sets `readonly` unless the server has already fixed it."""
    try:
        allowed = str(client.command("SELECT value FROM system.settings WHERE name = 'readonly'"))
    except Exception as error:  # noqa: BLE001 - see above
        raise _unreachable(error) from None
    if allowed == "1":
        raise BackendError(
            "This user may not send settings with a statement (readonly = 1), but our statements depend on them.",
            code="engine-settings",
            hint="Use readonly = 2 in the user's profile: it allows settings but no writes.",
        )
    return ClickHouse(ServerClient(client), handed_in=handed_in, locked=allowed == "0")


def open_chdb(url: str) -> ClickHouse:
    """Open a folder of chdb, `chdb:///path/to/folder`, or its memory, `chdb:`."""
    module = _driver("chdb.session")
    path = url.removeprefix("chdb:").removeprefix("//")
    if path and not Path(path).is_dir():
        raise BackendError(f"There is no folder {path}.", code="no-database", hint="Check the path.")
    try:
        sessions = [module.Session(path or IN_MEMORY) for _ in range(2)]
    except Exception as error:  # noqa: BLE001 - chdb has no error classes
        incident = failure(error).incident
        raise BackendError(
            f"chdb cannot open {path or 'its memory'} (incident {incident}).",
            code="open-here",
            hint="A process can open only one folder of chdb at a time. Pass the open session itself.",
            incident=incident,
        ) from None
    return _checked(ClickHouse(InProcessClient(*sessions), handed_in=False))


def over_chdb(session: Any) -> ClickHouse:  # noqa: ANN401 - chdb has no types to name
    """Return the backend over the owner's session or connection of chdb."""
    return _checked(ClickHouse(InProcessClient(session, _beside(session)), handed_in=True))


def _beside(session: Any) -> Any | None:  # noqa: ANN401 - likewise
    """Open a second session of the same engine, to cancel statements of the first; None if that fails."""
    try:
        return _driver("chdb.session").Session(getattr(session, "_path", IN_MEMORY))
    except Exception:  # noqa: BLE001 - then nothing can be cancelled, as documented
        return None


def _driver(name: str) -> Any:  # noqa: ANN401 - a module
    try:
        return importlib.import_module(name)
    except ImportError:
        raise BackendError(
            f"{name.partition('.')[0]} is not installed.",
            code="driver-missing",
            hint="pip install 'hedgerow[clickhouse]'",
        ) from None


def _checked(backend: ClickHouse) -> ClickHouse:
    try:
        [(same, database)] = zip(*(column.to_pylist() for column in backend.ask(KNOWN).columns), strict=True)
    except Exception as error:  # noqa: BLE001 - an older engine lacks a function or a setting
        failure(error)
        same = False
    if same:
        backend.dialect = CLICKHOUSE.at(database)
        return backend
    backend.close()
    raise BackendError(
        "This ClickHouse computes some constants differently from the versions that hedgerow knows.",
        code="engine-version",
        hint="Use ClickHouse 26.9 or newer.",
    )


REFUSALS = {
    "no-server": ("No ClickHouse server answers at that address", "Check that it is running, and check host and port."),
    "login-refused": ("The ClickHouse server refused the login of this user", "Check the user and the password."),
    "no-database": ("There is no such database on the ClickHouse server", "Check its name in the URL."),
}


def _unreachable(error: BaseException) -> BackendError:
    """Return why the connection failed. The server's message goes to the owner's log only."""
    incident = failure(error).incident
    code = OPENING.get(number_of(error) or 0, "no-server")
    message, hint = REFUSALS[code]
    return BackendError(f"{message} (incident {incident}).", code=code, hint=hint, incident=incident)
