"""The one source of random bits: the operating system's cryptographic generator, unseeded."""

import os
import secrets

import numpy as np
from numpy.typing import NDArray


def words(count: int) -> NDArray[np.uint64]:
    """Draw `count` independent uniform words of 64 bits."""
    return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


def bits(count: int) -> int:
    """Draw an integer that is uniform on 0 up to, not including, 2 to the power `count`."""
    return secrets.randbits(count)


def nonce() -> str:
    """Draw a public name for one statement: 32 hexadecimal digits that will not occur again.

    Privacy: it contains no secret. Every guarantee holds for any fixed nonce; it only makes the choices of one
    statement independent of those of another.
    """
    return secrets.token_hex(16)
