"""Hook of mkdocs: show the version, and the pages that stand beside `docs`, with links to and from them turned.

Links are written as they work in the repository: `../SECURITY.md` in `docs`, `docs/proofs/ledger.md` beside it.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import hedgerow

ROOT = Path(__file__).resolve().parents[1]
BESIDE_DOCS = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "changelog.d/README.md")
LINK = re.compile(r"(?<=\]\()(?![a-z]+:)[^)\s#]+")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Show the version that the pages describe at the foot of each."""
    config.copyright = f"hedgerow {hedgerow.__version__}"
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages that stand beside `docs`."""
    for name in BESIDE_DOCS:
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001 - mkdocs names them
    """Turn the links of a page from files of the repository to pages of the site."""
    name = page.file.src_uri
    in_repository = posixpath.dirname(name if name in BESIDE_DOCS else f"docs/{name}")

    def turned(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(in_repository, link[0])).removeprefix("docs/")
        return posixpath.relpath(target, posixpath.dirname(name) or ".")

    return LINK.sub(turned, markdown)
