"""Tell systemd when the service is ready, reloads and stops, by the datagram protocol of sd_notify."""

import os
import socket
import time
from contextlib import suppress

VARIABLE = "NOTIFY_SOCKET"
STARTED_BY_SYSTEMD = ("INVOCATION_ID", VARIABLE)


def is_supervised() -> bool:
    """Return True if systemd started this process, so that its output goes to the journal."""
    return any(os.environ.get(name) for name in STARTED_BY_SYSTEMD)


def notify(*states: str) -> None:
    """Tell systemd a state, such as READY=1; do nothing if systemd did not ask for notifications."""
    address = os.environ.get(VARIABLE)
    if not address:
        return
    place = f"\0{address[1:]}" if address.startswith("@") else address
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.connect(place)
        channel.sendall("\n".join(states).encode())


def notify_reloading() -> None:
    """Tell systemd that the service reads its catalogs again."""
    notify("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")
