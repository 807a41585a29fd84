"""Verification: whatever is changed in a published folder is found."""

import hashlib
import json
import random
import shutil

import pytest

from hedgerow.accounting import GDP, event_from_dict
from hedgerow.errors import ParameterError
from hedgerow.ledger.entries import canonical
from hedgerow.ledger.excerpt import load_links
from hedgerow.publication.certificate import DOMAIN, read_certificate
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


def test_a_thousand_changes_of_single_bytes_are_all_found(copy):
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


def test_a_link_in_place_of_a_file_is_found(copy, release):
    (copy / "index.html").unlink()
    (copy / "index.html").symlink_to(release / "index.html")
    assert failed(copy) == ["files"]


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


def nonsense(content):
    content["charges"] = "none"


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
        (nonsense, "charges"),
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


@pytest.mark.parametrize("change", [less_charged, forgotten, wider])
def test_a_changed_record_of_spending_is_found_although_it_is_signed(copy, town, change):
    rewrite_chain(copy, change)
    resign(copy, town, dict)
    assert "chain" in failed(copy)


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


def test_the_guarantee_is_what_an_accountant_proves_from_the_events(release):
    certificate = read_certificate((release / "certificate.json").read_bytes())
    events = [event_from_dict(event) for charge in certificate.charges for event in charge.price["events"]]
    stated = certificate.content["guarantee"]["release"]
    exact = GDP(events).epsilon(stated["delta"])
    assert exact <= stated["epsilon"] <= exact * (1 + 2e-5)


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
