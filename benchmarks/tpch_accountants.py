"""Number of statements of (0.1, 1e-7) that fit one budget, by accountant: Figure 3 of Matsumoto et al. (2026).

The ledger decides while the analyst adapts. The other accountants total a list that was fixed in advance, which is a
weaker promise; adding up is the rule that needs no accountant.
"""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from hedgerow.accounting import GDP, PLD, RDP, ZCDP, Basic, GaussianEvent, LaplaceEvent, gaussian_mu
from hedgerow.accounting.budget import Charge
from hedgerow.catalog.model import BudgetPolicy
from hedgerow.errors import BudgetError
from hedgerow.ledger import open_ledger

EACH = (0.1, 1e-7)
BUDGETS = ((1.0, 1e-6), (1.0, 1e-5), (10.0, 1e-6))
FINE = Fraction(2**48)
"""So fine a lattice that what discreteness costs does not show."""

ACCOUNTANTS: dict[str, Callable[[list[Any]], Any]] = {
    "exact Gaussian": GDP,
    "PLD": PLD,
    "Renyi": RDP,
    "zCDP": ZCDP,
    "adding up": Basic,
}
PUBLISHED = {
    (1.0, 1e-6): {"DPSQL+ Renyi": 40, "DPSQL+ PLD": 40},
    (1.0, 1e-5): {"DPSQL+ Renyi": 141, "DPSQL+ PLD": 229},
    (10.0, 1e-6): {"DPSQL+ Renyi": 40, "DPSQL+ PLD": 40},
}
"""Counted once by asking DPSQL+ itself. Its statements are calibrated with slack, and every one pays delta for its
keys."""


def statement() -> Charge:
    """A statement with Gaussian noise, calibrated exactly."""
    variance = 1 / Fraction(gaussian_mu(*EACH)) ** 2
    return Charge((GaussianEvent(Fraction(1), variance, 1, FINE),), *EACH)


def count_all(folder: Path) -> list[dict[str, object]]:
    """For each budget: what the ledger admits, what each accountant proves, and what others counted."""
    charge, rows = statement(), list[dict[str, object]]()
    for number, budget in enumerate(BUDGETS):
        counts: dict[str, int] = {"hedgerow's ledger": admitted(folder / f"count-{number}.ledger", budget, charge)}
        counts |= {name: provable(kind, charge, budget) for name, kind in ACCOUNTANTS.items()}
        counts |= {"Laplace, adding up": laplace_statements(budget), **PUBLISHED.get(budget, {})}
        rows += [
            {"epsilon": budget[0], "delta": budget[1], "accountant": name, "queries": count}
            for name, count in counts.items()
        ]
    return rows


def admitted(place: Path, budget: tuple[float, float], charge: Charge) -> int:
    """Count the equal charges that a ledger takes, by asking it."""
    count = 0
    with open_ledger(place, dataset="count", policy=BudgetPolicy(*budget)) as ledger:
        try:
            while True:
                ledger.charge(charge, question={"text": "SELECT COUNT(*) FROM customer"})
                count += 1
        except BudgetError:
            return count


def provable(accountant: Callable[[list[Any]], Any], charge: Charge, budget: tuple[float, float]) -> int:
    """Count the equal charges that an accountant proves to be within a budget."""
    low, high = 0, 1

    def fits(number: int) -> bool:
        return bool(accountant(list(charge.events) * number).epsilon(budget[1]) <= budget[0])

    while fits(high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def laplace_statements(budget: tuple[float, float]) -> int:
    """Count the statements with Laplace noise that fit where all of epsilon is kept for them."""
    charge = Charge((LaplaceEvent(Fraction(1), Fraction(10)),), EACH[0], 0.0)
    return int(Fraction(str(budget[0])) // charge.cost.pure)
