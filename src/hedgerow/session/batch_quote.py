"""Price of a batch before it is asked, for people and programs."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hedgerow.accounting.budget import Spending
from hedgerow.answer import Savings
from hedgerow.answer.plot import Errors
from hedgerow.answer.render import table_text
from hedgerow.figures import figure, finite
from hedgerow.markup import grid, joined, paragraph

if TYPE_CHECKING:
    from rich.table import Table

SHOWN = (100, 1_000, 10_000, 100_000)
"""Group sizes for which errors are shown."""


@dataclass(frozen=True, repr=False)
class BatchQuote:
    """Price of several statements together, and their predicted errors.

    Attributes:
        names: The names of the statements, in order.
        charge: The guarantee of all of them together.
        share: The largest of the fractions it would take of the three caps.
        remaining: What would be left afterwards (what is left now, if it does not fit).
        confidence: Coverage of the intervals whose half widths are predicted.
        errors: By statement and noisy column, half widths in groups of 100, 1 000, 10 000 and 100 000 rows.
        alone: By statement, what it would cost by itself to be as accurate.
        releases: Number of releases that would be bought: statements about the same rows and keys share one.
        fits: Whether the ledger would admit it now.
        totals: By statement with ROLLUP, CUBE or GROUPING SETS, the errors of its coarser levels.
        savings: What the batch would save; None if it is paid for already.
        receipt: If it is already paid for, the receipt of that charge.
        survival: By statement that tests its groups, the number of people from which a group is shown with 50 % and
            with 95 % probability.
    """

    names: tuple[str, ...]
    charge: Spending
    share: float
    remaining: Spending | None
    confidence: float
    errors: Mapping[str, Errors]
    alone: Mapping[str, Spending]
    releases: int
    fits: bool = True
    totals: Mapping[str, Mapping[str, Errors]] = field(default_factory=dict)
    savings: Savings | None = None
    receipt: str | None = None
    survival: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def reused(self) -> bool:
        """True if all answers are paid for already, so that asking is free."""
        return self.receipt is not None

    def __str__(self) -> str:
        return f"{table_text(self.table())}\n{self.caption}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = ["query", "column", *(f"± in groups of {size:,}" for size in SHOWN), "alone: epsilon"]
        return joined([grid(head, self._rows(), left=2), paragraph(self.caption)])

    def table(self) -> "Table":
        """The errors as a Rich table."""
        from rich.table import Table  # noqa: PLC0415 - Rich is loaded when something is printed

        table = Table("query", "column")
        for heading in (*(f"± at {size:,}" for size in SHOWN), "alone: epsilon"):
            table.add_column(heading, justify="right")
        for row in self._rows():
            table.add_row(*row)
        return table

    @property
    def caption(self) -> str:
        """One line on the price."""
        if self.reused:
            return "free: answered before"
        price = f"epsilon {self.charge.epsilon:.4g}, delta {self.charge.delta:g}, {self.share:.2%} of the budget"
        fit = "" if self.fits else " The ledger would refuse it now."
        saved = "" if self.savings is None else f" One by one, as accurately: epsilon {self.savings.apart.epsilon:.4g}."
        releases = "one release" if self.releases == 1 else f"{self.releases} releases"
        return f"All {len(self.names)} together, in {releases}: {price}.{saved}{fit}{self._held_back()}"

    def _held_back(self) -> str:
        """Return one line for each size below which groups are usually held back."""
        names: dict[int, list[str]] = {}
        for name, survival in self.survival.items():
            names.setdefault(math.ceil(survival["50%"]), []).append(name)
        lines = (
            f"Groups with fewer than about {people:,} people are usually held back: {', '.join(listed)}."
            for people, listed in sorted(names.items())
        )
        return "".join(f"\n{line}" for line in lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of the command line."""
        left = self.remaining
        return {
            "queries": {
                name: {
                    "errors": finite(self.errors.get(name, {})),
                    **({"alone": _spending(self.alone[name])} if name in self.alone else {}),
                }
                for name in self.names
            },
            "confidence": self.confidence,
            "charge": {**_spending(self.charge), "share": self.share},
            "remaining": None if left is None else _spending(left),
            "releases": self.releases,
            "fits": self.fits,
            "reused": self.reused,
            "receipt": self.receipt,
            "survival": {name: dict(survival) for name, survival in self.survival.items()},
            **({} if self.savings is None else {"savings": self.savings.to_dict()}),
        }

    def _rows(self) -> list[list[str]]:
        rows = []
        for name in self.names:
            alone = f"{self.alone[name].epsilon:.3g}" if name in self.alone else "free"
            for index, (column, by_size) in enumerate((self.errors.get(name) or {"": {}}).items()):
                cells = [_shown(by_size.get(size)) for size in SHOWN]
                rows.append([name if index == 0 else "", column, *cells, alone if index == 0 else ""])
        return rows


def _shown(error: float | None) -> str:
    return "" if error is None else "?" if not math.isfinite(error) else figure(error)


def _spending(spending: Spending) -> dict[str, float]:
    return {"epsilon": spending.epsilon, "delta": spending.delta}
