"""Price of a statement if the owner, and not the statement, sets it."""

import math

from hedgerow.accounting import QueryBudget, gaussian_epsilon
from hedgerow.accounting.budget import Budget
from hedgerow.catalog import Catalog
from hedgerow.errors import BudgetError, ParameterError
from hedgerow.ledger import Ledger
from hedgerow.ledger import limits as caps
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.privacy.statement_sums import needed_sums

ROUNDING = 1 - 1e-9
RESERVE, MASS_SHARE = float(caps.RESERVE), float(caps.MASS_SHARE)


def sets_price(catalog: Catalog) -> bool:
    """Return True if the catalog, and not each statement, sets the price."""
    return catalog.budget.queries is not None or catalog.budget.schedule is not None


def basic_queries(catalog: Catalog, logical: LogicalPlan) -> int:
    """Count the basic queries of the query-budget note in a statement; one where the owner set no number."""
    policy = catalog.budget
    if policy.queries is None or not logical.releases:
        return 1
    protocol = _protocol(catalog)
    needs = [need for release in logical.releases for need in needed_sums(release)]
    return max(1, sum(protocol.price(need.kind.value.question) for need in needs))


def policy_budget(
    budget: Budget, catalog: Catalog, ledger: Ledger, logical: LogicalPlan, analyst: str | None
) -> Budget:
    """Return the budget of a statement: the one it states, or the share under the owner's protocol.

    Privacy: the share depends on the plan, the catalog and the number of earlier charges; the ledger decides as before.
    """
    if not sets_price(catalog):
        return budget
    if budget.mechanism == "laplace":
        raise ParameterError(
            "Where the catalog sets the price of a statement, the noise is Gaussian.", code="bad-mechanism"
        )
    if catalog.budget.queries is None:  # all that the schedule has released and that is not spent
        left = float(ledger.remaining_cost(analyst).gaussian)
        if left <= 0:
            raise BudgetError("The schedule has nothing left for another statement.", code="budget-schedule")
        mu = math.sqrt(left) * ROUNDING
    else:  # an even share: noise sqrt(t) sigma for each basic query
        mu = math.sqrt(basic_queries(catalog, logical)) / _protocol(catalog).noise() * ROUNDING
    delta = budget.delta or catalog.budget.delta / (catalog.budget.queries or 1000)
    return Budget(gaussian_epsilon(mu, 0.8 * delta), delta, "gaussian", mu)


def _protocol(catalog: Catalog) -> QueryBudget:
    """Return the noise of the query-budget note over the Gaussian part of the budget.

    Exact composition leaves out what the ledger keeps for thresholds and discreteness. The published sigma is larger
    than that for any budget, so it is taken from the whole, as in the note.
    """
    policy = catalog.budget
    epsilon = policy.epsilon - policy.pure_epsilon
    if policy.accounting == "published":
        return QueryBudget(policy.queries or 1, epsilon, policy.delta, "published")
    return QueryBudget(policy.queries or 1, epsilon - RESERVE, (1 - MASS_SHARE) * policy.delta, "exact")
