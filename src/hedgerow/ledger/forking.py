"""Connections and forked processes: a child gets none of its parent's, and no parent is forked inside a transaction."""

import os
import threading
from typing import Protocol
from weakref import WeakSet


class Forkable(Protocol):
    """Something with a lock that is held while a transaction is open."""

    turn: threading.RLock


_open: WeakSet[Forkable] = WeakSet()
_held: list[Forkable] = []


def watch(one: Forkable) -> None:
    """Wait for its transaction before every fork, and give the child a lock that nobody holds."""
    _open.add(one)


def _before() -> None:
    for one in list(_open):
        one.turn.acquire()
        _held.append(one)


def _in_parent() -> None:
    while _held:
        _held.pop().turn.release()


def _in_child() -> None:
    while _held:
        _held.pop().turn = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
