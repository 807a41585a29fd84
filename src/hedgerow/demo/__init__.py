"""A fictional hospital: generated data, its catalog, and a few questions."""

from hedgerow.demo.hospital import HospitalFiles, Sizes, build, existing
from hedgerow.demo.run import Tale, Told, tell_story
from hedgerow.demo.story import CLOSING, REFUSED, STORY, Chapter

__all__ = [
    "CLOSING",
    "REFUSED",
    "STORY",
    "Chapter",
    "HospitalFiles",
    "Sizes",
    "Tale",
    "Told",
    "build",
    "existing",
    "tell_story",
]
