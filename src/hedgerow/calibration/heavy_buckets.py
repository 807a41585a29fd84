"""What a histogram of people shows: the buckets that enough of them share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hedgerow.calibration.buckets import CELLS
from hedgerow.release import Estimator

WIDE = CELLS // 4
"""Fewer shared cells than this are worth cutting again, if there are people enough for it."""

TAIL = 6
"""How far a tail that is not shown is thought to reach, in orders of magnitude."""

STEEP = 2.0
"""An end of the shared cells is taken for the end of the values if it holds so many times the threshold."""


@dataclass(frozen=True)
class Shared:
    """Noisy numbers of people, by bucket (that of NULL aside), and the threshold that each of them has reached."""

    counts: Mapping[int, float]
    threshold: float

    @classmethod
    def of(cls, estimators: Sequence[Estimator]) -> "Shared":
        """The released histogram; a count that came out negative is none."""
        (made,) = estimators
        chosen = made.plan.selection
        columns = zip(made.noisy.keys.column("k0").to_pylist(), made.values(0), made.noisy.shown, strict=True)
        counts = {int(key): max(float(value), 0.0) for key, value, shown in columns if shown and key is not None}
        return cls(counts, 0.0 if chosen is None else float(chosen.threshold))

    def cells(self) -> list[int]:
        """The buckets in their order."""
        return sorted(self.counts)

    @property
    def is_narrow(self) -> bool:
        """Whether few cells hold everything, and so many people that cutting them again would show most of them."""
        cells = self.cells()
        few = bool(cells) and cells[-1] - cells[0] + 1 < WIDE
        return few and sum(self.counts.values()) >= STEEP * self.threshold * CELLS

    def tail(self) -> dict[int, float]:
        """A guess at the orders of magnitude above the last one, none of which has people enough to be shown.

        Where the last ones have fewer and fewer people, it goes on like that; where the last one has the most and is
        well filled, nothing comes behind it.
        """
        last = max(self.counts)
        top, before = self.counts[last], self.counts.get(last - 1, 0.0)
        if before <= top and top >= STEEP * self.threshold:
            return {}
        fall = min(top / before, 0.3) if before > top else 0.25
        first = min(self.threshold, top * fall)
        return {last + 1 + step: first * fall**step for step in range(TAIL)}

    def extra(self) -> tuple[int, int]:
        """How many cells to add below and above: one where the end is so thin that values may go on beyond it.

        A cell next to the shared ones has too few people to be shown. Behind a well filled cell that is where values
        end; behind one that was itself hardly shown it says little.
        """
        cells = self.cells()
        thin = [self.counts[cells[end]] < STEEP * self.threshold for end in (0, -1)]
        return int(thin[0]), int(thin[1])
