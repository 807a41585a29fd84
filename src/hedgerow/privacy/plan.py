"""The priced plan: it follows from query, catalog and budget, and never from data."""

from dataclasses import dataclass

from hedgerow.accounting.budget import Charge
from hedgerow.plan.nodes import Release
from hedgerow.privacy.bounding import Bounding
from hedgerow.privacy.distinct import Distinct
from hedgerow.privacy.keys import Keys
from hedgerow.privacy.ranks import Bucketing, CumulativeSums, Draw
from hedgerow.privacy.sums import ExactSum, LevelSums, NoisySum, Selection
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
    """

    sizes: tuple[int, ...]
    variances: tuple[tuple[tuple[tuple[int, ...], float], ...], ...]
    keys: tuple[int, ...] = ()
    measures: tuple[int, ...] = ()
    together: Marginals | None = None


@dataclass(frozen=True, slots=True)
class PrivatePlan:
    """Bounds, sums, noise, key rule and cost of one release.

    `equal_noise` selects the Bezier basis for moments. `marginal` says that its sums are measured together with those
    of other releases; its own charge is then that of key selection alone. `one_norm` asks for weights under the l1 cap.
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

    @property
    def l1_weights(self) -> bool:
        """True if an owner's weighted rows add up to at most A; otherwise their l2 norm is at most T (`bounding`)."""
        return self.mechanism == "laplace" or bool(self.levels) or self.one_norm


@dataclass(frozen=True, slots=True)
class PrivateStatement:
    """All releases of a statement, and the one charge that covers them."""

    parts: tuple[PrivatePlan, ...]
    charge: Charge
