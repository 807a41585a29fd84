"""Several tables that are made of the same groups: noise for each measure of each table, at the cost of one release.

The groups are those of all keys together; they are tested once, and every table adds up the groups that are shown
(`release.coarser`). Each measure is measured for the groups, and for the tables that show it, with noise of its own;
least squares combine these (`levels`).

Privacy: docs/proofs/weights.md (totals next to their groups) and docs/proofs/selection.md. A table of one measure with
noise sigma costs A^2 / sigma^2 of mu squared, the groups cost T^2 / sigma^2, and all costs are added.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hedgerow.accounting.budget import Event
from hedgerow.distributions import Gaussian
from hedgerow.privacy import gaussian
from hedgerow.privacy.bounding import ROWS_AT_LEAST
from hedgerow.privacy.levels import FINEST_SHARE, SOLVED_GROUPS, WORTH, Level, level_bounding, nested, optimal_shares
from hedgerow.privacy.plan import PrivatePlan
from hedgerow.privacy.predicted_error import key_sizes
from hedgerow.privacy.sums import LevelSums, NoisySum, SumKind

MARGIN = 4.0
"""Multiple of the threshold that a group of average size must have, for tables that are made of the same groups."""

SMALL_TABLE = 1e4
"""Rows of a table whose size nobody declared."""

NOT_MEASURED = Gaussian(1e150)
"""Noise of a sum that nothing is known about, so that least squares ignore it."""


@dataclass(frozen=True, slots=True)
class ShownNumber:
    """A number of a table: the keys of the table and the aggregate, by their positions in the release; its weight."""

    keys: Level
    call: int
    weight: float


def adds_up(plan: PrivatePlan) -> bool:
    """Return True if all numbers of a release are sums over rows with one noise each: its tables then add up."""
    kinds = {plan.sums[index].kind for one in plan.noisy_sums for index, _ in one.combination}
    others = any(form.moments or form.cells or form.arms or form.from_selection for form in plan.sum_forms)
    people = plan.bounding.weighted and SumKind.UNITS in kinds
    alone = len(plan.measuring) == len(plan.noisy_sums) * (1 + len(plan.levels))
    return plan.mechanism == "gaussian" and alone and not (plan.draws or plan.distinct or others or people)


def has_large_groups(plan: PrivatePlan) -> bool:
    """Return True if the groups of all keys together are likely to pass their test, from the plan alone.

    On average a group has the declared size of the table, or ten thousand rows, divided by the number of combinations
    of values, of which a key that nobody declared has thirty. If groups were small, tables of few keys would lose most
    of their rows.
    """
    size = plan.bounding.size if plan.bounding.size < ROWS_AT_LEAST else SMALL_TABLE
    minimum = float(plan.selection.threshold) if plan.selection is not None else 0.0
    return size / math.prod(key_sizes(plan)) >= MARGIN * minimum


def measure_tables(plan: PrivatePlan, numbers: Sequence[ShownNumber]) -> PrivatePlan:
    """Return a release in which each measure has noise for the tables that show it, at the same cost.

    The budget of a measure is divided so that the weighted sum of the variances of its cells is least, and the budgets
    of the measures are as the roots of these sums (Cauchy and Schwarz).
    """
    finest, bounding = tuple(range(len(plan.release.keys))), plan.bounding
    sizes, costs = key_sizes(plan), (float(bounding.l2_squared), float(bounding.l1**2))
    levels = [level for level in dict.fromkeys(number.keys for number in numbers) if level != finest]
    if math.prod(sizes) > SOLVED_GROUPS:
        levels = nested(levels) if levels else []
    budget = float(sum(event.cost.gaussian for event in plan.measuring))
    designs = []
    for index in range(len(plan.noisy_sums)):
        shown = _weights(plan, numbers, index, sizes)
        measured = [finest, *(level for level in levels if level in shown)]
        level_costs = [costs[0], *[costs[1]] * (len(measured) - 1)]
        shares, loss = optimal_shares(measured, list(shown), sizes, level_costs, list(shown.values()))
        granted = [
            max(share, FINEST_SHARE) if level == finest else share if share >= WORTH else 0.0
            for level, share in zip(measured, shares.tolist(), strict=True)
        ]
        designs.append((dict(zip(measured, granted, strict=True)), math.fsum(granted), math.sqrt(loss)))
    whole, events = math.fsum(root for *_, root in designs), list[Event]()
    sums: dict[Level, list[NoisySum]] = {level: [] for level in (finest, *levels)}
    for one, (granted_shares, granted_sum, root) in zip(plan.noisy_sums, designs, strict=True):
        for level, noisy_sums in sums.items():
            share = granted_shares.get(level, 0.0) / granted_sum * root / whole
            noisy, event = _noised(plan, one, level, budget * share, is_finest=level == finest)
            noisy_sums.append(noisy)
            events += event
    charge = replace(plan.charge, events=(*plan.selecting, *events))
    measured_levels = tuple(LevelSums(level, tuple(sums[level])) for level in levels)
    return replace(plan, noisy_sums=tuple(sums[finest]), levels=measured_levels, charge=charge, made_of=finest)


def _weights(plan: PrivatePlan, numbers: Sequence[ShownNumber], index: int, sizes: Sequence[int]) -> dict[Level, float]:
    """Return the tables that show noisy sum number `index`, each with the weight of one of its cells."""
    weights: dict[Level, float] = {}
    for number in numbers:
        form = plan.sum_forms[number.call]
        if any(index == read for terms in (form.count, form.total, form.centred) for read, _ in terms):
            cells = math.prod(sizes[i] for i in number.keys)
            weights[number.keys] = weights.get(number.keys, 0.0) + number.weight / cells
    return weights


def _noised(
    plan: PrivatePlan, one: NoisySum, level: Level, mu_squared: float, *, is_finest: bool
) -> tuple[NoisySum, list[Event]]:
    """Return a sum with the noise that it buys, and its event; without a budget it is not measured."""
    if not mu_squared:
        return replace(one, noise=NOT_MEASURED, scale=0.0), []
    limits = plan.bounding if is_finest else level_bounding(plan.bounding)
    label = (
        one.label
        if is_finest
        else f"{one.label}, total by keys {', '.join(map(str, level))}"
        if level
        else f"{one.label}, total"
    )
    sigma = math.sqrt(limits.l2_squared / mu_squared)
    noisy, event = gaussian.noisy_sum(label, one.combination, one.denominator, sigma, limits, plan.weight_bits)
    return replace(noisy, unit=one.unit), [event]
