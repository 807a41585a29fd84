"""Where rows live, one file each."""

from hedgerow.backends.base import Backend, Snapshot
from hedgerow.backends.connect import connect_backend

__all__ = ["Backend", "Snapshot", "connect_backend"]
