"""Kept answers and dashboards: who sees them, who changes them, and that digits stay, on SQLite and PostgreSQL."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import pyarrow as pa
import pytest

from hedgerow.answer import Answer, Summary
from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.service.access import open_access
from hedgerow.service.access.dashboards import DashboardStore, Tile, TileView
from hedgerow.service.access.model import Identity, Role
from hedgerow.service.access.rights import (
    change_dashboard,
    create_dashboard,
    keep_answer,
    remove_dashboard,
    visible_answer,
    visible_dashboard,
    visible_dashboards,
)
from hedgerow.service.access.store import AccessStoreError
from hedgerow.service.errors import AccessError

ANN, BOB = Identity("ann", datasets=frozenset({"shop"})), Identity("bob", datasets=frozenset({"shop"}))
EVE, OLGA = Identity("eve", datasets=frozenset({"other"})), Identity("olga", Role.OWNER)
SQL = "SELECT k, COUNT(*) AS n FROM people GROUP BY k"
ANSWER = Answer(
    pa.table({"k": ["a", "b"], "n": [0.1 + 0.2, 1e300]}),
    [{"n": Interval(0.0, 1.0)}, {"n": Interval(float("-inf"), 1e301)}],
    0.95,
    Summary("book-7", SQL),
    ("n",),
)


@pytest.fixture
def boards(store):
    return DashboardStore(store)


def keep(boards, who=ANN, **options):
    return keep_answer(boards, who, "shop", SQL, ANSWER, options=options)


def test_a_kept_answer_has_the_same_digits_for_everybody_who_may_use_its_dataset(boards, opened):
    name = keep(boards, epsilon=0.3)
    kept, answer = visible_answer(DashboardStore(opened()), BOB, name)
    assert (kept.analyst, kept.sql, kept.options) == ("ann", SQL, {"epsilon": 0.3})
    assert list(answer) == list(ANSWER)
    assert answer.intervals == ANSWER.intervals
    said = []
    for who, wanted in ((EVE, name), (BOB, "nothing")):
        with pytest.raises(AccessError) as refused:
            visible_answer(boards, who, wanted)
        said.append(str(refused.value))
    assert said[0] == said[1]


def test_one_answer_has_one_address_and_another_question_another(boards):
    assert keep(boards) == keep(boards, BOB)
    assert keep(boards) != keep(boards, epsilon=0.3)


def test_a_dashboard_is_its_owners_until_it_is_shared_and_nobody_else_changes_it(boards):
    board = create_dashboard(boards, ANN, "shop", "Sales")
    tile = Tile(keep(boards), "By kind", "A <b>text</b>.", TileView.CHART, 2)
    change_dashboard(boards, ANN, board.id, tiles=(tile,), text="Why.")
    assert visible_dashboards(boards, BOB, "shop") == []
    with pytest.raises(AccessError, match="no such dashboard"):
        visible_dashboard(boards, BOB, board.id)
    change_dashboard(boards, ANN, board.id, shared=True)
    seen = visible_dashboard(boards, BOB, board.id)
    assert (seen.title, seen.text, seen.tiles) == ("Sales", "Why.", (tile,))
    for attempt in (
        lambda: change_dashboard(boards, BOB, board.id, title="x"),
        lambda: remove_dashboard(boards, BOB, board.id),
        lambda: visible_dashboard(boards, EVE, board.id),
        lambda: create_dashboard(boards, EVE, "shop", "x"),
    ):
        with pytest.raises(AccessError):
            attempt()
    remove_dashboard(boards, OLGA, board.id)
    assert visible_dashboards(boards, ANN, "shop") == []


def test_a_tile_shows_no_answer_of_another_dataset(boards):
    other = keep_answer(boards, EVE, "other", SQL, ANSWER)
    board = create_dashboard(boards, OLGA, "shop", "Sales")
    with pytest.raises(AccessError, match="its own dataset"):
        change_dashboard(boards, OLGA, board.id, tiles=(Tile(other, "x"),))
    with pytest.raises(AccessError, match="no such answer"):
        change_dashboard(boards, replace(ANN, name="olga"), board.id, tiles=(Tile(other, "x"),))


def test_texts_and_answers_beyond_reason_are_refused(boards):
    board = create_dashboard(boards, ANN, "shop", "Sales")
    for changes in ({"title": "x" * 1000}, {"text": "x" * 100_000}, {"tiles": (Tile(keep(boards), "x"),) * 101}):
        with pytest.raises(AccessStoreError, match="too large"):
            change_dashboard(boards, ANN, board.id, **changes)


def test_a_file_of_the_version_before_gets_the_new_tables_and_keeps_its_accounts(tmp_path):
    path = tmp_path / "shop.access"
    with closing(open_access(path)) as store:
        store.add(ANN)
    with closing(sqlite3.connect(path)) as file:
        file.executescript("DROP TABLE answers; DROP TABLE dashboards; PRAGMA user_version = 1")
    with closing(open_access(path)) as store:
        assert [account.identity for account in store.accounts()] == [ANN]
        assert DashboardStore(store).dashboards("shop") == []
