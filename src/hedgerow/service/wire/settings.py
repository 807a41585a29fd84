"""Settings `hedgerow.*` of a session: their names, how their values are read, and where they are kept.

The session's connection to the shadow keeps the values, as PostgreSQL keeps settings whose names have a prefix. SET
LOCAL, ROLLBACK, RESET, SHOW, set_config and start-up options then work as PostgreSQL documents them. This module reads
the values back before a private statement, if they may have changed.
"""

import json
import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hedgerow.errors import ParameterError
from hedgerow.service.shadow.relay import (
    CLOSED,
    ERROR,
    EXECUTED,
    FLUSH,
    ShadowError,
    ShadowSession,
    error_fields,
    frontend,
    row_values,
    text,
)

PREFIX = "hedgerow."


def _flag(value: str) -> bool:
    word = value.lower()
    if word in {"on", "true", "yes", "1", "t"}:
        return True
    if word in {"off", "false", "no", "0", "f"}:
        return False
    raise ValueError(value)


def _bounds(value: str) -> object:
    if value.lower() == "auto":
        return "auto"
    bounds = json.loads(value)
    if not isinstance(bounds, dict):
        raise ValueError(value)  # noqa: TRY004 - the caller handles one kind of error
    return {name: tuple(pair) if isinstance(pair, list) else pair for name, pair in bounds.items()}


@dataclass(frozen=True, slots=True)
class WireSetting:
    """One setting: how its text is read, and an example of a value.

    `presentation` is True for a setting of how an answer is sent, False for an option of the question.
    """

    read: Callable[[str], Any]
    example: str
    presentation: bool = False


SETTINGS: Mapping[str, WireSetting] = {
    "epsilon": WireSetting(float, "0.5"),
    "delta": WireSetting(float, "1e-8"),
    "within": WireSetting(str, "'5%'"),
    "confidence": WireSetting(float, "0.9"),
    "mechanism": WireSetting(str, "gaussian"),
    "max_groups": WireSetting(int, "4"),
    "max_rows": WireSetting(int, "10"),
    "min_frequency": WireSetting(int, "20"),
    "bounds": WireSetting(_bounds, """auto, or '{"age": [0, 90]}'"""),
    "simultaneous": WireSetting(_flag, "on"),
    "moments": WireSetting(str, "lambda"),
    "distinct": WireSetting(str, "auto"),
    "reuse": WireSetting(_flag, "off"),
    "nonnegative": WireSetting(_flag, "on"),
    "intervals": WireSetting(_flag, "on", presentation=True),
    "notices": WireSetting(_flag, "off", presentation=True),
}
"""Every setting, by its name without the prefix. An empty value stands for the catalog's default."""

OF_POSTGRES = ("statement_timeout", "client_min_messages")
"""Settings of PostgreSQL that apply to private statements, too."""

MILLISECONDS = {"": 1, "us": 0.001, "ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
QUIET = frozenset({"warning", "error", "fatal", "panic"})

READ_ALL = "SELECT " + ", ".join(
    f"pg_catalog.current_setting('{name}', true)" for name in (*(PREFIX + name for name in SETTINGS), *OF_POSTGRES)
)
STATEMENT = "hedgerow_settings"
"""Name of our own statement and portal in the shadow session."""

UNCHANGED_BY = (
    "BEGIN",
    "START TRANSACTION",
    "SHOW",
    "FETCH",
    "MOVE",
    "EXPLAIN",
    "DECLARE",
    "CLOSE CURSOR",
    "SAVEPOINT",
)
"""Command tags after which no setting can have changed."""


def start_values() -> dict[str, str]:
    """Return an empty value for each setting, so that SHOW knows it from the start of a session."""
    return dict.fromkeys((PREFIX + name for name in SETTINGS), "")


def read_setting(name: str, value: str) -> Any:  # noqa: ANN401 - each setting has a type of its own
    """Return the value of a setting; an unknown name or an unreadable value is refused."""
    setting = SETTINGS.get(name)
    if setting is None:
        raise ParameterError(
            f"There is no setting {PREFIX}{name}.",
            code="unknown-option",
            hint=f"There are: {', '.join(SETTINGS)}; and SHOW {PREFIX}budget.",
        )
    try:
        return setting.read(value)
    except ValueError:
        raise ParameterError(
            f"{PREFIX}{name} cannot be {value[:100]!r}.",
            code="bad-setting",
            hint=f"For instance: SET {PREFIX}{name} = {setting.example}; RESET {PREFIX}{name} takes it back.",
        ) from None


def timeout_seconds(value: str) -> float | None:
    """Return the seconds of a value of statement_timeout; None for no limit.

    Example:
        >>> timeout_seconds("1500ms"), timeout_seconds("2min"), timeout_seconds("0")
        (1.5, 120.0, None)
    """
    match = re.fullmatch(r"\s*([\d.]+)\s*(us|ms|s|min|h|d|)\s*", value)
    return float(match[1]) * MILLISECONDS[match[2]] / 1000 or None if match else None


class SessionSettings:
    """The settings of one session, read from its shadow connection when they may have changed."""

    def __init__(self, shadow: ShadowSession, *, has_timeout: bool) -> None:
        """Read nothing yet. `has_timeout` is True if the client named a statement_timeout at its start."""
        self._shadow = shadow
        self._values: dict[str, str] = {}
        self._first_timeout: str | None = "" if has_timeout else None
        self.stale = True
        self.unsynced = False
        """True if the shadow was asked something and owes the reply to a Sync."""
        self.options: dict[str, Any] = {}
        """Options of the next question."""
        self.intervals = False
        self.notices = True
        self.timeout: float | None = None
        """Seconds that the client allows a statement; None if it named no limit."""

    def note(self, tag: str, statement: str) -> None:
        """Remember that a statement ran in the shadow that may have changed a setting."""
        if tag.startswith("SELECT"):
            self.stale = self.stale or "set_config" in statement.lower()
        elif not tag.startswith(UNCHANGED_BY):
            self.stale = True

    async def refresh(self) -> None:
        """Read the values, if they may have changed."""
        if not self.stale:
            return
        names = (*SETTINGS, *OF_POSTGRES)
        row = await self._run(READ_ALL)
        self._values = {name: (value or b"").decode() for name, value in zip(names, row, strict=True)}
        given = {name: value for name, value in self._values.items() if value and name in SETTINGS}
        read = {name: read_setting(name, value) for name, value in given.items()}
        self.options = {name: value for name, value in read.items() if not SETTINGS[name].presentation}
        self.intervals = bool(read.get("intervals", False))
        self.notices = bool(read.get("notices", True)) and self._values["client_min_messages"] not in QUIET
        if self._first_timeout is None:
            self._first_timeout = self._values["statement_timeout"]
        changed = self._values["statement_timeout"] != self._first_timeout
        self.timeout = timeout_seconds(self._values["statement_timeout"]) if changed else None
        self.stale = False

    async def store(self, name: str, value: str) -> None:
        """Set a setting in the shadow for the rest of the session."""
        await self._run("SELECT pg_catalog.set_config($1, $2, false)", name, value)

    async def _run(self, sql: str, *values: str) -> tuple[bytes | None, ...]:
        """Run a statement of ours and return its row.

        It has a name of its own, so that the client's unnamed statement and its transaction stay as they are.
        """
        own = text(STATEMENT)
        bound = b"".join(struct.pack("!i", len(value.encode())) + value.encode() for value in values)
        messages = (
            frontend(b"P", own + text(sql) + b"\0\0"),
            frontend(b"B", own + own + b"\0\0" + struct.pack("!h", len(values)) + bound + b"\0\0"),
            frontend(b"E", own + b"\0\0\0\0"),
            FLUSH,
        )
        self.unsynced = True
        row: tuple[bytes | None, ...] = ()
        async for kind, payload in self._shadow.ask(*messages, until=EXECUTED):
            if kind == b"D":
                row = row_values(payload)
            elif kind == ERROR:
                raise ShadowError(error_fields(payload))
        for what in (b"P", b"S"):
            async for _ in self._shadow.ask(frontend(b"C", what + own), FLUSH, until=CLOSED):
                pass
        return row
