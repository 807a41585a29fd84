"""Rights over kept answers and dashboards: all who may use a dataset see its answers; a dashboard is its owner's.

An answer or dashboard that the caller may not see is refused with the same message as one that does not exist.
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
from hedgerow.service.access.model import Identity, Role
from hedgerow.service.errors import AccessError


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
