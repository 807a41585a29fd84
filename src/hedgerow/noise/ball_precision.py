"""Precision of ball arithmetic: FLINT has one for the whole process, so one thread computes at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

from flint import ctx

_ONE_THREAD = RLock()


@contextmanager
def ball_precision(bits: int) -> Iterator[None]:
    """Compute with balls of `bits` bits, and let no other thread change that meanwhile.

    A comparison of balls that succeeds is right at any precision, but a table that is made of balls needs the one it
    asked for: with fewer bits it could not be made, and a question that was charged would fail.
    """
    with _ONE_THREAD, ctx.workprec(bits):
        yield
