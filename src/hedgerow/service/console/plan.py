"""The page Plan: which budget a year of reports takes, or which errors a budget allows. Free; nothing is read."""

import math

from nicegui import ui

from hedgerow.errors import HedgerowError
from hedgerow.figures import figure as rounded
from hedgerow.figures import percent
from hedgerow.service.console.parts import box, button, card, field, notice, refusal, table, text
from hedgerow.service.console.visit import INTERFACE, Visit
from hedgerow.session.database import Database
from hedgerow.session.planning import SIZE, BudgetPlan, parse_plan

EXAMPLE = '''[[report]]
name = "monthly"
times = 12
epsilon = 0.1
sql = """
-- name: everybody
SELECT COUNT(*) AS n FROM {table};
"""
'''


def plan_page(visit: Visit) -> None:
    """Draw the page."""
    private = [table.name for table in visit.gateway.tables(visit.identity, visit.dataset) if not table.public]
    stated = {"budget": ""}
    with card("The year", "A [[report]] for each report: its questions, how often it is published, and its price."):
        plan = ui.textarea("Plan", value=EXAMPLE.format(table=private[0] if private else "people"))
        plan.props("outlined autogrow spellcheck=false input-style='font-family:monospace'").classes("full-width")
        label = "Budget to compare with (epsilon); empty for the catalog's"
        budget = field(label, "", lambda typed: stated.update(budget=typed))

        async def show(*, fit: bool) -> None:
            result.clear()
            budget.update()  # the browser forgets what was typed where it draws the page again
            try:
                planned = await _planned(visit, plan.value or "", stated["budget"], fit=fit)
            except HedgerowError as error:
                with result:
                    refusal(error)
                return
            with result:
                _show_plan(planned)

        async def needed() -> None:
            await show(fit=False)

        async def fitted() -> None:
            await show(fit=True)

        with box("div", "hr-row"):
            button("Find the budget", needed, icon="savings", kind="primary")
            button("Find the errors", fitted, icon="straighten")
            text("span", "Free: prices follow from plans, and no row is read.", "hr-small hr-quiet")
    result = box("div", "hr-stack").props("aria-live=polite")


async def _planned(visit: Visit, plan: str, budget: str, *, fit: bool) -> BudgetPlan:
    """Price a plan, in the owner's name."""

    def work(database: Database) -> BudgetPlan:
        granted = (_typed(budget), database.budget.limit.delta) if budget.strip() else None
        return database.plan(parse_plan(plan), budget=granted, fit=fit)

    return await visit.gateway.as_owner(visit.identity, visit.dataset, "plan", work, interface=INTERFACE)


def _typed(budget: str) -> float:
    """Return a typed number; for anything else NaN, which is refused with a reason."""
    try:
        return float(budget)
    except ValueError:
        return math.nan


def _show_plan(plan: BudgetPlan) -> None:
    with notice("good" if plan.fits else "warn", plan.caption):
        pass
    with card("Prices", "Each time is a purchase of its own: the data has changed in between."):
        table(
            ("Report", "Times", "Epsilon each", "Of the budget each", "Of the budget in all"),
            [
                (
                    one.name,
                    f"{one.times:,}",
                    rounded(one.charge.epsilon),
                    percent(one.share),
                    percent(one.share * one.times),
                )
                for one in plan.reports
            ],
        )
    with card("Errors", f"Half the width of an interval, in a group of {SIZE:,} rows."):
        table(
            ("Report", "Question", "Column", "±"),
            [
                (one.name, question, column, rounded(width) if math.isfinite(width) else "unknown")
                for one in plan.reports
                for question, columns in one.errors.items()
                for column, by_size in columns.items()
                for width in [by_size.get(SIZE, math.inf)]
            ],
        )
