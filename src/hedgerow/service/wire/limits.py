"""Limits of the listener."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WireLimits:
    """Limits on connections.

    Attributes:
        connections: Number of connections at once that have logged in, and of those that have not yet.
        per_analyst: Number of connections of one analyst.
        prepared: Number of prepared statements, and of portals, of one connection.
        message_bytes: Length of one message.
        login_seconds: Seconds until a login must be complete.
        write_seconds: Seconds after which a connection is closed whose client has stopped to read.
        idle_seconds: Seconds after which a connection without messages is closed; None for never.
    """

    connections: int = 200
    per_analyst: int = 50
    prepared: int = 1000
    message_bytes: int = 4 * 1024 * 1024
    login_seconds: float = 30.0
    write_seconds: float = 300.0
    idle_seconds: float | None = 8 * 3600.0
