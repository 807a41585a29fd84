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
from hedgerow.plan.nodes import AggregateCall, Named, Release
from hedgerow.privacy.gaussian import QUICK_SCALE
from hedgerow.privacy.keys import MAX_DECLARED, KeyRule, keys_of
from hedgerow.privacy.levels import FINEST_SHARE
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

WORTH = 1 - 1e-2
"""Ratio of variances above which no level of a statement gains enough for another basis."""


def rows_of(release: Release) -> Release:
    """Return a release without what its keys decide: equal for two releases if they are about the same rows.

    The number of groups of one unit may follow from the keys: a unit of a table with one row for each is in one group.
    """
    limits = replace(release.limits, max_groups=None, inferred=False)
    where = tuple(sorted(release.where, key=repr))
    return replace(release, where=where, limits=limits, keys=(), calls=(), settled=(), domain=None)


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
    return dict(zip(kept, _optimal_variances(costs, gains, budget).tolist(), strict=True))


def _optimal_variances(costs: Floats, gains: Floats, budget: float) -> Floats:
    """Return the variances with the least sum of gains times variances, at the budget (Cauchy and Schwarz)."""
    return np.asarray(np.sqrt(costs / gains) * float(np.sqrt(costs * gains).sum()) / budget)


def cell_variance(table: Sequence[int], variances: Mapping[Keyset, float], sizes: Sequence[int]) -> float:
    """Return the variance of each cell of a table that is made of noisy residuals."""
    return math.fsum(variances[residual] * cell_factor(residual, table, sizes) for residual in subsets(table))


def pool_marginals(
    priced: PrivateStatement,
    weights: Sequence[float],
    apart: Collection[int] = (),
    levels: Mapping[int, Sequence[Keyset]] | None = None,
) -> PrivateStatement:
    """Return the statement with tables over the same rows measured together, at the same cost.

    Tables are pooled if none of them becomes less accurate by it. What selects keys stays as it is.

    Args:
        priced: The releases, with independent noise.
        weights: The weight of each release.
        apart: Positions of the releases whose noise must stay independent.
        levels: The grouping sets of releases that have several, by positions of keys.
    """
    parts, events, shown = list(priced.parts), list[Event](), levels or {}
    for members in _clusters(parts, apart, shown):
        together = _Cluster(
            members, [parts[i] for i in members], [weights[i] for i in members], [shown.get(i, ()) for i in members]
        ).pooled()
        for index, part in zip(members, together or (), strict=bool(together)):
            parts[index] = part
        if together:
            marginal = together[0].marginal
            events += () if marginal is None or marginal.together is None else marginal.together.finest.charge.events
    events = [event for part in parts for event in part.charge.events] + events
    return PrivateStatement(tuple(parts), Charge(tuple(events), priced.charge.epsilon, priced.charge.delta))


def _clusters(parts: Sequence[PrivatePlan], apart: Collection[int], levels: Collection[int] = ()) -> list[list[int]]:
    """Return the parts that read the same rows and can be measured together, by position.

    A part with grouping sets is one of them if none of its groups is tested: its totals are over the groups that are
    shown.
    """
    clusters: dict[tuple[Release, int, int], list[int]] = {}
    for index, part in enumerate(parts):
        plain = replace(part, levels=(), marginal=None) if index in levels and part.selection is None else part
        if index not in apart and _is_linear(plain):
            clusters.setdefault((rows_of(part.release), part.minimum, part.weight_bits), []).append(index)
    return [members for members in clusters.values() if len({_attributes(parts[i]) for i in members}) > 1]


def _attributes(part: PrivatePlan) -> frozenset[Expr]:
    return frozenset(key.expr for key in part.release.keys)


def _is_linear(part: PrivatePlan) -> bool:
    """Return True if a release has declared keys and sums with one noise each, and nothing else."""
    if part.mechanism != "gaussian" or part.release.domain is not None or part.keys.rule is KeyRule.SELECTED:
        return False
    if part.draws or part.distinct or part.levels or part.marginal is not None or not part.noisy_sums:
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
    levels: Sequence[Sequence[Keyset]]

    def pooled(self) -> list[PrivatePlan] | None:
        """Return the parts with the noise of residuals; None where that is worse for one of them, or too large."""
        exprs = list(dict.fromkeys(key.expr for part in self.parts for key in part.release.keys))
        keys = tuple(Named(f"k{i}", expr) for i, expr in enumerate(exprs))
        sizes = [len(declared_values(expr) or ()) for expr in exprs]
        if len(exprs) > MOST_KEYS or math.prod(sizes) > MAX_DECLARED or min(sizes) < 2:
            return None
        tables = [tuple(exprs.index(key.expr) for key in part.release.keys) for part in self.parts]
        measures = list(dict.fromkeys(_measure(part, one) for part in self.parts for one in part.noisy_sums))
        budget = math.fsum(float(event.cost.gaussian) for part in self.parts for event in part.measuring)
        by_keys = [part for part in self.parts if part.release.keys]
        grouped = max(by_keys, key=lambda part: part.bounding.groups)
        if any(part.bounding.l1 != grouped.bounding.l1 for part in by_keys):
            return None
        cap = grouped.bounding.l1 if grouped.bounding.weighted else 1
        shown = [
            _Shown(
                measures.index(_measure(part, one)),
                tuple(sorted(table[position] for position in level)),
                _variance(one) if not levels else _level_variance(part, number, level),
                weight / len(part.noisy_sums) / max(len(levels), 1),
            )
            for part, table, weight, levels in zip(self.parts, tables, self.weights, self.levels, strict=True)
            for number, one in enumerate(part.noisy_sums)
            for level in levels or [tuple(range(len(table)))]
        ]
        variances = self._variances(shown, measures, tables, sizes, budget * (1 - 1e-6), float(cap) ** 2)
        if variances is None or sum(map(len, variances)) > MOST_RESIDUALS:
            return None
        return self._assembled(keys, sizes, tables, measures, variances, grouped, cap)

    def _variances(
        self,
        shown: Sequence["_Shown"],
        measures: Sequence["_Measure"],
        tables: Sequence[Keyset],
        sizes: Sequence[int],
        budget: float,
        cap_squared: float,
    ) -> list[dict[Keyset, float]] | None:
        """Return the variances of all residuals of each measure; those that nothing shows share a small part."""
        needed = {
            (measures.index(_measure(part, one)), subset)
            for part, table in zip(self.parts, tables, strict=True)
            for one in part.noisy_sums
            for subset in subsets(table)
        }
        unshown = sorted(
            (number, subset)
            for number, subset in needed
            if not any(one.measure == number and set(subset) <= set(one.table) for one in shown)
        )
        spare = budget * FINEST_SHARE if unshown else 0.0
        variances = _no_worse(shown, len(measures), sizes, budget - spare, cap_squared)
        if variances is None:
            return None
        for number, subset in unshown:
            price = spare / len(unshown)
            variances[number][subset] = cap_squared * float(projected_size(subset, sizes)) / price
        return variances

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
        residuals, events = _residuals(measures, sums, variances, sizes, cap, grouped.weight_bits)
        release = replace(grouped.release, keys=keys, calls=(), settled=())
        charge = Charge(events, grouped.charge.epsilon, grouped.charge.delta)
        finest = replace(
            grouped,
            release=release,
            keys=keys_of(keys),
            minimum=1,
            sums=sums,
            noisy_sums=(),
            selection=None,
            sum_forms=(),
            levels=(),
            marginal=None,
            charge=charge,
            one_norm=True,
        )
        together = Marginals(finest, tuple(sizes), residuals)
        numbers = [[measures.index(_measure(part, one)) for one in part.noisy_sums] for part in self.parts]
        adds_up = _agree(self.parts, numbers)
        return [
            _table_of(
                replace(part, levels=(), charge=replace(part.charge, events=tuple(part.selecting))),
                table,
                own,
                together,
                adds_up=adds_up,
            )
            for part, table, own in zip(self.parts, tables, numbers, strict=True)
        ]


def _level_variance(part: PrivatePlan, number: int, level: Sequence[int]) -> float:
    """Return the variance of a cell of a grouping set of a release that has several."""
    if part.marginal is not None:
        return cell_variance(level, dict(part.marginal.variances[number]), part.marginal.sizes)
    sizes = [len(declared_values(key.expr) or ()) for key in part.release.keys]
    return cell_variance(level, levelled(part, number, sizes), sizes)


@dataclass(frozen=True, slots=True)
class _Measure:
    """An exact sum, by what it is divided so that a row counts at most one; labels are for display."""

    exact: ExactSum
    denominator: int
    label: str


def _measure(part: PrivatePlan, one: NoisySum) -> _Measure:
    return _Measure(part.sums[one.combination[0][0]], one.denominator, one.label)


def _agree(parts: Sequence[PrivatePlan], numbers: Sequence[Sequence[int]]) -> bool:
    """Return True if an aggregate of several tables is made of the same measures, in the same way, in all of them.

    A SUM is one measure by itself, and two next to a count; the rows of a table with one for each person are counted
    as rows next to an average, and as people otherwise.
    """
    made_of: dict[AggregateCall, object] = {}
    for part, measures in zip(parts, numbers, strict=True):
        for call, form in zip(part.release.calls, part.sum_forms, strict=True):
            forms = form.count, form.total, form.centred
            terms = [sorted((measures[index], factor) for index, factor in one) for one in forms]
            if not form.from_selection and made_of.setdefault(replace(call, name=""), terms) != terms:
                return False
    return True


def _table_of(
    part: PrivatePlan, table: Keyset, numbers: Sequence[int], together: Marginals, *, adds_up: bool
) -> PrivatePlan:
    """Return one table with the noise that its cells have; `numbers` are the measures of its noisy sums."""
    places = {key: index for index, key in enumerate(table)}
    variances, noisy_sums = [], []
    for number, one in zip(numbers, part.noisy_sums, strict=True):
        by_keys = {r.keys: _variance(r.noisy_sum) for r in together.residuals[number] if set(r.keys) <= set(table)}
        own = sorted((tuple(sorted(places[key] for key in keys)), variance) for keys, variance in by_keys.items())
        variances.append(tuple(own))
        sigma = math.sqrt(cell_variance(table, by_keys, together.sizes))
        noisy_sums.append(replace(one, noise=Gaussian(sigma)))
    sizes = tuple(together.sizes[key] for key in table)
    marginal = MarginalTable(sizes, tuple(variances), table, tuple(numbers), together, adds_up)
    return replace(part, noisy_sums=tuple(noisy_sums), marginal=marginal)


def _variance(one: NoisySum) -> float:
    return one.noise.sigma**2 if isinstance(one.noise, Gaussian) else math.inf


@dataclass(frozen=True, slots=True)
class _Shown:
    """A measure of a table that is shown: its number, the table's keys, its variance otherwise, and its weight."""

    measure: int
    table: Keyset
    alone: float
    weight: float


def _no_worse(
    shown: Sequence[_Shown], count: int, sizes: Sequence[int], budget: float, cap_squared: float
) -> list[dict[Keyset, float]] | None:
    """Return the variances of the residuals of each measure, where all of them share one budget.

    The weights start at those of the tables, over their variances otherwise; those of tables that would be less
    accurate than otherwise are raised until none is. None if that does not succeed.
    """
    kept = [
        (number, keyset)
        for number in range(count)
        for keyset in sorted(
            {subset for one in shown if one.measure == number for subset in subsets(one.table)},
            key=lambda keys: (len(keys), keys),
        )
    ]
    factors = np.array(
        [[cell_factor(a, one.table, sizes) * (number == one.measure) for number, a in kept] for one in shown]
    )
    costs = np.array([cap_squared * float(projected_size(keyset, sizes)) for _, keyset in kept])
    alone = np.array([one.alone for one in shown])
    weights = np.array([one.weight for one in shown]) / alone
    for _ in range(ROUNDS):
        variances = _optimal_variances(costs, weights @ factors, budget)
        ratios = factors @ variances / alone
        if ratios.max() <= LARGER:
            pairs = list(zip(kept, variances.tolist(), strict=True))
            return [{a: s for (number, a), s in pairs if number == measure} for measure in range(count)]
        raised = weights * np.maximum(ratios, 1.0) ** 2
        weights = raised / raised.max()
    return None


def _residuals(
    measures: Sequence[_Measure],
    sums: Sequence[ExactSum],
    variances: Sequence[Mapping[Keyset, float]],
    sizes: Sequence[int],
    cap: int,
    weight_bits: int,
) -> tuple[tuple[tuple[Residual, ...], ...], tuple[Event, ...]]:
    """Return the noise of all residuals of all measures, and their events."""
    residuals, events = list[tuple[Residual, ...]](), list[Event]()
    for measure, by_keys in zip(measures, variances, strict=True):
        noised = []
        for keyset, variance in by_keys.items():
            named = ", ".join(str(k) for k in keyset)
            label = f"{measure.label}, residual of keys {named}" if named else f"{measure.label}, total"
            noisy, event = _residual(
                label, sums.index(measure.exact), measure, keyset, sizes, variance, cap, weight_bits
            )
            noised.append(Residual(keyset, noisy))
            events.append(event)
        residuals.append(tuple(noised))
    return tuple(residuals), tuple(events)


def pool_levels(plan: PrivatePlan, levels: Sequence[Keyset]) -> PrivatePlan:
    """Return a release with grouping sets on the residual basis, at the same cost, where that is more accurate.

    Its groups are the cells of the finest table, and its grouping sets are the tables. Otherwise each level has noise
    of its own, and least squares combine them (`levels`): in terms of residuals, a level M with variance s tells the
    residual of every A inside M with the variance s prod n_j, over the keys j that are in M and not in A, and the
    precisions of all levels add up. The residual basis is taken if no level is less accurate than that, and some
    level is more accurate by more than rounding. For nested levels (ROLLUP) there is no gain: there the
    precisions that levels can give to residuals include the best ones. Residuals that no level shows get as much as
    they would have otherwise: they only relate the levels to each other.

    Args:
        plan: The release, priced with levels.
        levels: The grouping sets that are shown, by positions of keys.
    """
    sizes, whole = (
        [len(declared_values(key.expr) or ()) for key in plan.release.keys],
        tuple(range(len(plan.release.keys))),
    )
    if not plan.levels or plan.selection is not None or not _is_linear(replace(plan, levels=())):
        return plan
    if len(whole) > MOST_KEYS or min(sizes) < 2 or math.prod(sizes) != len(plan.keys.domain):
        return plan
    measures = [_measure(plan, one) for one in plan.noisy_sums]
    today = [levelled(plan, number, sizes) for number in range(len(measures))]
    tables = [tuple(sorted(level)) for level in dict.fromkeys(levels)]
    shown = [
        _Shown(number, table, cell_variance(table, today[number], sizes), 1.0)
        for number in range(len(measures))
        for table in tables
    ]
    cap = plan.bounding.l1 if plan.bounding.weighted else 1
    budget = float(plan.charge.cost.gaussian) * (1 - 1e-6)
    unshown = [subset for subset in subsets(whole) if not any(set(subset) <= set(table) for table in tables)]
    share = FINEST_SHARE * math.fsum(
        float(projected_size(a, sizes)) / math.prod(sizes[j] for j in whole if j not in a) for a in unshown
    )
    variances = _no_worse(shown, len(measures), sizes, budget * (1 - share), float(cap) ** 2)
    if variances is None:
        return plan
    for by_keys in variances:
        for subset in unshown:
            price = budget * share / (len(measures) * len(unshown))
            by_keys[subset] = float(cap) ** 2 * float(projected_size(subset, sizes)) / price
    gains = [cell_variance(one.table, variances[one.measure], sizes) / one.alone for one in shown]
    if min(gains) > WORTH or sum(map(len, variances)) > MOST_RESIDUALS:
        return plan
    residuals, events = _residuals(measures, plan.sums, variances, sizes, cap, plan.weight_bits)
    charge = replace(plan.charge, events=events)
    finest = replace(plan, noisy_sums=(), sum_forms=(), levels=(), charge=charge, one_norm=True)
    together = Marginals(finest, tuple(sizes), residuals)
    table = replace(plan, levels=(), charge=charge, one_norm=True)
    return _table_of(table, whole, range(len(measures)), together, adds_up=False)


def levelled(plan: PrivatePlan, number: int, sizes: Sequence[int]) -> dict[Keyset, float]:
    """Return the variances of all residuals of a measure whose groups and levels have noise of their own.

    The groups are taken to be all combinations of `sizes` values of each key.
    """
    whole = tuple(range(len(sizes)))
    measured = {whole: _variance(plan.noisy_sums[number])}
    measured |= {tuple(sorted(level.keys)): _variance(level.noisy_sums[number]) for level in plan.levels}
    return {
        subset: 1.0
        / math.fsum(
            1.0 / (variance * math.prod(sizes[j] for j in set(keys) - set(subset)))
            for keys, variance in measured.items()
            if set(subset) <= set(keys)
        )
        for subset in subsets(whole)
    }


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


def marginal_level(plan: PrivatePlan, table: MarginalTable, level: Sequence[int]) -> PrivatePlan:
    """Return a release that was measured on residuals with the noise of one cell of a level, by positions of keys."""
    return replace(_with_cell_noise(plan, list(map(dict, table.variances)), table.sizes, level), marginal=None)


def measured_level(plan: PrivatePlan, sizes: Sequence[int], level: Sequence[int]) -> PrivatePlan:
    """Return a release whose levels have noise of their own with that of one cell of a level, after least squares."""
    variances = [levelled(plan, number, sizes) for number in range(len(plan.noisy_sums))]
    return replace(_with_cell_noise(plan, variances, sizes, level), levels=())


def _with_cell_noise(
    plan: PrivatePlan, variances: Sequence[Mapping[Keyset, float]], sizes: Sequence[int], level: Sequence[int]
) -> PrivatePlan:
    noisy_sums = tuple(
        replace(one, noise=Gaussian(math.sqrt(cell_variance(level, by_keys, sizes))))
        for one, by_keys in zip(plan.noisy_sums, variances, strict=True)
    )
    return replace(plan, noisy_sums=noisy_sums)


def covariance(table: MarginalTable, index: int, cells: NDArray[np.int64]) -> Floats:
    """Return the covariances of the noise of some cells of a table, each by the positions of its key's values.

    The noise of residual A has the covariance s_A times the product of (1 if equal else 0) - 1 / n_i over its keys.
    """
    whole = np.zeros((len(cells), len(cells)))
    for keys, variance in table.variances[index]:
        part = np.full_like(whole, variance)
        for position, size in enumerate(table.sizes):
            if position in keys:
                column = cells[:, position]
                part = part * ((column[:, None] == column[None, :]) - 1.0 / size)
            else:
                part = part / size**2
        whole += part
    return whole
