"""The page about the API is true: its Python runs against a service, and its table lists the routes and roles."""

import re
from pathlib import Path

import pytest

from hedgerow.service.http.authentication import ROLES

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "use-the-http-api.md").read_text(encoding="utf-8")


def test_the_python_of_the_page_runs(service, monkeypatch, capsys):
    (text,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    address = "https://data.example.org:8439"
    assert address in text
    monkeypatch.setenv("HEDGEROW_TOKEN", service.tokens["ada"])
    exec(compile(text.replace(address, service.url), "page", "exec"), {})  # noqa: S102 - our own page
    said = capsys.readouterr().out
    assert "price      epsilon 0.5" in said
    assert "mean_age" in said


def test_the_table_lists_every_route_with_its_roles():
    rows = re.findall(r"^\| `(GET|POST|DELETE) (\S+)` \| ([\w, ]+) \|", PAGE, re.MULTILINE)
    listed = {(method, path): words for method, path, words in rows}
    assert {route: words for route, words in listed.items() if words == "anybody"} == {
        ("GET", "/health"): "anybody",
        ("GET", "/ready"): "anybody",
    }
    for route, roles in ROLES.items():
        words = listed.pop(route)
        assert words == "everybody" if len(roles) == 3 else set(words.split(", ")) == set(roles), route
    assert set(listed.values()) == {"anybody"}


@pytest.mark.parametrize("status", ["401", "402", "403", "404", "409", "422", "429", "504"])
def test_the_table_of_statuses_has_the_usual_ones(status):
    assert re.search(rf"^\| .*{status}.* \|", PAGE, re.MULTILINE)
