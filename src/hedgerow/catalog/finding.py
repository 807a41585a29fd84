"""One thing that `hedgerow check` has to say."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warning", "error", "unknown"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that `hedgerow check` has to say about `subject`.

    `ok` was verified, `warning` is worth a thought, `error` is false or contradicts the database, and `unknown`
    is what no program can verify: the owner's knowledge.
    """

    level: Level
    subject: str
    message: str
