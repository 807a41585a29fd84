"""A fictional hospital: generated data, its catalog, and a few questions."""

from hedgerow.demo.hospital import HospitalFiles, Sizes, build, existing
from hedgerow.demo.run import CLOSING, REFUSED, STORY, AnsweredChapter, Chapter, Story, run_story

__all__ = [
    "CLOSING",
    "REFUSED",
    "STORY",
    "AnsweredChapter",
    "Chapter",
    "HospitalFiles",
    "Sizes",
    "Story",
    "build",
    "existing",
    "run_story",
]
