"""The clipping report of an answer: the shares that its limits cut off, with error bars."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from hedgerow.accounting.budget import Spending
from hedgerow.answer.released import Payment
from hedgerow.error_bars.intervals.interval import Interval

if TYPE_CHECKING:
    from rich.table import Table

FREE = Spending(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Clipped:
    """Share of values, or of people, that one limit cut.

    Attributes:
        of: What is limited: a value in words, "rows of one person" or "groups of one person".
        limit: The limit in words.
        share: The share of values, or of people, beyond it; None if there are too few people.
        interval: The interval of the share, at the confidence of the report.
    """

    of: str
    limit: str
    share: float | None
    interval: Interval

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        ends = {"lower": self.interval.lower, "upper": self.interval.upper, "note": self.interval.note}
        return {"of": self.of, "limit": self.limit, "share": self.share, "interval": ends}


@dataclass(frozen=True)
class Diagnostics:
    """Shares cut by the limits of an answer; iterating gives one `Clipped` for each limit.

    Attributes:
        clipped: One entry for each limit that could take effect.
        confidence: Coverage of an interval.
        charge: The total cost of the report.
        payments: Its charges, one for each question that had to be asked.
    """

    clipped: tuple[Clipped, ...]
    confidence: float
    charge: Spending = field(default=FREE)
    payments: tuple[Payment, ...] = ()

    def __iter__(self) -> Iterator[Clipped]:
        return iter(self.clipped)

    def __len__(self) -> int:
        return len(self.clipped)

    def __repr__(self) -> str:
        lines = [f"{entry.of} beyond {entry.limit}: {_percent(entry)}" for entry in self.clipped]
        return "\n".join(lines or ["nothing was limited"])

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        return {
            "clipped": [entry.to_dict() for entry in self.clipped],
            "confidence": self.confidence,
            "charge": {"epsilon": self.charge.epsilon, "delta": self.charge.delta},
            "payments": [payment.to_dict() for payment in self.payments],
        }

    def rich_table(self) -> "Table":
        """The report for people."""
        from rich.table import Table  # noqa: PLC0415 - Rich is loaded when something is printed

        table = Table("what", "limit", "beyond it")
        for entry in self.clipped:
            table.add_row(entry.of, entry.limit, _percent(entry))
        return table


def _percent(entry: Clipped) -> str:
    if entry.share is None:
        return "held back"
    lower, upper = max(entry.interval.lower, 0.0), min(entry.interval.upper, 1.0)
    return f"{entry.share:.1%} ({lower:.1%} to {upper:.1%})"


class Diagnose(Protocol):
    """Measures how much the limits of one answer cut off."""

    def __call__(self, *, epsilon: float | None, delta: float | None) -> Diagnostics:
        """Return the report, and charge for it."""
