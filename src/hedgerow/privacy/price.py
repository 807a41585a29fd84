"""Noise for each sum, and the charge for the whole."""

import math
from collections.abc import Sequence
from fractions import Fraction

from hedgerow.budget import Charge, Cost, Event
from hedgerow.errors import BudgetError, InternalError, ParameterError
from hedgerow.intervals import half_width
from hedgerow.plan.nodes import LogicalPlan, Release, scan_of
from hedgerow.privacy import gaussian, laplace
from hedgerow.privacy.assemble import Assembly, laplace_blocks, recipes, with_gaussian, with_laplace
from hedgerow.privacy.bounding import Bounding, bound, units_only
from hedgerow.privacy.keys import KeyRule, Keys, keys_of
from hedgerow.privacy.needs import needs_of
from hedgerow.privacy.plan import Budget, PrivatePlan, Room
from hedgerow.privacy.precision import precision
from hedgerow.privacy.shape import Shape, shape
from hedgerow.privacy.sums import Selection
from hedgerow.privacy.uses import shown_alone

SELECTED_SHARE = 0.2
"""Of the budget, for choosing among undeclared keys."""

TESTED_SHARE = 0.1
"""Of the budget, for testing declared keys or a single row against the minimum frequency."""


def price(
    plan: LogicalPlan,
    budget: Budget,
    room: Room,
    *,
    min_frequency: int,
    max_rows: int | None = None,
    max_groups: int | None = None,
) -> PrivatePlan:
    """Split `budget` over the sums that `plan` needs, and say what it takes from the ledger.

    Privacy: see `gaussian` and `laplace` for the two kinds of noise. What is decided here depends on the plan, the
    catalog, the budget and the caps of the ledger, never on data.
    """
    release = plan.release
    scan = scan_of(release.source) if release is not None else None
    if release is None or scan is None or scan.limits is None:
        raise InternalError("A plan without a private part has no price.")
    limits = bound(scan.limits, grouped=bool(release.keys), max_rows=max_rows, max_groups=max_groups)
    pricer = _Pricer(release, keys_of(release.keys), limits, min_frequency, shown_alone(plan), room)
    if budget.mechanism == "laplace":
        return pricer.laplace(budget)
    if budget.mechanism == "gaussian" or budget.mu is not None:
        return pricer.gaussian(budget)
    return _automatic(pricer, budget, room)


def require_room(plan: PrivatePlan, room: Room) -> None:
    """Say plainly why Laplace noise is refused, before the ledger does."""
    left = max(room.pure_left, Fraction(0))
    if plan.mechanism == "laplace" and left < Fraction(plan.charge.epsilon):
        raise BudgetError(
            f"There is no room for Laplace noise: it is charged to pure_epsilon, of which {float(left):.4g} is left.",
            code="budget-pure",
            hint='Ask with mechanism="gaussian", or let the owner set pure_epsilon for a new ledger.',
            asked={"pure_epsilon": plan.charge.epsilon},
            left={"pure_epsilon": float(left)},
        )


def _automatic(pricer: "_Pricer", budget: Budget, room: Room) -> PrivatePlan:
    """Laplace where it is the more accurate, by the length of 95 % intervals, and there is room for it.

    Where there is room for neither, the ledger will say so: of the noise that the owner kept a budget for.
    """
    if room.pure_left < Fraction(budget.epsilon) and room.gaussian_left > 0:
        return pricer.gaussian(budget)
    pure = pricer.laplace(budget)
    if budget.delta is None:
        return pure
    normal = pricer.gaussian(budget)
    fits = normal.charge.cost.gaussian <= room.gaussian_left
    return normal if fits and _spread(normal) <= _spread(pure) else pure


def _spread(plan: PrivatePlan) -> float:
    """The sum of the logarithms of what is wrong with each number, and with the threshold."""
    spread = 0.0
    for recipe in plan.recipes:
        terms = recipe.centred or recipe.total or recipe.count
        noises = [(c, plan.coordinates[i].noise) for i, c in terms]
        if recipe.from_selection and plan.selection is not None:
            noises = [(1.0, plan.selection.noise)]
        spread += math.log(max(half_width(noises, 0.05), 1e-300))
    if plan.selection is not None and plan.keys.rule is KeyRule.SELECTED:
        spread += math.log(float(plan.selection.threshold - plan.minimum))
    return spread


class _Pricer:
    """What the two kinds of noise have in common."""

    def __init__(
        self, release: Release, keys: Keys, bounding: Bounding, minimum: int, alone: Sequence[bool], room: Room
    ) -> None:
        self._release = release
        self._keys = keys
        self._minimum = minimum
        self._room = room
        self._one_row = not bounding.weighted
        self._selects = keys.rule is KeyRule.SELECTED or minimum > 1
        self._needs = needs_of(release)
        self._shape: Shape = shape(self._needs, one_row=self._one_row, selects=self._selects, alone=alone)
        self._groups = bounding.groups
        self._only_units = self._shape.units and self._shape.blocks == 1
        self._bounding = units_only(bounding) if self._only_units else bounding

    def gaussian(self, budget: Budget) -> PrivatePlan:
        """The plan with Gaussian noise."""
        delta = gaussian.own_delta(_delta(budget), self._bounding.keys_touched * self._shape.blocks + self._groups)
        mu = budget.mu or gaussian.statement_mu(budget.epsilon, delta - self._added_mass(delta))
        first, second = self._split(mu * mu)
        made = self._assembly(self._sigma(second))
        made = with_gaussian(made)
        selection, events = None, list[Event](made.events)
        if self._selects:
            selection, selected = gaussian.selection(
                budget.epsilon, delta, self._minimum, self._groups, math.sqrt(first), math.sqrt(second), self._room
            )
            events = [*selected, *events]
        return self._finish("gaussian", made, selection, Charge(tuple(events), budget.epsilon, _delta(budget)))

    def laplace(self, budget: Budget) -> PrivatePlan:
        """The plan with Laplace noise."""
        epsilon = Fraction(budget.epsilon)
        first, second = self._split(budget.epsilon * (1 - 2.0**-30))
        blocks = laplace_blocks(self._shape)
        made = with_laplace(self._assembly(self._bounding.l1 * blocks / second if blocks else 1.0))
        selection, events = None, list[Event](made.events)
        if self._selects:
            fair = self._room.fair_mass(Cost(pure=epsilon))
            mass = min(Fraction(_delta(budget)), fair) if fair else Fraction(_delta(budget))
            selection, selected = laplace.selection(first, self._minimum, self._groups, mass)
            events = [*selected, *events]
        delta = 0.0 if selection is None else float(selection.mass)
        return self._finish("laplace", made, selection, Charge(tuple(events), budget.epsilon, delta))

    def _added_mass(self, delta: float) -> float:
        """What of delta is set aside for the threshold where the exact profile is not evaluated."""
        return delta * gaussian.ADDED_SHARE if self._selects and self._groups > gaussian.EXACT_PROFILE else 0.0

    def _split(self, whole: float) -> tuple[float, float]:
        """How much goes to selection and how much to measuring."""
        if not self._selects:
            return 0.0, whole
        if not self._shape.blocks:
            return whole, 0.0
        share = SELECTED_SHARE if self._keys.rule is KeyRule.SELECTED else TESTED_SHARE
        if self._shape.reuse_selection:
            share = max(share, 1.0 / (1 + self._shape.blocks))
        return whole * share, whole * (1 - share)

    def _sigma(self, mu_squared: float) -> float:
        if not self._shape.blocks:
            return 1.0
        return math.sqrt(self._bounding.l2_squared * self._shape.blocks / mu_squared)

    def _assembly(self, noise: float) -> Assembly:
        every_weight_is_one = self._only_units and not self._release.keys
        bits = precision(self._bounding.size, weighted=self._bounding.weighted and not every_weight_is_one)
        return Assembly(self._shape, self._bounding, bits, noise)

    def _finish(self, mechanism: str, made: Assembly, selection: Selection | None, charge: Charge) -> PrivatePlan:
        return PrivatePlan(
            self._release,
            self._bounding,
            self._keys,
            self._minimum,
            mechanism,
            made.bits.weight,
            tuple(made.sums),
            tuple(made.coordinates),
            selection,
            recipes(made, self._needs, one_row=self._one_row),
            charge,
        )


def _delta(budget: Budget) -> float:
    if budget.delta is None:
        raise ParameterError(
            "Neither the query nor the catalog says which delta this statement may have.",
            code="missing-delta",
            hint="Pass delta=, or set defaults.delta in the catalog.",
        )
    return budget.delta
