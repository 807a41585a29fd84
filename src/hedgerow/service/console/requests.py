"""The page of requests: questions whose price needs the owner's approval, each with its quote."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from nicegui import ui

from hedgerow.errors import HedgerowError
from hedgerow.figures import figure as rounded
from hedgerow.figures import percent
from hedgerow.service.access.model import ApprovalRequest, RequestState, Role
from hedgerow.service.access.rights import decide_request, keep_answer, visible_requests
from hedgerow.service.console.parts import box, button, empty_state, refusal, text
from hedgerow.service.console.visit import INTERFACE, Visit

SIZE = "1000"
"""Number of rows of a group whose predicted errors are shown."""

LATEST = 100
"""Number of decided requests that are listed."""

WORDS = {
    RequestState.PENDING: ("waiting", "hr-badge-warn"),
    RequestState.GRANTED: ("granted: it is answered when its analyst asks again", "hr-badge-good"),
    RequestState.DENIED: ("denied", "hr-badge-bad"),
    RequestState.USED: ("granted and answered", "hr-badge-good"),
}
"""Words and looks of a state."""


async def requests_page(visit: Visit) -> None:
    """Draw the requests: an analyst's own, and for others everybody's; those that wait come first."""
    visible = await asyncio.to_thread(visible_requests, visit.gateway.access, visit.identity, visit.dataset)
    waiting = [request for request in visible if request.state is RequestState.PENDING]
    decided = [request for request in reversed(visible) if request.state is not RequestState.PENDING][:LATEST]
    allowed = visit.gateway.limits.approval_epsilon.get(visit.dataset)
    if not visible:
        how = " To require it, set approval_epsilon in [serve.limits]." if visit.identity.role is Role.OWNER else ""
        rule = (
            f"No question on this dataset needs approval.{how}"
            if allowed is None
            else f"A question that costs more than epsilon {allowed:g} waits here until an owner decides."
        )
        empty_state("inbox", "No question is waiting", rule)
    problem = box("div", "hr-stack")
    for request in (*waiting, *decided):
        _request_card(visit, request, problem)


def _request_card(visit: Visit, request: ApprovalRequest, problem: ui.element) -> None:
    words, look = WORDS[request.state]
    with box("section", "hr-card") as section:
        section.props["aria-label"] = f"Request of {request.analyst}"
        with box("div", "hr-row"):
            text("h2", request.analyst)
            text("span", words, f"hr-badge {look}")
            by = f"; decided by {request.decided_by}" if request.decided_by else ""
            text("span", f"{request.created:%Y-%m-%d %H:%M} UTC{by}", "hr-small hr-quiet")
        text("pre", request.sql, "hr-code").props("tabindex=0")
        with box("dl", "hr-facts"):
            for name, value in quote_facts(request):
                with box("div"):
                    text("dt", name)
                    text("dd", value, "hr-number")
        if request.state is RequestState.PENDING and visit.identity.role is Role.OWNER:
            with box("div", "hr-row"):
                button("Grant", _decision(visit, request, RequestState.GRANTED, problem), kind="primary")
                button("Deny", _decision(visit, request, RequestState.DENIED, problem))
        is_own = request.analyst == visit.identity.name
        # a single question without parameters: requests keep only the text of dates among parameters
        is_question = request.params is None and "weights" not in request.options
        if request.state is RequestState.GRANTED and is_own and is_question:
            button("Ask it now", partial(_ask, visit, request, problem), icon="play_arrow", kind="primary")


def quote_facts(request: ApprovalRequest) -> list[tuple[str, str]]:
    """Return what the quote of a request says, as names and values."""
    quote = request.quote
    charge, left = quote.get("charge") or {}, quote.get("remaining") or {}
    facts = [("price", f"epsilon {rounded(charge.get('epsilon') or 0)}")]
    facts.append(("of the budget", percent(charge.get("share") or 0)))
    if left.get("epsilon") is not None:
        facts.append(("left afterwards", f"epsilon {rounded(left['epsilon'])}"))
    for name, sizes in (quote.get("errors") or {}).items():
        if sizes.get(SIZE) is not None:
            facts.append((f"{name} in a group of {int(SIZE):,} rows", f"± {rounded(sizes[SIZE])}"))
    return facts


async def _ask(visit: Visit, request: ApprovalRequest, problem: ui.element) -> None:
    """Ask a granted question with the options that were granted, and open its answer."""
    problem.clear()
    sql, options = request.sql, request.options
    try:
        answer = await visit.gateway.submit(visit.identity, visit.dataset, sql, interface=INTERFACE, **options).answer()
        store, identity = visit.parts.boards, visit.identity
        name = await asyncio.to_thread(keep_answer, store, identity, visit.dataset, sql, answer, options=options)
    except HedgerowError as error:
        with problem:
            refusal(error)
    else:
        ui.navigate.to(visit.link("/answer", id=name))


def _decision(
    visit: Visit, request: ApprovalRequest, state: RequestState, problem: ui.element
) -> Callable[[], Coroutine[Any, Any, None]]:
    async def decide() -> None:
        problem.clear()
        try:
            await asyncio.to_thread(decide_request, visit.gateway.access, visit.identity, request.id, state)
        except HedgerowError as error:
            with problem:
                refusal(error)
        else:
            ui.navigate.reload()

    return decide
