"""Changes of catalogs by their owners: written to the file, applied, and reverted if that fails."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from hedgerow.catalog import Cap
from hedgerow.catalog.load import parse_catalog
from hedgerow.catalog.patch import keep_copy, replace_catalog, with_endings_of
from hedgerow.catalog.strict_yaml import Source
from hedgerow.errors import CatalogError, HedgerowError
from hedgerow.service.access.model import Identity
from hedgerow.service.access.rights import require_owner
from hedgerow.service.caps import write_cap
from hedgerow.service.gateway import Gateway
from hedgerow.session.draft import parse_draft

Reload = Callable[[], Awaitable[None]]
"""Reopens the datasets with their catalogs; raises a `HedgerowError`, and changes nothing, if a catalog is wrong."""


class CatalogFiles:
    """The files of the catalogs that a gateway serves.

    Args:
        gateway: The datasets.
        reload: Loads changed files; None if the service cannot reload.
    """

    def __init__(self, gateway: Gateway, reload: Reload | None) -> None:
        self._gateway = gateway
        self._reload = reload
        self._turn = asyncio.Lock()

    @property
    def writable(self) -> bool:
        """True if changes can be saved."""
        return self._reload is not None

    def text(self, identity: Identity, dataset: str) -> str:
        """Return the text of a catalog's file, for its owners."""
        return _normalised(_read(self._path(identity, dataset)))

    async def save(self, identity: Identity, dataset: str, text: str, *, expected: str) -> Path:
        """Write a catalog, keep a numbered copy of the old one, and apply it; return the path of the copy.

        Args:
            identity: An owner of the dataset.
            dataset: Its name.
            text: The new catalog.
            expected: The text that the owner started from; if the file has changed since, nothing is written.
        """
        async with self._turn:
            path = self._path(identity, dataset)
            old = await asyncio.to_thread(_read, path)
            if _normalised(old) != expected:
                raise CatalogError(
                    "The file was changed elsewhere since this page read it. Nothing was written.",
                    code="catalog-changed",
                    hint="Copy your changes, load the page again, and make them once more.",
                )
            await asyncio.to_thread(parse_draft, self._gateway.view(identity, dataset), text)
            copy = await asyncio.to_thread(_exchange, path, old, text)
            try:
                if self._reload is not None:
                    await self._reload()
            except HedgerowError:
                await asyncio.to_thread(replace_catalog, path, old)  # it is still in force
                raise
            self._gateway.access.observe_change(identity.name, "save-catalog", dataset)
            return copy

    def caps(self, identity: Identity, dataset: str) -> Mapping[str, Cap]:
        """Return the caps of analysts that a catalog's file sets, for its owners."""
        path = self._path(identity, dataset)
        return parse_catalog(Source(path.name, _normalised(_read(path)))).budget.analysts

    async def set_cap(self, identity: Identity, dataset: str, analyst: str, epsilon: float) -> Path:
        """Write an analyst's cap into a catalog, and return the copy of the old one. The next statement obeys it."""
        async with self._turn:
            path = self._path(identity, dataset)
            try:
                copy = await asyncio.to_thread(keep_copy, path)
                await asyncio.to_thread(write_cap, path, analyst, epsilon)
            except OSError:
                raise _unwritable() from None
            self._gateway.access.observe_change(identity.name, "set-cap", analyst)
            return copy

    def _path(self, identity: Identity, dataset: str) -> Path:
        require_owner(identity)
        path = self._gateway.view(identity, dataset)._session.catalog.path  # noqa: SLF001 - of a database that is ours
        if path is None:
            raise CatalogError("This catalog does not come from a file.", code="catalog-file", hint="Write it to one.")
        return path


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        raise CatalogError(
            "The catalog's file cannot be read any more.", code="catalog-file", hint="Look at it on the server."
        ) from None


def _normalised(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _exchange(path: Path, old: str, text: str) -> Path:
    try:
        copy = keep_copy(path)
        replace_catalog(path, with_endings_of(old, text))
    except OSError:
        raise _unwritable() from None
    return copy


def _unwritable() -> CatalogError:
    return CatalogError(
        "The catalog could not be written. It is as it was.",
        code="catalog-unwritable",
        hint="Let the service write to the folder of the catalog, or change the file on the server.",
    )
