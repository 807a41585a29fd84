"""The priced plan: it follows from query, catalog and budget, and never from data.

`fingerprint` identifies its private part and everything that bounds it, but not the post-processing.
"""

import hashlib
from dataclasses import dataclass

from hedgerow.accounting.budget import Charge, Event
from hedgerow.plan.nodes import Release
from hedgerow.privacy.bounding import Bounding
from hedgerow.privacy.distinct import Distinct
from hedgerow.privacy.keys import Keys
from hedgerow.privacy.ranks import Bucketing, CumulativeSums, Draw
from hedgerow.privacy.sums import ExactSum, LevelSums, NoisySum, Selection
from hedgerow.recently_used import once_per_plan
from hedgerow.statistics.moments.families import Monomial

Terms = tuple[tuple[int, float], ...]
"""A linear form: indices of noisy sums, with coefficients in the analyst's units."""


@dataclass(frozen=True, slots=True)
class SumForms:
    """The numbers of one aggregate as linear forms of noisy sums. See `aggregates.base.MeasuredSums`."""

    count: Terms = ()
    total: Terms = ()
    centred: Terms = ()
    middle: float = 0.0
    half: float = 1.0
    from_selection: bool = False
    moments: tuple[tuple[Monomial, Terms], ...] = ()
    other_middle: float = 0.0
    other_half: float = 1.0
    draw: int | None = None
    distinct: int | None = None
    distinct_levels: tuple[int, ...] = ()
    cells: tuple[Terms, ...] = ()
    arms: tuple[tuple[tuple[Monomial, Terms], ...], ...] = ()
    ends: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Residual:
    """The part of a measure that depends on exactly some keys (`marginals`): these, and how a table by them is noised.

    `keys` are positions among the keys of all tables together.
    """

    keys: tuple[int, ...]
    noisy_sum: NoisySum


@dataclass(frozen=True, slots=True)
class Marginals:
    """Tables over one set of rows that are measured together.

    Attributes:
        finest: The rows by all keys of all tables, without noise of its own; its charge is that of all residuals.
        sizes: Number of declared values of each key.
        residuals: For each measure, its residuals.
    """

    finest: "PrivatePlan"
    sizes: tuple[int, ...]
    residuals: tuple[tuple[Residual, ...], ...]


@dataclass(frozen=True, slots=True)
class MarginalTable:
    """One of several tables that are measured together.

    Attributes:
        sizes: Number of declared values of each of its keys.
        variances: For each noisy sum, the variance of the noise in a cell of each residual, by positions of keys.
        keys: Its keys, as positions among the keys of all tables together.
        measures: For each noisy sum, its number among the measures of all tables together.
        together: All tables; None in a release that was read from the ledger.
        adds_up: True if every number of the table adds up with the same one of all others; False, too, for the grouping
            sets of one statement, if they are measured together with no other table.
    """

    sizes: tuple[int, ...]
    variances: tuple[tuple[tuple[tuple[int, ...], float], ...], ...]
    keys: tuple[int, ...] = ()
    measures: tuple[int, ...] = ()
    together: Marginals | None = None
    adds_up: bool = True


@dataclass(frozen=True, slots=True)
class PrivatePlan:
    """Bounds, sums, noise, key rule and cost of one release.

    `equal_noise` selects the Bezier basis for moments. `marginal` says that its sums are measured together with those
    of other releases; its own charge is then that of key selection alone. `one_norm` asks for weights under the l1 cap.
    `made_of` says that its table is one of several that are made of the same shown groups: the positions of its keys
    among those of the groups. `finer` is the release of these groups, if the table has totals of its own.
    """

    release: Release
    bounding: Bounding
    keys: Keys
    minimum: int
    mechanism: str
    weight_bits: int
    sums: tuple[ExactSum, ...]
    noisy_sums: tuple[NoisySum, ...]
    selection: Selection | None
    sum_forms: tuple[SumForms, ...]
    charge: Charge
    bucketings: tuple[Bucketing, ...] = ()
    draws: tuple[Draw, ...] = ()
    distinct: tuple[Distinct, ...] = ()
    equal_noise: bool = False
    cumulative: tuple[CumulativeSums, ...] = ()
    levels: tuple[LevelSums, ...] = ()
    marginal: MarginalTable | None = None
    one_norm: bool = False
    made_of: tuple[int, ...] | None = None
    finer: "PrivatePlan | None" = None

    @property
    def l1_weights(self) -> bool:
        """True if an owner's weighted rows add up to at most A; otherwise their l2 norm is at most T (`bounding`)."""
        return self.mechanism == "laplace" or bool(self.levels) or self.one_norm

    @property
    def selecting(self) -> tuple[Event, ...]:
        """The events of key selection: a noisy count and a threshold."""
        return self.charge.events[:2] if self.selection is not None else ()

    @property
    def measuring(self) -> tuple[Event, ...]:
        """The events of all measures."""
        return self.charge.events[len(self.selecting) :]


@dataclass(frozen=True, slots=True)
class PrivateStatement:
    """All releases of a statement, and the one charge that covers them."""

    parts: tuple[PrivatePlan, ...]
    charge: Charge


def fingerprint(plan: PrivatePlan) -> str:
    """Return a hash of the rows, keys, limits and minimum frequency of a statement.

    Statements with equal hashes differ at most in their aggregates, budget and post-processing. Column bounds are part
    of the expressions.
    """
    release = plan.release
    parts = (release.source, release.where, release.owner, release.keys, plan.keys, plan.bounding, plan.minimum)
    return hashlib.sha256(repr(parts).encode()).hexdigest()


@once_per_plan
def statement_fingerprint(statement: PrivateStatement) -> str:
    """Return the hash of one release, or of several together."""
    names = [fingerprint(part) for part in statement.parts]
    return names[0] if len(names) == 1 else hashlib.sha256("+".join(names).encode()).hexdigest()
