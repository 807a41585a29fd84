"""One thing that `hedgerow check` has to say."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warning", "error", "unknown"]
Basis = Literal["database", "owner", "data"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that `hedgerow check` has to say about `subject`.

    `ok` was verified, `warning` is worth a thought, `error` is false or contradicts the database, and `unknown`
    is what no program can verify: the owner's knowledge.

    `basis` says what the subject rests on: what the *database* enforces or declares, the *owner*'s word, or a look at
    the *data* as it is at present.
    """

    level: Level
    subject: str
    message: str
    basis: Basis = "owner"
