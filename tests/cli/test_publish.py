"""`hedgerow key`, `publish` and `verify`, as people and as programs call them."""

import json
import stat

import pytest

REPORT = """\
-- title: The shop
-- name: regions
-- title: Customers by region
SELECT region, COUNT(*) AS n, AVG(income) AS income FROM customers GROUP BY region;
-- name: all
SELECT COUNT(*) AS n FROM customers;
"""

LOOSER = 1.07
"""The sum over the events of a release with tested groups is up to 7 % looser than their exact profile (errata, 28)."""


@pytest.fixture
def report(shop):
    path = shop.folder / "report.sql"
    path.write_text(REPORT, encoding="utf-8")
    return str(path)


@pytest.fixture
def keyed(run, shop):
    """The shop's key, in its place next to the catalog."""
    path = shop.folder / "shop.key"
    key = json.loads(run("key", "new", str(path), "--json").stdout)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    return key["public"]


def parsed(result):
    assert result.exit_code == 0, result.stdout
    return json.loads(result.stdout)


def test_a_report_is_published_checked_and_published_again_for_free(run, shop, report, keyed):
    folder = str(shop.folder / "release")
    words = ["publish", report, "-o", folder, "--epsilon", "1", *shop.options]
    quote = parsed(run(*words, "--plan", "--json"))
    assert (quote["queries"].keys(), quote["charge"]["epsilon"]) == ({"regions", "all"}, 1)
    assert not (shop.folder / "release").exists()
    first = parsed(run(*words, "--json"))
    assert sorted(first["tables"]["together"] + first["tables"]["apart"]) == ["all", "regions"]
    assert (first["written"], first["key"]["public"]) == (True, keyed)
    assert 1 <= first["guarantee"]["epsilon"] <= LOOSER
    assert {"index.html", "certificate.json", "data/regions.csv", "data/all.parquet"} <= set(first["files"])
    spent = parsed(run("budget", "--catalog", str(shop.catalog), "--json"))["queries"]
    again = parsed(run(*words, "--json"))
    assert again == first | {"written": False}
    assert parsed(run("budget", "--catalog", str(shop.catalog), "--json"))["queries"] == spent == 1
    checked = parsed(run("verify", folder, "--key", str(shop.folder / "shop.pub"), "--json"))
    assert (checked["ok"], checked["key"]["pinned"]) == (True, True)
    assert [check["check"] for check in checked["checks"]][-1] == "guarantee"


def test_verify_says_plainly_whose_key_it_trusted(run, shop, report, keyed):
    folder = str(shop.folder / "release")
    assert run("publish", report, "-o", folder, *shop.options).exit_code == 0
    alone, pinned = run("verify", folder), run("verify", folder, "--key", keyed)
    assert "anybody could have signed it" in " ".join(alone.stdout.split())
    assert "anybody could have signed it" not in " ".join(pinned.stdout.split())
    other = json.loads(run("key", "new", str(shop.folder / "other.key"), "--json").stdout)["public"]
    wrong = run("verify", folder, "--key", other)
    assert wrong.exit_code == 1
    assert "signed with another key" in " ".join(wrong.stdout.split())


def test_a_changed_folder_has_exit_code_1_and_a_list(run, shop, report, keyed):
    folder = shop.folder / "release"
    assert run("publish", report, "-o", str(folder), *shop.options).exit_code == 0
    (folder / "data" / "all.csv").write_text("n\n7\n", encoding="utf-8")
    (folder / "more.txt").write_text("", encoding="utf-8")
    result = run("verify", str(folder), "--json")
    assert result.exit_code == 1
    problems = [problem for check in json.loads(result.stdout)["checks"] for problem in check["problems"]]
    assert problems == ["data/all.csv was changed.", "more.txt is not in the certificate."]


def test_two_releases_are_compared(run, shop, report, keyed):
    folders = [str(shop.folder / name) for name in ("one", "two")]
    for folder, epsilon in zip(folders, ("0.5", "0.7"), strict=True):
        assert run("publish", report, "-o", folder, "--epsilon", epsilon, *shop.options).exit_code == 0
    both = parsed(run("verify", *folders, "--json"))
    assert [check["ok"] for check in both["history"]] == [True]


def spent(run, shop):
    return parsed(run("budget", "--catalog", str(shop.catalog), "--json"))["queries"]


def test_the_first_release_makes_the_key_and_says_so(run, shop, report):
    folder, key = str(shop.folder / "release"), shop.folder / "shop.key"
    first = run("publish", report, "-o", folder, *shop.options)
    assert first.exit_code == 0
    assert "Made a new key" in first.stderr
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert run("verify", folder, "--key", str(shop.folder / "shop.pub")).exit_code == 0
    again = run("publish", report, "-o", folder, *shop.options)
    assert (again.exit_code, "Made a new key" in again.stderr) == (0, False)


def test_a_lost_key_is_not_replaced(run, shop, report, keyed):
    (shop.folder / "shop.key").unlink()
    refused = run("publish", report, "-o", str(shop.folder / "release"), *shop.options, "--json")
    assert (refused.exit_code, json.loads(refused.stdout)["error"]["code"]) == (2, "key-missing")
    assert spent(run, shop) == 0


def test_without_a_named_key_or_over_another_folder_nothing_is_asked(run, shop, report):
    folder, none = str(shop.folder / "release"), str(shop.folder / "none.key")
    refused = run("publish", report, "-o", folder, "--key", none, *shop.options, "--json")
    assert (refused.exit_code, json.loads(refused.stdout)["error"]["code"]) == (2, "key-missing")
    run("key", "new", str(shop.folder / "shop.key"))
    taken = run("publish", report, "-o", str(shop.folder), *shop.options, "--json")
    assert (taken.exit_code, json.loads(taken.stdout)["error"]["code"]) == (2, "folder-not-ours")
    nowhere = run("publish", report, "-o", str(shop.folder / "no" / "where"), *shop.options, "--json")
    assert (nowhere.exit_code, json.loads(nowhere.stdout)["error"]["code"]) == (2, "output-unwritable")
    assert spent(run, shop) == 0


def test_a_missing_folder_is_wrong_usage(run, tmp_path):
    result = run("verify", str(tmp_path / "none"), "--json")
    assert (result.exit_code, json.loads(result.stdout)["error"]["code"]) == (2, "folder-missing")


def test_a_key_is_shown_and_never_overwritten(run, shop, keyed):
    path = str(shop.folder / "shop.key")
    assert keyed in run("key", "show", path).stdout
    again = run("key", "new", path, "--json")
    assert (again.exit_code, json.loads(again.stdout)["error"]["code"]) == (2, "key-exists")
    assert keyed in run("key", "show", path).stdout
