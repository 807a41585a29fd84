"""The faults, by the room they are in."""

from scripts.mutation.fault import Fault
from scripts.mutation.faults import accounting, engine, intervals, ledger, noise, privacy, release

CANARY = Fault(
    "no-noise-at-all",
    "release/draw.py",
    "noise = sample(scale, len(exact)).astype(object)",
    "noise = np.zeros(len(exact), dtype=object)",
    ("release/test_draw.py",),
)
"""A fault so gross that only tests of another copy could miss it."""

FAULTS = (
    *privacy.FAULTS,
    *noise.FAULTS,
    *release.FAULTS,
    *accounting.FAULTS,
    *ledger.FAULTS,
    *engine.FAULTS,
    *intervals.FAULTS,
)
