"""The faults, by the room they are in."""

from scripts.mutation.fault import Fault
from scripts.mutation.faults import accounting, engine, intervals, ledger, noise, privacy, publication, release

CANARY = Fault(
    "no-noise-at-all",
    "release/draw.py",
    "sample(scale, len(exact))",
    "np.zeros(len(exact), dtype=np.int64)",
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
    *publication.FAULTS,
)
