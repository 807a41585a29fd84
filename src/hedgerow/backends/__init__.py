"""Backends: the engines that hold the rows."""

from hedgerow.backends.base import Backend, Snapshot
from hedgerow.backends.connect import connect_backend

__all__ = ["Backend", "Snapshot", "connect_backend"]
