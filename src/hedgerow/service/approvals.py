"""Approval of questions above an owner's price: each waits as a request until an owner decides."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from hedgerow.answer import Answer, Batch
from hedgerow.errors import HedgerowError, dump_error
from hedgerow.figures import finite
from hedgerow.service.access.model import AccessStore, ApprovalRequest, Identity, RequestState, Role
from hedgerow.service.errors import ApprovalError, BusyError
from hedgerow.session.batch_quote import BatchQuote
from hedgerow.session.quote import Quote

A = TypeVar("A", bound=Answer | Batch)

MAXIMUM_PENDING = 100
"""Number of questions of one analyst on one dataset that may wait for an owner's decision."""


@dataclass(frozen=True, slots=True)
class AskedQuestion(Generic[A]):
    """A question or a batch: what a request for approval shows of it, and the functions that price and ask it."""

    text: str
    params: Any
    options: Mapping[str, Any]
    price: Callable[[], Quote | BatchQuote]
    ask: Callable[[], A]


def ask_if_allowed(
    access: AccessStore, identity: Identity, dataset: str, question: AskedQuestion[A], allowed: float | None
) -> A:
    """Answer a question in this thread, if its price needs no approval or an owner has approved it.

    Args:
        access: The requests for approval.
        identity: The caller.
        dataset: Name of the dataset.
        question: The question.
        allowed: The largest epsilon that needs no approval; None if all questions are allowed.
    """
    granted = None
    if allowed is not None and identity.role is not Role.OWNER:
        granted = _require_approval(access, identity, dataset, question, allowed)
    try:
        return question.ask()
    except HedgerowError as error:
        if granted is not None and dump_error(error)["charged"] is False:
            access.restore(granted)
        raise


def _require_approval(
    access: AccessStore, identity: Identity, dataset: str, question: AskedQuestion[Any], allowed: float
) -> str | None:
    """Allow a question that costs at most `allowed`, or that an owner granted; otherwise turn it into a request.

    Return the id of the granted request that is used up by it, if there is one.
    """
    quote = question.price()
    if quote.reused or quote.charge.epsilon <= allowed:
        return None
    key = dataset, identity.name, question.text, _plain(question.params), _plain(dict(question.options))
    own = access.requests(dataset, analyst=identity.name)
    known = [request for request in own if request.asks(*key)]
    for request in known:
        if request.state is RequestState.GRANTED and access.use(request.id):
            return request.id
    waiting = next((request for request in known if request.state is RequestState.PENDING), None)
    if waiting is None:
        if sum(request.state is RequestState.PENDING for request in own) >= MAXIMUM_PENDING:
            raise BusyError(
                f"{MAXIMUM_PENDING} of your questions already wait for the owner's decision.",
                code="too-many-requests",
                hint="Ask again when some are decided, or ask with a smaller epsilon.",
            )
        price = _plain(quote.to_dict())
        waiting = ApprovalRequest(secrets.token_hex(8), *key, price, datetime.now(UTC))
        access.create_request(waiting)
    raise ApprovalError(
        f"The question would cost epsilon {quote.charge.epsilon:.3g}; above {allowed:g} the owner decides. It is "
        f"now request {waiting.id}, and nothing was charged.",
        request_id=waiting.id,
        hint="Ask again once it is granted, or ask with a smaller epsilon.",
    )


def _plain(value: Any) -> Any:  # noqa: ANN401 - plain JSON
    """Return parameters, options or a quote as plain JSON: other values become their text."""
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float):
        return finite(value)
    return value if isinstance(value, str | int | bool | None) else str(value)
