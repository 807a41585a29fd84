"""Rights over accounts, requests, kept answers and dashboards, for every interface: who may see, make and change them.

An owner of some datasets manages the accounts and requests of these alone: nobody grants more than they have. All who
may use a dataset see its kept answers; a dashboard is its owner's. Nothing tells what the caller may not see from what
does not exist. Every change of an account or request is reported to the store's `observe_change`, for the log.
"""

import secrets
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from hedgerow.answer import Answer
from hedgerow.answer.exchange import dump_answer, load_answer
from hedgerow.exchange import encode
from hedgerow.execution.request import Parameters, plain_params
from hedgerow.service.access.dashboards import Dashboard, DashboardStore, KeptAnswer, answer_id
from hedgerow.service.access.model import (
    AccessStore,
    ApprovalRequest,
    Credentials,
    Identity,
    RequestState,
    Role,
    UserAccount,
)
from hedgerow.service.errors import AccessError, ServiceError


def require_owner(identity: Identity) -> None:
    """Refuse everybody but owners."""
    if identity.role is not Role.OWNER:
        raise AccessError("Only an owner may do this.", hint="Use the account of an owner.")


def visible_accounts(access: AccessStore, owner: Identity) -> list[UserAccount]:
    """Return the accounts that an owner manages."""
    require_owner(owner)
    return [account for account in access.accounts() if _manages(owner, account.identity)]


def add_account(access: AccessStore, owner: Identity, identity: Identity) -> Credentials:
    """Add an account, and return its password and token, which are shown once."""
    require_owner(owner)
    if not _manages(owner, identity):
        raise AccessError(
            "An owner of some datasets adds accounts for these alone.", hint="Name datasets that you may use."
        )
    credentials = access.add(identity)
    access.observe_change(owner.name, "add-account", identity.name)
    return credentials


def rotate_account(access: AccessStore, owner: Identity, name: str) -> Credentials:
    """Replace password and token of an account; the old ones end at once."""
    _require_managed(access, owner, name)
    credentials = access.rotate(name)
    access.observe_change(owner.name, "rotate-account", name)
    return credentials


def remove_account(access: AccessStore, owner: Identity, name: str) -> None:
    """Remove an account. Its charges stay in the ledger."""
    _require_managed(access, owner, name)
    access.remove(name)
    access.observe_change(owner.name, "remove-account", name)


def visible_requests(
    access: AccessStore, identity: Identity, dataset: str | None = None, state: RequestState | None = None
) -> list[ApprovalRequest]:
    """Return requests for approval: an analyst's own, and for owners and auditors those of their datasets."""
    return [request for request in access.requests(dataset, state) if _sees(identity, request)]


def visible_request(access: AccessStore, identity: Identity, identifier: str) -> ApprovalRequest:
    """Return one request, if the caller may see it."""
    request = access.request(identifier)
    if request is None or not _sees(identity, request):
        raise AccessError("There is no such request.", code="no-such-request", hint="List those that you may see.")
    return request


def decide_request(access: AccessStore, owner: Identity, identifier: str, state: RequestState) -> ApprovalRequest:
    """Grant or deny a request, and return it with its new state."""
    require_owner(owner)
    visible_request(access, owner, identifier)
    if not access.decide(identifier, state, owner.name):
        raise ServiceError(
            "The request is not pending any more.", code="request-decided", hint="Read it to see who decided."
        )
    access.observe_change(owner.name, f"{state.value}-request", identifier)
    return visible_request(access, owner, identifier)


def _require_managed(access: AccessStore, owner: Identity, name: str) -> None:
    require_owner(owner)
    account = access.account(name)
    if account is None or not _manages(owner, account.identity):
        raise AccessError("There is no such account.", code="no-such-account", hint="List those that you manage.")


def _manages(owner: Identity, other: Identity) -> bool:
    """Return True if an account may use no dataset that its owner may not use."""
    return owner.datasets is None or (other.datasets is not None and other.datasets <= owner.datasets)


def _sees(identity: Identity, request: ApprovalRequest) -> bool:
    own = identity.role is not Role.ANALYST or request.analyst == identity.name
    return own and identity.may_use(request.dataset)


def keep_answer(
    store: DashboardStore,
    identity: Identity,
    dataset: str,
    sql: str,
    answer: Answer,
    *,
    params: Parameters = None,
    options: Mapping[str, Any] | None = None,
) -> str:
    """Store an answer that this identity received, and return the identifier in its address."""
    _require_dataset(identity, dataset)
    question = sql, plain_params(params), encode(dict(options or {}))
    identifier = answer_id(dataset, *question, answer.receipt.id)
    kept = KeptAnswer(identifier, dataset, identity.name, *question, datetime.now(UTC), dump_answer(answer))
    store.keep(kept)
    return identifier


def visible_answer(store: DashboardStore, identity: Identity, identifier: str) -> tuple[KeptAnswer, Answer]:
    """Return a kept answer of a dataset that this identity may use."""
    kept = store.answer(identifier)
    if kept is None or not identity.may_use(kept.dataset):
        raise AccessError(
            "There is no such answer, or you may not see it.",
            code="no-such-answer",
            hint="Look for its question in the history.",
        )
    return kept, load_answer(kept.document)


def visible_dashboards(store: DashboardStore, identity: Identity, dataset: str) -> list[Dashboard]:
    """Return the dashboards of a dataset that belong to this identity or are shared."""
    _require_dataset(identity, dataset)
    return [board for board in store.dashboards(dataset) if board.shared or board.owner == identity.name]


def visible_dashboard(store: DashboardStore, identity: Identity, identifier: str) -> Dashboard:
    """Return a dashboard that belongs to this identity, or is shared in a dataset that it may use."""
    board = store.dashboard(identifier)
    seen = board is not None and identity.may_use(board.dataset) and (board.shared or board.owner == identity.name)
    if board is None or not seen:
        raise AccessError(
            "There is no such dashboard, or you may not see it.",
            code="no-such-dashboard",
            hint="List those that you may see.",
        )
    return board


def create_dashboard(store: DashboardStore, identity: Identity, dataset: str, title: str) -> Dashboard:
    """Create an empty dashboard that only this identity sees."""
    _require_dataset(identity, dataset)
    return store.save(Dashboard(secrets.token_hex(8), dataset, identity.name, title.strip() or "Untitled"))


def change_dashboard(store: DashboardStore, identity: Identity, identifier: str, **changes: Any) -> Dashboard:  # noqa: ANN401 - fields of a dashboard
    """Change title, text, sharing or tiles of a dashboard. Its owner alone may; tiles show answers of its dataset."""
    board = visible_dashboard(store, identity, identifier)
    if board.owner != identity.name:
        raise AccessError("Only its owner changes a dashboard.", hint="Make one of your own from its answers.")
    changed = replace(
        board, **{name: changes[name] for name in ("title", "text", "shared", "tiles") if name in changes}
    )
    known = {tile.answer for tile in board.tiles}
    for tile in changed.tiles:
        if tile.answer not in known and visible_answer(store, identity, tile.answer)[0].dataset != board.dataset:
            raise AccessError("A dashboard shows answers of its own dataset.", hint="Make one for the other dataset.")
    return store.save(changed)


def remove_dashboard(store: DashboardStore, identity: Identity, identifier: str) -> None:
    """Remove a dashboard: its owner may, and so may an owner of the dataset where it is shared."""
    board = visible_dashboard(store, identity, identifier)
    if board.owner != identity.name and identity.role is not Role.OWNER:
        raise AccessError("Only its owner removes a dashboard.", hint="Ask them, or an owner of the dataset.")
    store.remove(identifier)


def _require_dataset(identity: Identity, dataset: str) -> None:
    if not identity.may_use(dataset):
        raise AccessError(f"No dataset {dataset!r} is available to you.", code="no-such-dataset")
