"""Tables over one set of rows by several keys, measured together: the residual basis.

For a set A of keys with n_i values, let P_A be the projection of a table by A onto what depends on all of A: the tensor
product of I - J / n_i, where J is all ones. The residual of A is P_A applied to the table by A. The residuals of all
subsets of B determine the table by B: its cell is the sum over A inside B of the residual of A, divided by the n_j of
the keys j that are in B and not in A. So residuals that several tables share are measured once, and tables that are
made of the same noisy residuals add up to each other.

A residual is measured by adding independent noise of variance s_A to each cell of the table by A and projecting; what
is thrown away is never released. One row moves the projected table by sqrt(p(A)), p(A) = prod (n_i - 1) / n_i, so it
costs p(A) / s_A of mu squared, and it adds p(A) s_A prod n_j^-2 to the variance of a cell of the table by B. With
c_A = p(A) and v_A the sum of those factors over all tables (each times its weight), the weighted sum of variances for
a given budget is least at s_A proportional to sqrt(c_A / v_A) (Cauchy and Schwarz).

Privacy: docs/proofs/marginals.md. Everything here follows from plans, never from data.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from hedgerow.accounting import GaussianEvent
from hedgerow.accounting.budget import Charge, Event
from hedgerow.distributions import Gaussian
from hedgerow.expressions.facts import declared_values
from hedgerow.expressions.nodes import Expr
from hedgerow.plan.nodes import Named, Release
from hedgerow.privacy.gaussian import QUICK_SCALE
from hedgerow.privacy.keys import MAX_DECLARED, KeyRule, keys_of
from hedgerow.privacy.plan import Marginals, MarginalTable, PrivatePlan, PrivateStatement, Residual
from hedgerow.privacy.precision import check_scale, least_scale, root_up, shift_for, up
from hedgerow.privacy.sums import ExactSum, NoisySum, SumKind

Floats = NDArray[np.float64]
Keyset = tuple[int, ...]
"""Keys by position, in order."""

MOST_KEYS = 6
MOST_CELLS = 1500
"""Cells of one table up to which its covariances are kept as a matrix."""

MOST_RESIDUALS = 500
ROUNDS = 200
LARGER = 1 + 1e-3
"""Ratio of variances up to which a table counts as no less accurate than alone."""


def subsets(keys: Sequence[int]) -> list[Keyset]:
    """Return all subsets, the empty one first."""
    return list(chain.from_iterable(combinations(sorted(keys), size) for size in range(len(keys) + 1)))


def projected_size(keyset: Sequence[int], sizes: Sequence[int]) -> Fraction:
    """Return p(A): the square of the norm of the projection of one cell."""
    return Fraction(math.prod(sizes[i] - 1 for i in keyset), math.prod(sizes[i] for i in keyset))


def cell_factor(residual: Sequence[int], table: Sequence[int], sizes: Sequence[int]) -> float:
    """Return the variance that a residual with noise of variance 1 adds to a cell of a table; 0 if it is not in it."""
    if not set(residual) <= set(table):
        return 0.0
    beyond = math.prod(sizes[j] ** 2 for j in set(table) - set(residual))
    return float(projected_size(residual, sizes)) / beyond


def best_variances(
    tables: Mapping[Keyset, float], sizes: Sequence[int], budget: float, cap_squared: float = 1.0
) -> dict[Keyset, float]:
    """Return the variances of residuals that minimise a weighted sum of cell variances for a budget of mu squared.

    Args:
        tables: The tables by their keys, each with the weight of the variance of one of its cells.
        sizes: The number of values of each key.
        budget: mu squared in all.
        cap_squared: The square of the largest weighted number of rows of one person.

    Example:
        >>> variances = best_variances({(0,): 4.0, (): 1.0}, [4], 1.0)
        >>> round(sum(float(projected_size(a, [4])) / s for a, s in variances.items()), 9)
        1.0
    """
    kept = sorted({subset for table in tables for subset in subsets(table)}, key=lambda one: (len(one), one))
    costs = np.array([cap_squared * float(projected_size(residual, sizes)) for residual in kept])
    gains = np.array(
        [sum(weight * cell_factor(residual, table, sizes) for table, weight in tables.items()) for residual in kept]
    )
    variances = np.sqrt(costs / gains) * float(np.sqrt(costs * gains).sum()) / budget
    return dict(zip(kept, variances.tolist(), strict=True))


def cell_variance(table: Sequence[int], variances: Mapping[Keyset, float], sizes: Sequence[int]) -> float:
    """Return the variance of each cell of a table that is made of noisy residuals."""
    return math.fsum(variances[residual] * cell_factor(residual, table, sizes) for residual in subsets(table))


def pool_marginals(priced: PrivateStatement, weights: Sequence[float], apart: Collection[int] = ()) -> PrivateStatement:
    """Return the statement with tables over the same rows measured together, at the same cost.

    Tables are pooled if none of them becomes less accurate by it. What selects keys stays as it is.

    Args:
        priced: The releases, with independent noise.
        weights: The weight of each release.
        apart: Positions of the releases whose noise must stay independent.
    """
    parts, events = list(priced.parts), list[Event]()
    for members in _clusters(parts, apart):
        together = _Cluster(members, [parts[i] for i in members], [weights[i] for i in members]).pooled()
        for index, part in zip(members, together or (), strict=bool(together)):
            parts[index] = part
        if together:
            marginal = together[0].marginal
            events += () if marginal is None or marginal.together is None else marginal.together.finest.charge.events
    events = [event for part in parts for event in part.charge.events] + events
    return PrivateStatement(tuple(parts), Charge(tuple(events), priced.charge.epsilon, priced.charge.delta))


def _clusters(parts: Sequence[PrivatePlan], apart: Collection[int]) -> list[list[int]]:
    """Return the parts that read the same rows and can be measured together, by position."""
    clusters: dict[tuple[Release, int, int], list[int]] = {}
    for index, part in enumerate(parts):
        if index not in apart and _is_linear(part):
            rows = replace(part.release, keys=(), calls=())
            clusters.setdefault((rows, part.minimum, part.weight_bits), []).append(index)
    return [members for members in clusters.values() if len({_attributes(parts[i]) for i in members}) > 1]


def _attributes(part: PrivatePlan) -> frozenset[Expr]:
    return frozenset(key.expr for key in part.release.keys)


def _is_linear(part: PrivatePlan) -> bool:
    """Return whether a release has declared keys and sums with one noise each, and nothing else."""
    if part.mechanism != "gaussian" or part.release.domain is not None or part.keys.rule is KeyRule.SELECTED:
        return False
    if part.draws or part.distinct or part.levels or not part.noisy_sums:
        return False
    if any(form.moments or form.cells or form.arms for form in part.sum_forms) or len(part.keys.domain) > MOST_CELLS:
        return False
    if any(declared_values(key.expr) is None for key in part.release.keys) or len(_attributes(part)) < len(
        part.release.keys
    ):
        return False
    additive = (
        {SumKind.ROWS, SumKind.VALUES} if part.bounding.weighted else {SumKind.ROWS, SumKind.VALUES, SumKind.UNITS}
    )
    return all(
        len(one.combination) == 1 and part.sums[one.combination[0][0]].kind in additive for one in part.noisy_sums
    )


@dataclass(frozen=True)
class _Cluster:
    """Releases that may be measured together."""

    members: Sequence[int]
    parts: Sequence[PrivatePlan]
    weights: Sequence[float]

    def pooled(self) -> list[PrivatePlan] | None:
        """Return the parts with the noise of residuals; None where that is worse for one of them, or too large."""
        exprs = list(dict.fromkeys(key.expr for part in self.parts for key in part.release.keys))
        keys = tuple(Named(f"k{i}", expr) for i, expr in enumerate(exprs))
        sizes = [len(declared_values(expr) or ()) for expr in exprs]
        if len(exprs) > MOST_KEYS or math.prod(sizes) > MAX_DECLARED or min(sizes) < 2:
            return None
        tables = [tuple(exprs.index(key.expr) for key in part.release.keys) for part in self.parts]
        measures = list(dict.fromkeys(_measure(part, one) for part in self.parts for one in part.noisy_sums))
        budget = math.fsum(float(event.cost.gaussian) for part in self.parts for event in _measuring(part))
        grouped = next(part for part in self.parts if part.release.keys)
        cap = grouped.bounding.l1 if grouped.bounding.weighted else 1
        variances = self._variances(tables, measures, sizes, budget * (1 - 1e-6), float(cap) ** 2)
        if variances is None or sum(map(len, variances)) > MOST_RESIDUALS:
            return None
        return self._assembled(keys, sizes, tables, measures, variances, grouped, cap)

    def _variances(
        self,
        tables: Sequence[Keyset],
        measures: Sequence["_Measure"],
        sizes: Sequence[int],
        budget: float,
        cap_squared: float,
    ) -> list[dict[Keyset, float]] | None:
        """Return the variances of the residuals of each measure.

        The weights start at those of the releases, over their variances alone; those of tables that would be less
        accurate than alone are raised until none is.
        """
        shown = [
            (measures.index(_measure(part, one)), tuple(sorted(table)), index, _variance(one))
            for index, (part, table) in enumerate(zip(self.parts, tables, strict=True))
            for one in part.noisy_sums
        ]
        alone = np.array([variance for *_, variance in shown])
        counts = [len(self.parts[index].noisy_sums) for _, _, index, _ in shown]
        factors = np.array([self.weights[index] for _, _, index, _ in shown]) / (alone * np.array(counts))
        for _ in range(ROUNDS):
            variances = _optimal(shown, factors, len(measures), sizes, budget, cap_squared)
            ratios = np.array([cell_variance(table, variances[number], sizes) for number, table, *_ in shown]) / alone
            if ratios.max() <= LARGER:
                return variances
            factors = factors * np.maximum(ratios, 1.0) ** 2
        return None

    def _assembled(
        self,
        keys: tuple[Named, ...],
        sizes: Sequence[int],
        tables: Sequence[Keyset],
        measures: Sequence["_Measure"],
        variances: Sequence[Mapping[Keyset, float]],
        grouped: PrivatePlan,
        cap: int,
    ) -> list[PrivatePlan]:
        sums = tuple(dict.fromkeys(measure.exact for measure in measures))
        residuals, events = list[tuple[Residual, ...]](), list[Event]()
        for measure, by_keys in zip(measures, variances, strict=True):
            noised = []
            for keyset, variance in by_keys.items():
                named = ", ".join(str(k) for k in keyset)
                label = f"{measure.label}, residual of keys {named}" if named else f"{measure.label}, total"
                noisy, event = _residual(
                    label, sums.index(measure.exact), measure, keyset, sizes, variance, cap, grouped.weight_bits
                )
                noised.append(Residual(keyset, noisy))
                events.append(event)
            residuals.append(tuple(noised))
        release = replace(grouped.release, keys=keys, calls=())
        charge = Charge(tuple(events), grouped.charge.epsilon, grouped.charge.delta)
        finest = replace(
            grouped,
            release=release,
            keys=keys_of(keys),
            minimum=1,
            sums=sums,
            noisy_sums=(),
            selection=None,
            sum_forms=(),
            charge=charge,
            one_norm=True,
        )
        together = Marginals(finest, tuple(sizes), tuple(residuals))
        return [self._table(part, table, measures, together) for part, table in zip(self.parts, tables, strict=True)]

    @staticmethod
    def _table(part: PrivatePlan, table: Keyset, measures: Sequence["_Measure"], together: Marginals) -> PrivatePlan:
        """Return one table with the noise that its cells have."""
        places = {key: place for place, key in enumerate(table)}
        numbers = tuple(measures.index(_measure(part, one)) for one in part.noisy_sums)
        variances, noisy_sums = [], []
        for number, one in zip(numbers, part.noisy_sums, strict=True):
            by_keys = {r.keys: _variance(r.noisy_sum) for r in together.residuals[number] if set(r.keys) <= set(table)}
            own = sorted((tuple(sorted(places[key] for key in keys)), variance) for keys, variance in by_keys.items())
            variances.append(tuple(own))
            sigma = math.sqrt(cell_variance(table, by_keys, together.sizes))
            noisy_sums.append(replace(one, noise=Gaussian(sigma)))
        sizes = tuple(together.sizes[key] for key in table)
        marginal = MarginalTable(sizes, tuple(variances), table, numbers, together)
        charge = replace(part.charge, events=tuple(_selecting(part)))
        return replace(part, noisy_sums=tuple(noisy_sums), marginal=marginal, charge=charge)


@dataclass(frozen=True, slots=True)
class _Measure:
    """An exact sum, by what it is divided so that a row counts at most one; labels are for display."""

    exact: ExactSum
    denominator: int
    label: str


def _measure(part: PrivatePlan, one: NoisySum) -> _Measure:
    return _Measure(part.sums[one.combination[0][0]], one.denominator, one.label)


def _variance(one: NoisySum) -> float:
    return one.noise.sigma**2 if isinstance(one.noise, Gaussian) else math.inf


def _selecting(part: PrivatePlan) -> Sequence[Event]:
    """Return the events of key selection: a noisy count and a threshold."""
    return part.charge.events[:2] if part.selection is not None else ()


def _measuring(part: PrivatePlan) -> Sequence[Event]:
    return part.charge.events[len(_selecting(part)) :]


def _optimal(
    shown: Sequence[tuple[int, Keyset, int, float]],
    factors: Floats,
    count: int,
    sizes: Sequence[int],
    budget: float,
    cap_squared: float,
) -> list[dict[Keyset, float]]:
    """Return the best variances for each measure, where all measures share one budget."""
    tables: list[dict[Keyset, float]] = [{} for _ in range(count)]
    for (number, table, _, _), factor in zip(shown, factors.tolist(), strict=True):
        tables[number][table] = tables[number].get(table, 0.0) + factor
    loose = [best_variances(one, sizes, 1.0, cap_squared) for one in tables]
    losses = [
        math.sqrt(sum(weight * cell_variance(table, variances, sizes) for table, weight in one.items()))
        for one, variances in zip(tables, loose, strict=True)
    ]
    whole = math.fsum(losses)
    return [
        {keyset: variance * whole / (loss * budget) for keyset, variance in variances.items()}
        for variances, loss in zip(loose, losses, strict=True)
    ]


def _residual(
    label: str,
    index: int,
    measure: _Measure,
    keyset: Keyset,
    sizes: Sequence[int],
    variance: float,
    cap: int,
    weight_bits: int,
) -> tuple[NoisySum, GaussianEvent]:
    """Return the noise of a table by `keyset` of which only the residual is released, and its event.

    Privacy: in steps of the lattice, one person moves the table by a vector d of integers with norm of P d at most
    cap sqrt(p). An integer vector k of the kernel of P may be subtracted: it does not change what is released. The
    coefficients of d - P d in products of unit vectors and vectors of ones, rounded to integers, give such a k within
    2^(keys - 1) of it in each cell; on a coarser lattice rounding moves each cell by one more. So d - k has norm at
    most cap sqrt(p) steps and sqrt(cells) (2^(keys - 1) + 1), and rounded Gaussian noise is exactly Gaussian for it.
    """
    cells = math.prod(sizes[i] for i in keyset)
    projected = projected_size(keyset, sizes)
    sigma, lattice = math.sqrt(variance), measure.denominator << weight_bits
    shift = shift_for(sigma * lattice, least_scale(cells), QUICK_SCALE)
    step = Fraction(lattice) * Fraction(2) ** shift
    size = root_up(projected.numerator * projected.denominator) / projected.denominator
    reach = cap * size * step
    slack = root_up(cells) * ((1 << len(keyset)) // 2 + 1)
    scale = check_scale(up(sigma * float(step) * float(1 + slack / reach)))
    event = GaussianEvent((reach + slack) ** 2, Fraction(scale) ** 2, cells, Fraction(scale) ** 2)
    noise = Gaussian(scale / float(step))
    sensitivity = cap * math.sqrt(float(projected))
    noisy = NoisySum(label, ((index, 1),), measure.denominator, noise, scale, shift, sensitivity)
    return noisy, event


def covariance(table: MarginalTable, index: int, cells: NDArray[np.int64]) -> Floats:
    """Return the covariances of the noise of some cells of a table, each by the positions of its key's values.

    The noise of residual A has the covariance s_A times the product of (1 if equal else 0) - 1 / n_i over its keys.
    """
    whole = np.zeros((len(cells), len(cells)))
    for keys, variance in table.variances[index]:
        part = np.full_like(whole, variance)
        for place, size in enumerate(table.sizes):
            if place in keys:
                column = cells[:, place]
                part = part * ((column[:, None] == column[None, :]) - 1.0 / size)
            else:
                part = part / size**2
        whole += part
    return whole
