"""Kept answers, each with an address of its own, and dashboards made of them, in the store of accounts.

Privacy: a kept answer is a copy of released numbers. To show it again is post-processing, and costs nothing.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from hedgerow.ledger.entries import canonical
from hedgerow.service.access.store import AccessStoreError, SqlAccessStore

LARGEST_ANSWER = 4_000_000
"""Maximum number of characters of a kept answer."""

MOST_TILES, LONGEST_TITLE, LONGEST_TEXT = 100, 200, 10_000
WIDEST = 3
"""Number of columns of a dashboard on a wide screen."""

BEFORE = datetime.min.replace(tzinfo=UTC)
"""Time of change of a dashboard that was never saved."""

KEPT = "id, dataset, analyst, sql, params, options, created, document"
BOARD = "id, dataset, owner, title, text, shared, tiles, changed"


class TileView(StrEnum):
    """Part of an answer that a tile shows."""

    BOTH = "chart and table"
    CHART = "chart"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """An answer as it was given, with the question that it answers.

    Attributes:
        id: Identifier; equal for equal answers to one question.
        dataset: Name of the dataset.
        analyst: Name of the analyst who kept it.
        sql: The question.
        params: Its parameters, as plain JSON.
        options: Its options, as plain JSON.
        created: Time at which it was kept.
        document: The answer, as `dump_answer` writes it.
    """

    id: str
    dataset: str
    analyst: str
    sql: str
    params: Any
    options: Mapping[str, Any]
    created: datetime
    document: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tile:
    """One kept answer on a dashboard: a title, a text, a part of the answer, and its width in columns."""

    answer: str
    title: str
    text: str = ""
    view: TileView = TileView.BOTH
    width: int = 1


@dataclass(frozen=True, slots=True)
class Dashboard:
    """Kept answers side by side. `shared` shows it to everybody who may use the dataset; its owner alone changes it."""

    id: str
    dataset: str
    owner: str
    title: str
    text: str = ""
    shared: bool = False
    tiles: tuple[Tile, ...] = ()
    changed: datetime = BEFORE


def answer_id(dataset: str, sql: str, params: object, options: Mapping[str, Any], receipt: str | None) -> str:
    """Return the identifier of an answer: of the question, and of the release that answered it."""
    named = canonical([dataset, sql, params, dict(options), receipt])
    return hashlib.sha256(named.encode()).hexdigest()[:24]


class DashboardStore:
    """Kept answers and dashboards. Rights are checked in `rights.py`."""

    def __init__(self, store: SqlAccessStore) -> None:
        self._store = store
        self._answers, self._boards = store.table("answers"), store.table("dashboards")

    def keep(self, answer: KeptAnswer) -> None:
        """Store an answer, unless it is stored already."""
        document = json.dumps(dict(answer.document))
        if len(document) > LARGEST_ANSWER:
            raise _too_large("The answer", "Ask for fewer rows.")
        parts = json.dumps(answer.params), json.dumps(dict(answer.options)), _written(answer.created), document
        with self._store.transaction(writing=True) as execute:
            execute(
                f"INSERT INTO {self._answers} VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                *(answer.id, answer.dataset, answer.analyst, answer.sql, *parts),
            )

    def answer(self, identifier: str) -> KeptAnswer | None:
        """Return a kept answer; None if there is none."""
        with self._store.transaction(writing=False) as execute:
            rows = execute(f"SELECT {KEPT} FROM {self._answers} WHERE id = ?", identifier)
        if not rows:
            return None
        identifier, dataset, analyst, sql, params, options, created, document = rows[0]
        parts = json.loads(params), json.loads(options), datetime.fromisoformat(created), json.loads(document)
        return KeptAnswer(identifier, dataset, analyst, sql, *parts)

    def save(self, board: Dashboard) -> Dashboard:
        """Create a dashboard, or replace it; return it with the time of the change."""
        texts = [board.title, *(tile.title for tile in board.tiles)]
        if len(board.tiles) > MOST_TILES or any(len(text) > LONGEST_TITLE for text in texts):
            raise _too_large("The dashboard", f"It takes {MOST_TILES} tiles, and titles of {LONGEST_TITLE}.")
        if any(len(text) > LONGEST_TEXT for text in (board.text, *(tile.text for tile in board.tiles))):
            raise _too_large("A text", f"Write at most {LONGEST_TEXT:,} characters.")
        now, tiles = datetime.now(UTC), json.dumps([asdict(tile) for tile in board.tiles])
        values = (board.title, board.text, int(board.shared), tiles, _written(now))
        with self._store.transaction(writing=True) as execute:
            execute(
                f"INSERT INTO {self._boards} VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
                "title = excluded.title, text = excluded.text, shared = excluded.shared, tiles = excluded.tiles, "
                "changed = excluded.changed",
                *(board.id, board.dataset, board.owner, *values),
            )
        return replace(board, changed=now)

    def dashboard(self, identifier: str) -> Dashboard | None:
        """Return a dashboard; None if there is none."""
        with self._store.transaction(writing=False) as execute:
            rows = execute(f"SELECT {BOARD} FROM {self._boards} WHERE id = ?", identifier)
        return _to_dashboard(rows[0]) if rows else None

    def dashboards(self, dataset: str) -> list[Dashboard]:
        """Return the dashboards of a dataset, the most recently changed first."""
        with self._store.transaction(writing=False) as execute:
            rows = execute(f"SELECT {BOARD} FROM {self._boards} WHERE dataset = ? ORDER BY changed DESC, id", dataset)
        return [_to_dashboard(row) for row in rows]

    def remove(self, identifier: str) -> None:
        """Remove a dashboard. Its answers stay, because their addresses may be in use."""
        with self._store.transaction(writing=True) as execute:
            execute(f"DELETE FROM {self._boards} WHERE id = ?", identifier)


def _written(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="microseconds")


def _too_large(subject: str, hint: str) -> AccessStoreError:
    return AccessStoreError(f"{subject} is too large to be stored.", code="too-large-to-keep", hint=hint)


def _to_dashboard(row: Sequence[Any]) -> Dashboard:
    identifier, dataset, owner, title, text, shared, tiles, changed = row
    listed = tuple(Tile(**{**tile, "view": TileView(tile["view"])}) for tile in json.loads(tiles))
    return Dashboard(identifier, dataset, owner, title, text, bool(shared), listed, datetime.fromisoformat(changed))
