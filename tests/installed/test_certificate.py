"""A certificate verifies on a machine that has the wheel and nothing of the owner's: no database, catalog or key."""

import json
import shutil

REPORT = "-- name: wards\nSELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward;\n"


def test_a_release_verifies_with_only_the_wheel_and_the_folder(installed, tmp_path):
    run = installed()
    (run.folder / "report.sql").write_text(REPORT, encoding="utf-8")
    assert run("hedgerow", "key", "new", "demo/hospital.key").returncode == 0
    where = ["--db", "demo/hospital.duckdb", "--catalog", "demo/hospital.yaml"]
    published = run("hedgerow", "publish", "report.sql", "-o", "release", *where, "--json")
    assert published.returncode == 0, published.stderr
    public = json.loads(published.stdout)["key"]["public"]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.copytree(run.folder / "release", elsewhere / "release")
    done = run("hedgerow", "verify", "release", "--key", public, "--json", folder=elsewhere)
    assert (done.returncode, json.loads(done.stdout)["ok"]) == (0, True), done.stderr
    (elsewhere / "release" / "index.html").write_text("nothing", encoding="utf-8")
    assert run("hedgerow", "verify", "release", "--key", public, folder=elsewhere).returncode == 1
