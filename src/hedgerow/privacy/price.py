"""Noise of each sum, and the charge for the whole statement."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from hedgerow.accounting import LaplaceEvent
from hedgerow.accounting.budget import Budget, Charge, Cost, Event, RemainingBudget
from hedgerow.aggregates import NeededSums
from hedgerow.distributions import Gaussian, Laplace, Noise
from hedgerow.error_bars.intervals import half_width
from hedgerow.error_bars.provenance.columns import shown_alone
from hedgerow.errors import BudgetError, InternalError, ParameterError
from hedgerow.expressions.nodes import describe
from hedgerow.plan.nodes import AggregateCall, LogicalPlan, Release
from hedgerow.privacy import gaussian, laplace
from hedgerow.privacy.assemble import Assembly, MeasuredLevel, laplace_blocks, with_gaussian, with_laplace
from hedgerow.privacy.bounding import Bounding, bound, units_only
from hedgerow.privacy.distinct import gaussian_distinct, laplace_distinct
from hedgerow.privacy.keys import Key, KeyRule, Keys, keys_of
from hedgerow.privacy.kinds import merge_needs, sum_forms
from hedgerow.privacy.levels import Level, LevelShare, level_bounding, level_shares, shown_levels
from hedgerow.privacy.marginals import pool_levels
from hedgerow.privacy.plan import PrivatePlan, PrivateStatement
from hedgerow.privacy.precision import precision
from hedgerow.privacy.predicted_error import best_share, predicted_errors
from hedgerow.privacy.ranks import gaussian_column, laplace_column
from hedgerow.privacy.statement_sums import COUNT_WEIGHT, StatementSums, needed_sums, use_known_means
from hedgerow.privacy.sums import LevelSums, Selection
from hedgerow.special import normal_quantile

ROUNDING = 1e-12
"""Relative error of a sum of shares, and of the square root of one."""


def price(
    plan: LogicalPlan,
    budget: Budget,
    remaining: RemainingBudget,
    **options: Any,  # noqa: ANN401 - those of `price_uses`
) -> PrivateStatement:
    """Split `budget` over the sums that `plan` needs, and compute the charge to the ledger.

    Privacy: see `gaussian` and `laplace` for the two kinds of noise, and `_Statement` for several releases. Every
    decision here depends on the plan, the catalog, the budget and the caps of the ledger, never on data.
    """
    return price_uses(uses_of(plan), budget, remaining, **options)


@dataclass(frozen=True, slots=True)
class ReleaseUse:
    """A release, and its use by the post-processing.

    Attributes:
        release: The release.
        alone: For each aggregate, whether it is shown on its own (`shown_alone`).
        levels: The grouping sets that are shown; none where only the groups are.
        test_share: The part of mu squared that tests the groups; that of the least predicted error by default.
        beside: The aggregates of all tables about the same rows, if these tables are to add up.
    """

    release: Release
    alone: tuple[bool, ...]
    levels: tuple[Level, ...] = ()
    test_share: float | None = None
    beside: tuple[AggregateCall, ...] = ()


def uses_of(plan: LogicalPlan) -> list[ReleaseUse]:
    """Return the releases of a statement, with what it does with each."""
    return [
        ReleaseUse(release, tuple(shown_alone(plan, release)), shown_levels(plan, release)) for release in plan.releases
    ]


def price_uses(
    uses: Sequence[ReleaseUse],
    budget: Budget,
    remaining: RemainingBudget,
    *,
    min_frequency: int,
    max_rows: int | None = None,
    max_groups: int | None = None,
    domains: Mapping[Release, tuple[Key, ...]] | None = None,
    beta: float = 0.05,
    equal_noise: bool = False,
    method: str = "auto",
    means: Mapping[Release, Mapping[NeededSums, float]] | None = None,
    shares: Sequence[float] | None = None,
) -> PrivateStatement:
    """Split `budget` over several releases, of one statement or of many, as `price` does.

    `beta` is the failure probability of an interval that is drawn together with its number (`ranks`); `equal_noise`
    selects the Bezier basis for moments; `method` is the bound of COUNT(DISTINCT x): "auto", "flow" or "simple";
    `means` are those that earlier releases of the ledger tell (`use_known_means`). `shares` are the parts of mu squared
    (Gaussian noise) or of epsilon (Laplace noise) of the releases, which add up to one; by default they are equal.
    """
    pricers = []
    for use in uses:
        release = use.release
        limits = bound(release.limits, grouped=bool(release.keys), max_rows=max_rows, max_groups=max_groups)
        keys = keys_of(release.keys, (domains or {}).get(release))
        pricers.append(
            _Pricer(
                use,
                keys,
                limits,
                min_frequency,
                remaining,
                beta,
                (means or {}).get(release, {}),
                equal_noise=equal_noise,
                method=method,
            )
        )
    statement = _Statement(pricers, shares)
    if budget.mechanism == "laplace":
        return _laplace(statement, budget, remaining)
    if budget.mu is not None or takes_gaussian_noise(budget, remaining):
        return statement.gaussian(budget)
    return _automatic(statement, budget, remaining)


def require_laplace_budget(plan: PrivateStatement, remaining: RemainingBudget) -> None:
    """Raise a clear error if pure_epsilon does not cover Laplace noise, before the ledger refuses the charge."""
    left = max(remaining.pure_left, Fraction(0))
    if plan.parts[0].mechanism == "laplace" and plan.charge.cost.pure and left < Fraction(plan.charge.epsilon):
        raise BudgetError(
            f"Laplace noise is charged to pure_epsilon, of which only {float(left):.4g} is left.",
            code="budget-pure",
            hint='Ask with mechanism="gaussian", or let the owner set pure_epsilon for a new ledger.',
            asked={"pure_epsilon": plan.charge.epsilon},
            left={"pure_epsilon": float(left)},
        )


def takes_gaussian_noise(budget: Budget, remaining: RemainingBudget) -> bool:
    """Return True if every statement gets Gaussian noise: the budget says so, or no pure epsilon is left.

    If nothing is left of either, the noise is Gaussian, and the ledger refuses its charge and names the spent budget.
    """
    if budget.mechanism == "auto":
        spent = remaining.pure_left <= 0 and budget.delta is not None
        return remaining.pure_left < Fraction(budget.epsilon) and (remaining.gaussian_left > 0 or spent)
    return budget.mechanism == "gaussian"


def _laplace(statement: "_Statement", budget: Budget, remaining: RemainingBudget) -> PrivateStatement:
    """Price Laplace noise that the query asks for, as pure epsilon, or as Gaussian noise if only that is left."""
    if remaining.pure_left < Fraction(budget.epsilon):
        priced = statement.laplace(budget, as_gaussian=True)
        if priced.charge.cost.gaussian <= remaining.gaussian_left:
            return priced
    return statement.laplace(budget)


def _automatic(statement: "_Statement", budget: Budget, remaining: RemainingBudget) -> PrivateStatement:
    """Choose the noise with the smaller predicted error among those that the remaining budget covers.

    Laplace noise is never charged as Gaussian noise here: at an equal charge Gaussian noise is the more accurate
    (docs/explanation/design-decisions.md). If the remaining budget covers neither, the ledger refuses the charge of the
    noise that the owner kept a budget for.
    """
    pure = statement.laplace(budget)
    if budget.delta is None:
        return pure
    normal = statement.gaussian(budget)
    if normal.charge.cost.gaussian > remaining.gaussian_left:
        return pure
    both = zip(normal.parts, pure.parts, statement.levels, strict=True)
    pairs = [predicted_errors((gaussian_part, laplace_part), levels) for gaussian_part, laplace_part, levels in both]
    return normal if sum(error for error, _ in pairs) <= sum(error for _, error in pairs) else pure


class _Statement:
    """Several releases under one budget.

    Privacy: Laplace noise: each part has its share of epsilon and an equal share of delta, which add up. Gaussian
    noise: the parts compose to one mu, a part with share s has mu sqrt(s); the threshold masses of all of them are a
    tenth of delta, added to the rest, which is spent on that mu.
    """

    def __init__(self, pricers: Sequence["_Pricer"], shares: Sequence[float] | None = None) -> None:
        self._pricers = pricers
        self._shares = [1.0 / len(pricers)] * len(pricers) if shares is None else list(shares)
        if len(self._shares) != len(pricers) or not 0 < math.fsum(self._shares) <= 1 + ROUNDING:
            raise InternalError("The shares of a budget do not add up to one.")

    @property
    def levels(self) -> list[tuple[Level, ...]]:
        """Coarser grouping sets that each release is totalled by."""
        return [pricer.coarser for pricer in self._pricers]

    def gaussian(self, budget: Budget) -> PrivateStatement:
        """Price all parts with Gaussian noise."""
        count = len(self._pricers)
        if count == 1:
            part = self._pricers[0].gaussian(budget)
            return PrivateStatement((part,), part.charge)
        share = _delta(budget) / count
        own = sum(pricer.own_delta(share) for pricer in self._pricers)
        mu = budget.mu or gaussian.statement_mu(budget.epsilon, own * (1 - gaussian.ADDED_SHARE))
        budgets = [
            Budget(budget.epsilon, share, "gaussian", mu * math.sqrt(part) * (1 - ROUNDING), part=True)
            for part in self._shares
        ]
        parts = [pricer.gaussian(own) for pricer, own in zip(self._pricers, budgets, strict=True)]
        return _together(parts, budget.epsilon, _delta(budget))

    def laplace(self, budget: Budget, *, as_gaussian: bool = False) -> PrivateStatement:
        """Price all parts with Laplace noise, charged as pure epsilon or `as_gaussian`."""
        count = len(self._pricers)
        delta = None if budget.delta is None else budget.delta / count
        budgets = [Budget(budget.epsilon * (share if count > 1 else 1.0), delta, "laplace") for share in self._shares]
        pairs = zip(self._pricers, budgets, strict=True)
        parts = [pricer.laplace(own, as_gaussian=as_gaussian) for pricer, own in pairs]
        if count == 1:
            return PrivateStatement((parts[0],), parts[0].charge)
        return _together(parts, budget.epsilon, sum(part.charge.delta for part in parts))


def _together(parts: Sequence[PrivatePlan], epsilon: float, delta: float) -> PrivateStatement:
    events = tuple(event for part in parts for event in part.charge.events)
    return PrivateStatement(tuple(parts), Charge(events, epsilon, delta))


class _Pricer:
    """Pricer of one release, for either kind of noise."""

    def __init__(
        self,
        use: ReleaseUse,
        keys: Keys,
        bounding: Bounding,
        minimum: int,
        remaining: RemainingBudget,
        beta: float,
        means: Mapping[NeededSums, float],
        *,
        equal_noise: bool,
        method: str,
    ) -> None:
        self._method = method
        self._beta = beta
        self._equal_noise = equal_noise
        self._release = release = use.release
        self._keys = keys
        self._minimum = minimum
        self._remaining = remaining
        self._one_row = not bounding.weighted
        self._selects = keys.rule is KeyRule.SELECTED or minimum > 1
        self._needs = needed_sums(release)
        self._sums: StatementSums = merge_needs(
            self._needs,
            one_row=self._one_row,
            selects=self._selects,
            alone=use.alone,
            beside=needed_sums(replace(release, calls=use.beside)) if use.beside else (),
        )
        use_known_means(self._sums, self._needs, means)
        self._groups = bounding.groups
        self._only_units = self._sums.units and self._sums.blocks == 1
        self._bounding = units_only(bounding) if self._only_units else bounding
        self._shown = use.levels
        self._levels = level_shares(use.levels, keys, len(release.keys), self._bounding)
        self._test_share = use.test_share
        self.coarser = tuple(level for level in use.levels if len(level) < len(release.keys))
        self._tightened = release.limits.max_rows is None or bounding != bound(
            release.limits, grouped=bool(release.keys), max_rows=None, max_groups=None
        )

    def gaussian(self, budget: Budget) -> PrivatePlan:
        """Return the plan with Gaussian noise."""
        delta = self.own_delta(_delta(budget))
        mu = budget.mu or gaussian.statement_mu(budget.epsilon, delta - self._added_mass(delta))
        first, second = self._split(mu * mu, "gaussian", delta)
        assembly = self._assembly(self._sigma(second * (1 - sum(level.share for level in self._levels))))
        assembly.levels = [self._measured_level(level, second) for level in self._levels]
        assembly = with_gaussian(assembly)
        assembly.add_draws(gaussian_column, second / max(1, self._sums.blocks), self._beta)
        assembly.add_distinct(
            gaussian_distinct, second / max(1, self._sums.blocks), self._method, tightened=self._tightened
        )
        selection, events = None, list[Event](assembly.events)
        if self._selects:
            selection, selected = gaussian.selection(
                budget.epsilon,
                delta,
                self._minimum,
                self._groups,
                math.sqrt(first),
                math.sqrt(second),
                self._remaining,
                added=budget.part or self._groups > gaussian.EXACT_PROFILE,
            )
            events = [*selected, *events]
        charge = Charge(tuple(events), budget.epsilon, _delta(budget))
        return pool_levels(self._finish("gaussian", assembly, selection, charge), self._shown)

    def laplace(self, budget: Budget, *, as_gaussian: bool) -> PrivatePlan:
        """Return the plan with Laplace noise."""
        first, second = self._split(budget.epsilon * (1 - 2.0**-30), "laplace", budget.delta)
        blocks = laplace_blocks(self._sums)
        assembly = with_laplace(self._assembly(self._bounding.l1 * blocks / second if blocks else 1.0))
        assembly.add_draws(laplace_column, second / max(1, blocks), self._beta)
        assembly.add_distinct(laplace_distinct, second / max(1, blocks), self._method, tightened=self._tightened)
        charged = laplace.as_gaussian if as_gaussian else list[Event]
        selection, events = None, charged(assembly.events)
        if self._selects:
            noise = [*events, *charged([LaplaceEvent(Fraction(first), Fraction(1))])]
            fair = self._remaining.fair_mass(sum((event.cost for event in noise), Cost()))
            mass = min(Fraction(_delta(budget)), fair) if fair else Fraction(_delta(budget))
            selection, selected = laplace.selection(first, self._minimum, self._groups, mass)
            events = [*charged(selected), *events]
        delta = 0.0 if selection is None else float(selection.mass)
        return self._finish("laplace", assembly, selection, Charge(tuple(events), budget.epsilon, delta))

    def own_delta(self, delta: float) -> float:
        """Return delta minus the cost of the discreteness of the noise."""
        cells = self._sums.cells * (1 + len(self._levels))
        return gaussian.own_delta(delta, self._bounding.keys_touched * cells + self._groups)

    def _added_mass(self, delta: float) -> float:
        """Return the delta that is reserved for the threshold where the exact profile is not evaluated."""
        return delta * gaussian.ADDED_SHARE if self._selects and self._groups > gaussian.EXACT_PROFILE else 0.0

    def _split(self, whole: float, mechanism: str, delta: float | None) -> tuple[float, float]:
        """Return the parts of a budget for selection and for measuring."""
        if not self._selects:
            return 0.0, whole
        if not self._sums.blocks:
            return whole, 0.0
        share = self._test_share or self._selection_share(whole, mechanism, delta or 1.0)
        return whole * share, whole * (1 - share)

    def _selection_share(self, whole: float, mechanism: str, delta: float) -> float:
        """Return the share of selection at which the predicted error is least (docs/proofs/selection.md)."""
        tail = min(delta * gaussian.ADDED_SHARE / self._groups, 0.1)
        noise: Noise
        if mechanism == "gaussian":
            noise, blocks, power = Gaussian(1.0 / math.sqrt(whole)), self._sums.blocks, 0.5
            count, measure = math.sqrt(self._groups), math.sqrt(self._bounding.l2_squared * blocks)
            distance = count * noise.sigma * -normal_quantile(tail)
        else:
            noise, blocks, power = Laplace(1.0 / whole), laplace_blocks(self._sums), 1.0
            count, measure = float(self._groups), float(self._bounding.l1 * blocks)
            distance = count * noise.scale * -math.log(2 * tail)
        width = half_width([(1.0, noise)], 0.05)
        return best_share(
            self._keys,
            self._bounding.size,
            minimum=self._minimum,
            distance=distance,
            measured=width * measure,
            counted=width * count if self._sums.reuse_selection else 0.0,
            blocks=blocks,
            power=power,
        )

    def _sigma(self, mu_squared: float) -> float:
        if not self._sums.blocks:
            return 1.0
        blocks = self._sums.blocks - (1 - COUNT_WEIGHT) * len(self._sums.light_counts)
        return math.sqrt(self._bounding.l2_squared * blocks / mu_squared)

    def _measured_level(self, level: LevelShare, mu_squared: float) -> MeasuredLevel:
        """Return a level with the noise that its share of what the measures spend buys."""
        limits = level_bounding(self._bounding)
        sigma = math.sqrt(limits.l2_squared * self._sums.blocks / (mu_squared * level.share))
        names = ", ".join(describe(self._release.keys[index].expr) for index in level.keys)
        return MeasuredLevel(level.keys, f"total by {names}" if names else "total", sigma)

    def _assembly(self, noise: float) -> Assembly:
        every_weight_is_one = self._only_units and not self._release.keys
        bits = precision(self._bounding.row_capacity, weighted=self._bounding.weighted and not every_weight_is_one)
        return Assembly(self._sums, self._bounding, bits, noise, self._equal_noise)

    def _finish(self, mechanism: str, assembly: Assembly, selection: Selection | None, charge: Charge) -> PrivatePlan:
        return PrivatePlan(
            self._release,
            self._bounding,
            self._keys,
            self._minimum,
            mechanism,
            assembly.bits.weight,
            tuple(assembly.sums),
            tuple(assembly.noisy_sums),
            selection,
            sum_forms(assembly, self._needs),
            charge,
            tuple(assembly.bucketings),
            tuple(assembly.draws),
            tuple(assembly.distinct),
            self._equal_noise,
            tuple(assembly.cumulative),
            tuple(LevelSums(level.keys, tuple(level.noisy_sums)) for level in assembly.levels),
        )


def _delta(budget: Budget) -> float:
    if budget.delta is None:
        raise ParameterError(
            "This statement needs a delta, and neither the query nor the catalog sets one.",
            code="missing-delta",
            hint="Pass delta=, or set defaults.delta in the catalog.",
        )
    return budget.delta
