"""Tables without negative numbers that add up, as near as possible to released ones.

The numbers of all tables are sums of atoms: the groups of one table, or the cells that several tables have in common.
Tables that are made of atoms add up to each other, whatever the atoms are. So the atoms are chosen, by least squares
over all numbers that are shown: first as real numbers, then as whole ones.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

STEPS = 1000
NEAR = 1e-4
"""Largest change of an atom in a step, as a part of one unit, at which the search ends."""

MOVES = 4000
"""Largest number of steps by one with which whole atoms are brought nearer."""

GAIN = 1e-9
"""Smallest decrease of the sum of squares that is worth a step."""

BITS = 40
"""Binary digits of real atoms, relative to the largest number: their sums are exact in double precision."""


def nearest_atoms(members: Any, released: Floats, *, lowest: float, whole: bool) -> Floats:  # noqa: ANN401 - SciPy's sparse arrays have no types
    """Return the atoms whose sums have the least sum of squared differences from the released numbers.

    The result depends only on the arguments. It is the nearest up to the precision of the search; whole atoms are
    found by raising one after the other, each time the one that brings the sums nearest.

    Args:
        members: A row of zeros and ones for each number: the atoms that it is the sum of.
        released: The numbers.
        lowest: Smallest value of an atom: 0, or minus infinity.
        whole: Return whole numbers.

    Example:
        >>> members = np.array([[1, 0], [0, 1], [1, 1]])
        >>> nearest_atoms(members, np.array([10.2, -6.0, 4.2]), lowest=0.0, whole=True).tolist()
        [7.0, 0.0]
    """
    sizes = np.asarray(members.sum(axis=1), dtype=float).ravel()
    step = 1.0 if whole else 2.0 ** (np.ceil(np.log2(max(1.0, float(np.abs(released).sum())))) - BITS)
    atoms = _real_atoms(members, released / step, sizes, lowest / step if lowest else 0.0)
    if not whole or sizes.max(initial=0.0) <= 1.0:
        return np.asarray(np.round(atoms) * step)
    return _whole_atoms(members, released, np.diff(np.round(np.cumsum(atoms)), prepend=0.0), lowest)


def _real_atoms(members: Any, released: Floats, sizes: Floats, lowest: float) -> Floats:  # noqa: ANN401 - likewise
    """Return real atoms, by projected gradient steps with Nesterov's momentum, started anew where it overshoots."""
    turned = members.T
    slope = _largest_eigenvalue(members, turned)
    share = np.divide(released, sizes, out=np.zeros_like(released), where=sizes > 0)
    counts = np.maximum(np.asarray(members.sum(axis=0), dtype=float).ravel(), 1.0)
    current = np.maximum(np.asarray(turned @ share).ravel() / counts, lowest)
    ahead, momentum = current, 1.0
    for _ in range(STEPS):
        moved = np.maximum(ahead - turned @ (members @ ahead - released) / slope, lowest)
        change = moved - current
        if float((ahead - moved) @ change) > 0:
            ahead, momentum = current, 1.0
            if not np.any(ahead - moved):
                break
            moved = np.maximum(ahead - turned @ (members @ ahead - released) / slope, lowest)
            change = moved - current
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = moved + (momentum - 1) / following * change
        current, momentum = moved, following
        if float(np.abs(change).max(initial=0.0)) < NEAR / slope:
            break
    return np.asarray(current)


def _largest_eigenvalue(members: Any, turned: Any) -> float:  # noqa: ANN401 - likewise
    """Return an upper bound of the largest eigenvalue of the normal matrix: its largest row sum after a few steps."""
    vector = np.ones(members.shape[1])
    bound = 1.0
    for _ in range(10):
        image = np.asarray(turned @ (members @ vector)).ravel()
        used = vector > 0
        bound = float((image[used] / vector[used]).max(initial=1.0))
        vector = image / max(float(image.max(initial=1.0)), 1.0)
    return bound


def _whole_atoms(members: Any, released: Floats, atoms: Floats, lowest: float) -> Floats:  # noqa: ANN401 - likewise
    """Raise whole atoms by one, or lower them, as long as that brings the sums nearer."""
    turned = members.T
    squares = np.asarray(members.sum(axis=0), dtype=float).ravel()
    for _ in range(MOVES):
        pull = np.asarray(turned @ (released - members @ atoms)).ravel()
        up, down = 2 * pull - squares, np.where(atoms > lowest, -2 * pull - squares, -np.inf)
        gains, move = (up, 1.0) if up.max() >= down.max() else (down, -1.0)
        best = int(np.argmax(gains))
        if gains[best] <= GAIN:
            break
        atoms[best] += move
    return atoms
