"""Changes of a catalog that protect less than before. An account of a service must not be enough to make them."""

from collections.abc import Iterator

from hedgerow.catalog.model import Catalog, DeclaredTable

REMEDY = "Change the file on the server, where more than an account is needed to do so."


def require_not_loosened(old: Catalog, new: Catalog) -> None:
    """Refuse a catalog that protects less than the one in force.

    Privacy: whoever has stolen an owner's session could otherwise declare a private table public and read its rows.
    Bounds, limits of one person and defaults change accuracy and price, never what is promised; the ledger limits
    epsilon and delta.
    """
    for message, path in loosened(old, new):
        raise new.problem(message, *path, code="catalog-loosened", hint=REMEDY)


def loosened(old: Catalog, new: Catalog) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what a new catalog protects less than an old one, each with the path of the entry that says so."""
    if new.defaults.min_frequency < old.defaults.min_frequency:
        yield "Groups of fewer people than before would be shown.", ("defaults", "min_frequency")
    for table in new.tables.values():
        before, place = old.table(table.name), ("tables", table.name)
        if before is None:
            yield f"Table `{table.name}` could not be asked about before.", place
        elif table.public and not before.public:
            yield f"The rows of `{table.name}` would be shown without noise: it is private now.", (*place, "public")
        elif not table.public and not before.public and table.unit != before.unit:
            yield f"The rows of `{table.name}` would protect somebody else than now.", (*place, "unit")
        else:
            yield from _shown(before, table)


def _shown(before: DeclaredTable, after: DeclaredTable) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the columns of a table that are hidden before and not afterwards."""
    place = ("tables", after.name)
    if before.undeclared_hidden and not after.undeclared_hidden:
        yield f"Columns of `{after.name}` that are hidden now could be asked about.", place
    for name in {**before.columns, **after.columns}:
        was, becomes = before.column(name), after.column(name)
        hidden = before.undeclared_hidden if was is None else was.hidden
        if hidden and not (after.undeclared_hidden if becomes is None else becomes.hidden):
            yield f"Column `{name}` of `{after.name}` is hidden now.", (*place, "columns", name)
