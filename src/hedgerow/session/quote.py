"""The price before the purchase: cost, noise, predicted errors, survival of small groups, the SQL. Reads no rows."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hedgerow.accounting.budget import Cost, Spending
from hedgerow.accuracy_target.target_price import SIZES, Offer
from hedgerow.answer import Mechanism
from hedgerow.answer.plot import AnyChart, Errors, plot_curve
from hedgerow.catalog.load_budget import EPSILONS
from hedgerow.distributions import Gaussian
from hedgerow.error_bars.propagation import bounds_of
from hedgerow.error_bars.provenance.noisy_columns import noisy_columns, trace
from hedgerow.errors import BudgetError, ConditionNotMet, ParameterError, QueryError
from hedgerow.execution.request import real
from hedgerow.execution.summary import mechanisms
from hedgerow.expressions.nodes import Column
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.privacy.plan import PrivateStatement
from hedgerow.privacy.sums import Selection
from hedgerow.release import typical

CURVE = tuple(10 ** (step / 8) for step in range(-8, 9))
"""The epsilons of a curve, as multiples of the one that was quoted."""


@dataclass(frozen=True)
class Quote:
    """What a statement would cost, and what it would be worth.

    Attributes:
        charge: The statement's own guarantee.
        share: The largest of the fractions it would take of the three caps.
        remaining: What would be left afterwards (what is left now, where it does not fit).
        fits: Whether the ledger would admit it now.
        errors: For each noisy column, the half width of its interval in groups of 100, 1 000, 10 000 and
            100 000 rows; infinite where nothing could be said.
        survival: The number of people from which a group is shown with 50 % and with 95 % probability.
        repeats: How many such statements the remaining budget buys, each anew.
        offer: With `within=`, what the wanted error costs; `charge` is then the least that reaches it, or, where a
            size estimate would be bought first, the most that both would cost.
        receipt: Where the answer is paid for already, of the charge that paid for it. `charge` is then nothing,
            and errors and noise are those of the stored release.
        anew: Where the answer is paid for already, what the question would cost without that (`reuse=False`).
    """

    query: str
    charge: Spending
    share: float
    remaining: Spending | None
    confidence: float
    mechanisms: tuple[Mechanism, ...]
    errors: Mapping[str, Mapping[int, float]]
    survival: Mapping[str, float] | None
    sql: tuple[str, ...]
    fits: bool = True
    notes: tuple[str, ...] = field(default=())
    repeats: int | None = None
    offer: Offer | None = None
    receipt: str | None = None
    anew: Spending | None = None
    _reprice: Callable[[float], Errors] | None = field(default=None, repr=False, compare=False)

    @property
    def reused(self) -> bool:
        """Whether the answer is paid for already, so that asking is free."""
        return self.receipt is not None

    @classmethod
    def public(cls, query: str, sql: str) -> "Quote":
        """Public data is exact and free."""
        return cls(query, Spending(0.0, 0.0), 0.0, None, 1.0, (), {}, None, (sql,))

    def errors_at(self, epsilon: float) -> Errors:
        """The errors of the same question at another epsilon. Free; reads no private row. The database must be open."""
        real("epsilon", epsilon, *EPSILONS)
        if self._reprice is None and self.errors:
            raise ConditionNotMet("Only a quote of a database can be priced anew.", condition="quoted by a database")
        return self.errors if self._reprice is None else self._reprice(float(epsilon))

    def plot(self) -> AnyChart:
        """An Altair chart of error against epsilon, from a tenth of what was quoted to ten times as much."""
        if not self.errors:
            raise ParameterError(
                "No column of this question has an error to plot.",
                code="bad-plot",
                hint="Public data is exact, and keys have no error.",
            )
        quoted = (self.anew or self.charge).epsilon
        curve = {quoted: self.errors} if self._reprice is None else self._curve(quoted)
        return plot_curve(curve, quoted, self.confidence)

    def _curve(self, quoted: float) -> dict[float, Errors]:
        """Prices around the quoted one, those left out at which the question cannot be asked at all."""
        found: dict[float, Errors] = {}
        for factor in CURVE:
            epsilon = quoted * factor
            if factor == 1:
                found[quoted] = self.errors if self.anew is None else self.errors_at(quoted)
            elif EPSILONS[0] <= epsilon <= EPSILONS[1]:
                with suppress(QueryError, BudgetError):
                    found[epsilon] = self.errors_at(epsilon)
        return found

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line."""
        left = self.remaining
        return {
            "query": self.query,
            "columns": list(self.errors),
            "errors": {name: {str(n): _finite(e) for n, e in by.items()} for name, by in self.errors.items()},
            "confidence": self.confidence,
            "charge": {"epsilon": self.charge.epsilon, "delta": self.charge.delta, "share": self.share},
            "remaining": None if left is None else {"epsilon": left.epsilon, "delta": left.delta},
            "fits": self.fits,
            "repeats": self.repeats,
            "reused": self.reused,
            "receipt": self.receipt,
            "anew": None if self.anew is None else {"epsilon": self.anew.epsilon, "delta": self.anew.delta},
            **({} if self.offer is None else {"within": self.offer.to_dict()}),
            "survival": self.survival,
            "mechanisms": [mechanism.to_dict() for mechanism in self.mechanisms],
            "sql": list(self.sql),
        }


def predict(
    query: str,
    logical: LogicalPlan,
    statement: PrivateStatement,
    confidence: float,
    sql: Sequence[str],
    caps: Cost,
    left: Spending,
    *,
    fits: bool,
) -> Quote:
    """The quote of a priced plan."""
    return Quote(
        query,
        Spending(statement.charge.epsilon, statement.charge.delta),
        share_of(statement.charge.cost, caps),
        left,
        confidence,
        tuple(mechanism for part in statement.parts for mechanism in mechanisms(part)),
        predicted_errors(logical, statement, 1.0 - confidence),
        next((survival(part.selection) for part in statement.parts if part.selection is not None), None),
        tuple(sql),
        fits,
    )


def paid_for(quote: Quote, receipt: str, left: Spending) -> Quote:
    """The quote of a question whose answer is stored: it costs nothing, and is as accurate as it is."""
    return replace(
        quote,
        charge=Spending(0.0, 0.0),
        share=0.0,
        remaining=left,
        fits=True,
        receipt=receipt,
        anew=quote.charge,
    )


def share_of(cost: Cost, caps: Cost) -> float:
    """The largest of the fractions that `cost` takes of `caps`."""
    pairs = [(cost.gaussian, caps.gaussian), (cost.pure, caps.pure), (cost.mass, caps.mass)]
    return max(float(part / cap) if cap else (math.inf if part else 0.0) for part, cap in pairs)


def predicted_errors(logical: LogicalPlan, statement: PrivateStatement, beta: float) -> dict[str, dict[int, float]]:
    """Half widths for groups of public sizes, by the very code that makes the intervals of an answer.

    Each group is imagined to have its values in the middle of their range, where the count is exact. Nothing is
    predicted for numbers that are made of several groups.
    """
    origin = trace(logical.root)
    if origin is None:
        noisy = zip(logical.names, noisy_columns(logical.root), strict=True)
        return {name: dict.fromkeys(SIZES, math.inf) for name, rests in noisy if rests}
    plan = statement.parts[logical.releases.index(origin.release)]
    imagined = typical(plan, np.array(SIZES, dtype=float))
    table = imagined.table()
    keys = {key.name for key in plan.release.keys}
    errors: dict[str, dict[int, float]] = {}
    for name, expr in zip(logical.names, origin.columns, strict=True):
        if isinstance(expr, Column) and expr.name in keys:
            continue
        bounds = bounds_of(expr, imagined, table, beta) if expr.type.is_numeric else None
        if bounds is not None:
            widths = (bounds.upper - bounds.lower) / 2
            errors[name] = {size: float(width) for size, width in zip(SIZES, widths, strict=True)}
    return errors


def survival(selection: Selection) -> dict[str, float]:
    """How many people a group needs to be shown with 50 % and with 95 % probability."""
    threshold = float(selection.threshold)
    spread = (
        selection.noise.sigma * 1.6448536
        if isinstance(selection.noise, Gaussian)
        else selection.noise.scale * math.log(10)
    )
    return {
        "threshold": threshold,
        "50%": max(threshold, float(selection.minimum)),
        "95%": max(threshold + spread, float(selection.minimum)),
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
