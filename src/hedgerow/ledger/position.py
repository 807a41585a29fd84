"""Position of a ledger: the latest entries that one analyst's budget depends on, and the budget that they leave."""

from dataclasses import dataclass, field, replace
from fractions import Fraction

from hedgerow.accounting.budget import Cost, RemainingBudget, Spending
from hedgerow.ledger.entries import Entry
from hedgerow.ledger.filters import Filter
from hedgerow.ledger.limits import Units, as_cost
from hedgerow.ledger.store import StoredRelease


@dataclass(frozen=True, slots=True)
class Position:
    """The end of the ledger, as one analyst sees it. Equal positions of one ledger leave equal budgets.

    Attributes:
        last: The latest entry.
        charged: The analyst's latest charge; None before the first.
        period: Start of the current period.
        filters: The caps of the dataset, its lifetime and the analyst that apply.
        shown: The filter whose remainder is shown to the analyst.
        allowed: What the owner's schedule has released for the next statement; None without a schedule.
    """

    last: Entry
    charged: Entry | None
    period: str
    filters: tuple[Filter, ...] = field(compare=False, repr=False)
    shown: Filter = field(compare=False, repr=False)
    allowed: Units | None = field(compare=False, repr=False)

    @property
    def remaining_cost(self) -> Cost:
        """Remainder of each coordinate under every cap that applies; for `pure`, what statements may ask for.

        It helps to choose a mechanism; `Ledger.charge` decides whether a charge is admitted.
        """
        lefts = [one.remaining for one in self.filters]
        if self.allowed is not None:
            lefts.append(self.allowed)
        return as_cost(
            Units(
                min(left.gaussian for left in lefts),
                min(min(left.pure, left.deliberate) for left in lefts),
                min(left.mass for left in lefts),
            )
        )

    def fair_mass(self, cost: Cost) -> Fraction:
        """Return the threshold mass that a statement with this noise should take, under every cap that applies.

        The threshold grows only like the square root of log(1 / mass), so a small mass costs little.
        """
        return min(one.fair_mass(cost) for one in self.filters)

    @property
    def remaining(self) -> RemainingBudget:
        """Remaining budget, for planning."""
        left = self.remaining_cost
        return RemainingBudget(left.gaussian, left.pure, self.fair_mass, self)

    @property
    def granted(self) -> RemainingBudget:
        """Remaining budget if nothing were spent, for plans of a new period."""
        unspent = tuple(replace(one, spent=Units()) for one in self.filters)
        return replace(self, filters=unspent, allowed=None).remaining

    @property
    def left(self) -> Spending:
        """Remaining budget, for display."""
        return self.shown.left


@dataclass(frozen=True, slots=True)
class QuestionState:
    """Everything in the ledger that a free repeat of a question depends on: its end, and the stored releases."""

    position: Position
    releases: tuple[StoredRelease, ...]
