"""The only room where exact values meet noise, and where numbers with error bars come out."""

from hedgerow.noise import nonce
from hedgerow.release.after import AfterEngine
from hedgerow.release.estimate import Estimator
from hedgerow.release.follow import Follower
from hedgerow.release.frame import Frame
from hedgerow.release.measure import NoisyTable, measure
from hedgerow.release.memory import recall, remember
from hedgerow.release.select_keys import SelectedKeys, covers_every_key, select_keys
from hedgerow.release.spread import bounds_of

__all__ = [
    "AfterEngine",
    "Estimator",
    "Follower",
    "Frame",
    "NoisyTable",
    "SelectedKeys",
    "bounds_of",
    "covers_every_key",
    "measure",
    "nonce",
    "recall",
    "remember",
    "select_keys",
]
