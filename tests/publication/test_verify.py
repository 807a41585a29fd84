"""Verification: whatever is changed in a published folder is found."""

import hashlib
import json
import math
import os
import random
import shutil
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist

import pytest
from tests.publication.conftest import QUERIES

from hedgerow.errors import ParameterError
from hedgerow.ledger.entries import canonical
from hedgerow.ledger.excerpt import load_links
from hedgerow.publication.certificate import DOMAIN
from hedgerow.publication.keys import PublicKey, new_key
from hedgerow.publication.verification import compare_chains, verify_folder

CHANGES = 1000
NAMES = ["certificate", "signature", "files", "chain", "budget", "charges", "guarantee"]


@pytest.fixture
def copy(release, tmp_path):
    return shutil.copytree(release, tmp_path / "copy")


def failed(folder, key=None):
    return [check.name for check in verify_folder(folder, key).checks if not check.holds]


def resign(folder, town, change):
    """Change the content of a certificate and sign it again: what the owner, or a thief of the key, could do."""
    document = json.loads((folder / "certificate.json").read_bytes())
    content = document["certificate"]
    change(content)
    for name in content["files"]:
        body = (folder / name).read_bytes()
        content["files"][name] = {"bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
    document["signature"]["value"] = town.key.sign(DOMAIN + canonical(content).encode()).hex()
    (folder / "certificate.json").write_text(canonical(document) + "\n", encoding="ascii")


def test_a_release_holds_with_and_without_the_owner_s_key(release, town):
    own, pinned = verify_folder(release), verify_folder(release, town.key.public)
    assert own.holds
    assert pinned.holds
    assert [check.name for check in own.checks] == NAMES
    assert (own.pinned, pinned.pinned) == (False, True)
    assert "the key in the folder itself" in own.checks[1].says
    assert "the key that you named" in pinned.checks[1].says


def test_another_owner_s_key_is_not_accepted(release, tmp_path):
    other = new_key(tmp_path / "other.key").public
    assert failed(release, other) == ["signature"]


def changed(content, rng):
    """One changed byte: bits flipped, a byte inserted, or one deleted."""
    place = rng.randrange(len(content))
    way = rng.choice(("flip", "insert", "delete"))
    if way == "flip":
        return content[:place] + bytes([content[place] ^ rng.randrange(1, 256)]) + content[place + 1 :]
    if way == "insert":
        return content[:place] + bytes([rng.randrange(256)]) + content[place:]
    return content[:place] + content[place + 1 :]


def test_a_thousand_changes_of_single_bytes_are_all_found(town, tmp_path):
    released = town.publish("small", town.report({"all": QUERIES["all"]}))
    copy = shutil.copytree(released, tmp_path / "copy")
    rng = random.Random()
    files = sorted(path for path in copy.rglob("*") if path.is_file())
    contents = {path: path.read_bytes() for path in files}
    missed, hit = [], set()
    for number in range(CHANGES):
        # The certificate, whose own bytes no digest covers, gets a third of the changes.
        path = copy / "certificate.json" if number % 3 == 0 else rng.choice(files)
        tampered = changed(contents[path], rng)
        if tampered == contents[path]:
            continue
        path.write_bytes(tampered)
        if not failed(copy):
            missed.append((path.name, number))
        hit.add(path.name)
        path.write_bytes(contents[path])
    assert missed == []
    assert len(hit) == len({path.name for path in files})
    assert failed(copy) == []


def test_every_byte_of_the_signature_block_counts(copy):
    """Bytes outside of what is signed: key, algorithm, signature, spelling."""
    path = copy / "certificate.json"
    text = path.read_bytes()
    start = text.index(b'"signature":')
    for place in range(start, len(text)):
        path.write_bytes(text[:place] + bytes([text[place] ^ 0x20]) + text[place + 1 :])
        assert failed(copy), text[place : place + 1]


def test_missing_and_added_files_are_found(copy):
    (copy / "data" / "all.csv").unlink()
    (copy / "data" / "more.csv").write_text("n\n1\n", encoding="utf-8")
    (copy / "empty").mkdir()
    files = next(check for check in verify_folder(copy).checks if check.name == "files")
    assert set(files.problems) == {
        "data/all.csv is missing.",
        "data/more.csv is not in the certificate.",
        "empty is not in the certificate.",
    }


def test_no_name_of_a_file_controls_the_terminal_or_looks_like_a_finding(copy):
    """Added names with control characters and line breaks, and one that is not UTF-8."""
    for name in (b"x\x1b[2J\n  \xe2\x9c\x93 signature: signed", b"\xff.csv"):
        Path(os.fsdecode(os.fsencode(copy / "data") + b"/" + name)).write_text("x", encoding="ascii")
    assert failed(copy) == ["files"]
    lines = str(verify_folder(copy)).splitlines()
    assert len(lines) == 1 + len(NAMES) + 1, "a line for the folder, and one more for the second name"
    assert all(line.isprintable() for line in lines)


def test_a_link_in_place_of_a_file_is_found(copy, release):
    (copy / "index.html").unlink()
    (copy / "index.html").symlink_to(release / "index.html")
    assert failed(copy) == ["files"]


@pytest.mark.parametrize("name", ["certificate.json", "ledger.jsonl"])
def test_a_pipe_or_a_link_in_place_of_the_record_is_found_and_not_read(copy, release, name):
    (copy / name).unlink()
    os.mkfifo(copy / name)
    assert failed(copy)
    (copy / name).unlink()
    (copy / name).symlink_to(release / name)
    assert failed(copy)


@pytest.mark.parametrize("name", ["certificate.json", "ledger.jsonl"])
def test_nested_json_is_a_finding(copy, name):
    (copy / name).write_text("[" * 100_000, encoding="ascii")
    assert failed(copy)


@pytest.mark.parametrize("version", [True, 0, -1, 1.0, "1", 2])
def test_a_certificate_of_another_version_is_not_read(copy, town, version):
    resign(copy, town, lambda content: content.update(version=version))
    assert failed(copy) == ["certificate"]


def test_a_folder_without_a_certificate_is_a_finding_and_no_folder_an_error(tmp_path):
    assert failed(tmp_path) == ["certificate"]
    with pytest.raises(ParameterError) as refused:
        verify_folder(tmp_path / "nowhere")
    assert refused.value.code == "folder-missing"


def cheaper(content):
    content["charges"][0]["price"]["events"][0]["variance"] = "1000000"


def other_price(content):
    """Another price with the same events, so that only the seal can tell."""
    content["charges"][0]["price"]["epsilon"] *= 2


def smaller(content):
    content["guarantee"]["release"]["epsilon"] /= 2


def other_budget(content):
    content["guarantee"]["budget"]["epsilon"] = 1.0


def less_spent(content):
    content["guarantee"]["spent"]["epsilon"] = 0.001


def other_head(content):
    content["ledger"]["head"] = "0" * 64


def without_charge(content):
    content["tables"][0]["charges"] = []


def other_dataset(content):
    content["dataset"]["name"] = "village"


def dropped(content):
    content["charges"].pop()


def twice(content):
    """The events of one charge, twice: a table of the release may have no other."""
    content["charges"].append(content["charges"][0])


def too_long(content):
    """A short number that takes for ever to compute with."""
    content["charges"][0]["price"]["events"][0]["variance"] = "1e999999999"


def too_small(content):
    content["charges"][0]["price"]["events"][0]["variance"] = "1/0"


def elsewhere(content):
    content["ledger"]["file"] = "other.jsonl"


def nonsense(content):
    content["charges"] = "none"


def truth(content):
    content["guarantee"]["release"]["epsilon"] = True


def unchecked(content):
    content["guarantee"]["perfect"] = "yes"


def without_any_charge(content):
    content["charges"] = []
    for table in content["tables"]:
        table.update(charges=[], mechanisms=[])


def larger_groups(content):
    content["guarantee"]["min_frequency"] += 1


def other_neighbours(content):
    content["guarantee"]["neighbours"] = "Two databases are neighbours if they differ in one row."


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (cheaper, "charges"),
        (other_price, "charges"),
        (smaller, "guarantee"),
        (other_budget, "budget"),
        (less_spent, "budget"),
        (other_head, "chain"),
        (without_charge, "charges"),
        (other_dataset, "chain"),
        (dropped, "charges"),
        (twice, "guarantee"),
        (too_long, "charges"),
        (too_small, "charges"),
        (elsewhere, "chain"),
        (nonsense, "certificate"),
        (truth, "certificate"),
        (unchecked, "certificate"),
        (without_any_charge, "charges"),
        (larger_groups, "guarantee"),
        (other_neighbours, "guarantee"),
    ],
)
def test_a_false_statement_is_found_although_it_is_signed(copy, town, change, check):
    resign(copy, town, change)
    assert check in failed(copy, town.key.public)
    assert "signature" not in failed(copy, town.key.public)


def rewrite_chain(folder, change):
    lines = [json.loads(line) for line in (folder / "ledger.jsonl").read_text(encoding="ascii").splitlines()]
    change(lines)
    (folder / "ledger.jsonl").write_text("".join(canonical(line) + "\n" for line in lines), encoding="ascii")


def less_charged(lines):
    charge = next(line for line in lines if line["kind"] == "charged")
    charge["public"]["units"] = dict.fromkeys(charge["public"]["units"], "0")


def forgotten(lines):
    del lines[1:3]


def wider(lines):
    lines[0]["public"]["terms"]["epsilon"] = 1e9


def other_kind(lines):
    """A charge under another name, which nobody would add up."""
    next(line for line in lines if line["kind"] == "charged")["kind"] = "gift"


def hidden_amount(lines):
    """An amount in an entry that is no charge."""
    charge = next(line for line in lines if line["kind"] == "charged")
    next(line for line in lines if line["kind"] == "answered")["public"]["units"] = charge["public"]["units"]


def another_field(lines):
    lines[1]["note"] = "no hash has this"


def from_the_future(lines):
    next(line for line in lines if line["kind"] == "answered")["refers"] = 999


@pytest.mark.parametrize(
    "change", [less_charged, forgotten, wider, other_kind, hidden_amount, another_field, from_the_future]
)
def test_a_changed_record_of_spending_is_found_although_it_is_signed(copy, town, change):
    rewrite_chain(copy, change)
    resign(copy, town, dict)
    assert "chain" in failed(copy)


def test_a_charge_without_amounts_cannot_hide_as_another_kind(copy):
    def hide(lines):
        charge = next(line for line in lines if line["kind"] == "charged")
        charge.update(kind="gift", public={})

    chain = copy / "ledger.jsonl"
    load_links(chain.read_text(encoding="ascii"))
    rewrite_chain(copy, hide)
    with pytest.raises(ValueError, match="is not a link of a chain"):
        load_links(chain.read_text(encoding="ascii"))


def test_a_chain_that_was_forged_from_its_beginning_contradicts_an_earlier_release(town, release, copy):
    """Only somebody who kept an earlier release can find that the owner began a new history."""
    rewrite_chain(copy, less_charged)
    head = load_links((copy / "ledger.jsonl").read_text(encoding="ascii"))[-1].hash
    resign(copy, town, lambda content: content["ledger"].update(head=head))
    assert "chain" not in failed(copy)
    assert compare_chains([verify_folder(release), verify_folder(copy)]).problems


def test_two_releases_of_one_ledger_show_one_history(town, release):
    later = town.publish("later", town.report({"n": "SELECT COUNT(*) AS n FROM people WHERE age > 45"}))
    assert compare_chains([verify_folder(later), verify_folder(release)]).holds


def test_a_budget_that_was_overrun_is_found(copy, town):
    """Terms that the charges do not fit, in a chain whose hashes all fit: an owner's program that does not refuse."""
    rewrite_chain(copy, lambda lines: lines[0]["public"]["terms"].update(epsilon=0.01))
    head = load_links((copy / "ledger.jsonl").read_text(encoding="ascii"))[-1].hash
    resign(
        copy,
        town,
        lambda content: (
            content["ledger"].update(head=head),
            content["guarantee"]["budget"].update(epsilon=0.01),
        ),
    )
    assert failed(copy) == ["budget"]


def resign_chain(copy, town, change):
    """Change the record of spending, and sign it with hashes that all fit."""
    rewrite_chain(copy, change)
    head = load_links((copy / "ledger.jsonl").read_text(encoding="ascii"))[-1].hash
    resign(copy, town, lambda content: content["ledger"].update(head=head))


def test_a_charge_that_gives_something_back_is_found(copy, town):
    def refunded(lines):
        charge = next(line for line in lines if line["kind"] == "charged")
        units = charge["public"]["units"]
        charge["public"]["units"] = {name: f"-{amount}" for name, amount in units.items()}

    resign_chain(copy, town, refunded)
    assert "budget" in failed(copy)


def test_a_budget_that_was_lowered_after_it_was_spent_is_found(copy, town):
    def lower(lines):
        terms = lines[0]["public"]["terms"]
        lowered = {"kind": "raised", "public": {"from": terms, "terms": {**terms, "epsilon": 0.01}}, "sealed": "0" * 64}
        lines.append(lowered)

    rewrite_chain(copy, lower)
    last = load_links((copy / "ledger.jsonl").read_text(encoding="ascii"))[-1]

    def state(content):
        content["ledger"].update(head=last.hash, entries=last.sequence + 1)
        content["guarantee"]["budget"]["epsilon"] = 0.01

    resign(copy, town, state)
    assert failed(copy) == ["budget"]


def test_a_chain_that_begins_with_an_amount_is_found(copy, town):
    def credited(lines):
        for account in ("current", "lifetime"):
            lines[0]["total"][account] = dict.fromkeys(lines[0]["total"][account], "-1000")

    resign_chain(copy, town, credited)
    assert "budget" in failed(copy)


@pytest.mark.parametrize(
    ("refresh", "changes", "problems"),
    [
        (1, {"epsilon": 0.01}, ["budget"]),
        (1, {"refresh": timedelta(days=2).total_seconds()}, ["budget"]),
        (1, {"lifetime": {"epsilon": 0.01, "delta": 1e-9}}, ["budget"]),
        (1, {"lifetime": {"epsilon": 1e3, "delta": 1e-2}}, []),
        (None, {}, ["budget"]),
        (1, {}, []),
    ],
)
def test_terms_that_say_less_than_an_earlier_period_could_spend_are_found(copy, town, refresh, changes, problems):
    """The terms of the certificate come after a period that was charged under others."""
    raised = {}

    def narrowed(lines):
        old = lines[0]["public"]["terms"]
        old["refresh"] = None if refresh is None else timedelta(days=refresh).total_seconds()
        raised.update({**old, **changes})
        period = (datetime.fromisoformat(lines[0]["total"]["period"]) + timedelta(days=3)).isoformat()
        last = {"kind": "raised", "public": {"from": old, "terms": raised}, "sealed": "0" * 64, "period": period}
        lines.append(last)

    rewrite_chain(copy, narrowed)
    last = load_links((copy / "ledger.jsonl").read_text(encoding="ascii"))[-1]

    def state(content):
        content["ledger"].update(head=last.hash, entries=last.sequence + 1)
        content["guarantee"]["budget"] = raised

    resign(copy, town, state)
    assert failed(copy) == problems


@pytest.mark.parametrize(("days", "problems"), [(29, ["budget"]), (30, [])])
def test_a_period_that_begins_too_early_is_found(copy, town, days, problems):
    """Terms with a budget for each 30 days, and an entry that begins the next period after `days`."""

    def refreshed(lines):
        start = datetime.fromisoformat(lines[0]["total"]["period"])
        lines[0]["public"]["terms"]["refresh"] = timedelta(days=30).total_seconds()
        lines[-1]["period"] = (start + timedelta(days=days)).isoformat()

    rewrite_chain(copy, refreshed)
    links = load_links((copy / "ledger.jsonl").read_text(encoding="ascii"))

    def state(content):
        content["ledger"].update(head=links[-1].hash)
        content["guarantee"]["budget"] = dict(links[0].public["terms"])

    resign(copy, town, state)
    assert failed(copy) == problems


def test_the_guarantee_follows_from_the_events_by_the_formula_alone(release):
    """Nothing of hedgerow: the events as text, added up, and the delta of Gaussian noise at the stated epsilon.

    Pure steps are added to epsilon, or counted as the Gaussian noise that dominates them, whichever proves more.
    """
    content = json.loads((release / "certificate.json").read_bytes())["certificate"]
    stated = content["guarantee"]["release"]
    mu_squared = embedded = pure = surcharge = mass = 0.0
    for event in (event for charge in content["charges"] for event in charge["price"]["events"]):
        if event["kind"] == "gaussian":
            mu_squared += Fraction(event["sensitivity_squared"]) / Fraction(event["variance"])
            surcharge += 37 * event["moved"] / Fraction(event["grid_scale_squared"])
            mass += 3e-31 * event["moved"]
        elif event["kind"] == "bounded-range":
            mu_squared += dominating(Fraction(event["epsilon"]) / 2) ** 2
        elif event["kind"] == "laplace":
            epsilon = Fraction(event["sensitivity"]) / Fraction(event["scale"])
            pure, embedded = pure + epsilon, embedded + dominating(epsilon) ** 2
        else:
            mass += Fraction(event["mass"])

    def delta_at(whole):
        epsilon = whole - surcharge
        apart = gaussian_delta(epsilon - pure, math.sqrt(mu_squared)) if epsilon > pure else 1.0
        return mass + min(apart, gaussian_delta(epsilon, math.sqrt(mu_squared + embedded)))

    assert delta_at(stated["epsilon"]) <= stated["delta"] < delta_at(stated["epsilon"] * (1 - 1e-4))


def dominating(epsilon):
    """Mu of the Gaussian pair that dominates a pure step (half of epsilon: one of bounded range)."""
    return -2 * NormalDist().inv_cdf(1 / (1 + math.exp(epsilon)))


def gaussian_delta(epsilon, mu):
    above, below = (math.erfc((epsilon / mu + sign * mu / 2) / math.sqrt(2)) / 2 for sign in (-1, 1))
    return above - math.exp(epsilon) * below


def test_a_file_beyond_reason_is_found_and_not_read(copy):
    for name in ("index.html", "certificate.json", "ledger.jsonl"):
        with (copy / name).open("r+b") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.truncate(2**40)
        assert failed(copy)
        os.truncate(copy / name, size)
    assert failed(copy) == []


def test_the_check_says_which_release_it_is(release):
    """Somebody could put another release into the folder, as it was signed."""
    said = verify_folder(release).checks[0].says
    assert "town (2026-01)" in said
    assert json.loads((release / "certificate.json").read_bytes())["certificate"]["time"][:10] in said


def test_the_certificate_shows_no_analyst_and_no_question_of_others(town):
    town.db.as_analyst("zoe").sql("SELECT COUNT(*) AS n FROM people WHERE age = 41 AND street = 'elm'")
    folder = town.publish("shown", town.report({"n": "SELECT COUNT(*) AS n FROM people WHERE age > 46"}))
    text = (folder / "certificate.json").read_text() + (folder / "ledger.jsonl").read_text()
    assert "zoe" not in text
    assert "age = 41" not in text


def test_keys_are_spelled_in_one_way(town):
    public = town.key.public
    assert PublicKey.of(f"{public}\n") == public
    for text in (str(public).upper(), str(public)[:-1], f"x{public}"):
        with pytest.raises(ParameterError):
            PublicKey.of(text)
