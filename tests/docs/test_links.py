"""Every link in the book leads somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "changelog.d").glob("*.md")])
LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as the usual renderers make them."""
    titles = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def links(text: str) -> list[str]:
    return [target for target in LINK.findall(FENCE.sub("", text)) if not re.match(r"[a-z]+:", target)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_resolves(page):
    for target in links(page.read_text(encoding="utf-8")):
        path, _, anchor = target.partition("#")
        actual = (page.parent / path).resolve() if path else page
        assert actual.is_file(), f"{target} leads nowhere"
        assert not anchor or anchor in anchors(actual.read_text(encoding="utf-8")), f"{target} has no such heading"


def test_every_page_of_the_book_is_in_its_table_of_contents():
    listed = set(re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    beside = {"CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "changelog.d/README.md"}
    assert listed == {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")} | beside


def test_every_page_can_be_reached_from_the_index():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    reached = {target for target in links(index) if not target.startswith("..")} | {"index.md"}
    assert reached == {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}


def test_the_licence_is_the_whole_apache_licence():
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text
    assert len(text.split()) > 1_500
