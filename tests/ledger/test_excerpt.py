"""An excerpt: the chain and its sums can be checked by somebody who sees no question."""

import json
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from hedgerow.catalog import load_catalog
from hedgerow.errors import BudgetError, LedgerError
from hedgerow.ledger import open_ledger
from hedgerow.ledger.entries import canonical
from hedgerow.ledger.excerpt import dump_links, load_links

from .test_trail import QUESTION
from .test_written import VERSIONS, WRITTEN

TEXT_OF_ZOE = "SELECT COUNT(*) FROM customers WHERE name = 'somebody'"


@pytest.fixture
def charged(book, gaussian):
    """A ledger with charges of two analysts; and the number of the last one."""
    ledger = book()
    ledger.finish(ledger.charge(gaussian(0.1), analyst="zoe", question=QUESTION | {"text": TEXT_OF_ZOE}), b"release")
    question = QUESTION | {"fingerprint": "shown to nobody"}
    receipt = ledger.charge(gaussian(0.2, mass=1e-9), analyst="wim", question=question)
    ledger.finish(receipt, b"another")
    return ledger, receipt.sequence


def test_the_links_lead_to_the_hash_and_the_totals_of_the_answer(charged):
    ledger, number = charged
    excerpt = ledger.excerpt([number])
    entries = [json.loads(line) for line in ledger.export()]
    links = load_links(dump_links(excerpt.links))
    assert [link.hash for link in links] == [entry["hash"] for entry in entries]
    assert links[-1].total.to_dict() == entries[-1]["total"]
    assert excerpt.time == entries[-1]["time"]


def test_nobody_s_question_name_or_time_is_in_it(charged):
    ledger, number = charged
    excerpt = ledger.excerpt([number])
    shown = dump_links(excerpt.links) + json.dumps(excerpt.charges[0].price)
    times = {json.loads(line)["time"] for line in ledger.export()} - {excerpt.links[0].total.period}
    for hidden in ("SELECT", "zoe", "wim", "shown to nobody", *times):
        assert hidden not in shown


def test_an_opened_price_fits_its_link_and_no_other_price_does(charged):
    ledger, number = charged
    excerpt = ledger.excerpt([number])
    (opened,) = excerpt.charges
    assert opened.sealed == excerpt.links[number].sealed
    assert [event["kind"] for event in opened.price["events"]] == ["gaussian", "threshold"]
    opened.price["events"].pop()
    assert opened.sealed != excerpt.links[number].sealed


@pytest.mark.parametrize("change", [("units", "gaussian", "1"), ("queries", None, 2)])
def test_a_changed_amount_leads_to_another_hash(charged, change):
    ledger, number = charged
    excerpt = ledger.excerpt([number])
    lines = [json.loads(line) for line in dump_links(excerpt.links).splitlines()]
    name, coordinate, value = change
    if coordinate is None:
        lines[1]["public"][name] = value
    else:
        lines[1]["public"][name][coordinate] = value
    forged = load_links("".join(canonical(line) + "\n" for line in lines))
    assert forged[-1].hash != excerpt.links[-1].hash


def test_a_chain_of_several_periods_adds_up_in_each_of_them(book, gaussian):
    time = [datetime(2026, 1, 1, tzinfo=UTC)]
    ledger = book(refresh=timedelta(days=30), clock=lambda: time[0])
    for _ in range(3):
        receipt = ledger.charge(gaussian(0.1), analyst="zoe", question=QUESTION)
        time[0] += timedelta(days=31)
    links = ledger.excerpt([receipt.sequence]).links
    assert len({link.total.period for link in links}) == 3
    loaded = load_links(dump_links(links))
    assert loaded == list(links)
    assert loaded[-1].total.current.gaussian * 3 == loaded[-1].total.lifetime.gaussian > 0


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"kind": "charged"}', "not json"])
def test_what_is_no_chain_is_refused(text):
    with pytest.raises(ValueError, match=r"link"):
        load_links(text)


def test_the_same_price_of_the_same_question_has_another_seal_each_time(book, gaussian):
    ledger = book()
    for _ in range(2):
        ledger.charge(gaussian(0.1), analyst="ada", question=QUESTION)
    one, other = ledger.excerpt([2]).links[1:]
    assert one.sealed != other.sealed


@pytest.fixture
def older(tmp_path):
    shutil.copy(WRITTEN / f"{VERSIONS[0]}.ledger", tmp_path / "shop.ledger")
    policy = load_catalog(WRITTEN / "shop.yaml").budget
    with closing(open_ledger(tmp_path / "shop.ledger", dataset="shop", policy=policy)) as ledger:
        yield ledger


def test_a_ledger_of_an_older_version_is_continued_and_its_sums_run_on(older, gaussian):
    before = older.verify()
    receipt = older.charge(gaussian(0.01), analyst="ada", question=QUESTION)
    excerpt = older.excerpt([receipt.sequence])
    assert [link.kind for link in excerpt.links] == ["continued", "charged"]
    assert (excerpt.links[0].sequence, excerpt.links[0].previous) == (before.entries, before.tip)
    assert load_links(dump_links(excerpt.links)) == list(excerpt.links)
    assert excerpt.links[-1].total.charges == before.charges + 1
    assert older.verify().entries == before.entries + 2


def test_a_continued_ledger_tells_older_programs_that_it_is_newer(older, gaussian, tmp_path):
    older.charge(gaussian(0.01), analyst="ada", question=QUESTION)
    with closing(sqlite3.connect(tmp_path / "shop.ledger")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)


def test_a_refused_charge_does_not_continue_an_older_ledger(older, gaussian):
    before = older.verify()
    with pytest.raises(BudgetError):
        older.charge(gaussian(60.0), analyst="ada", question=QUESTION)
    assert older.verify() == before


def test_a_charge_of_an_older_version_is_not_opened(older):
    charge = next(entry.sequence for entry in older.history() if entry.status == "answered")
    with pytest.raises(LedgerError) as refused:
        older.excerpt([charge])
    assert refused.value.code == "ledger-unsealed"
