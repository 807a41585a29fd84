"""From a file to a `Catalog`, or to an error that names file and line and says what to write."""

import os
from pathlib import Path

from hedgerow.catalog import codes
from hedgerow.catalog.entry import Entry
from hedgerow.catalog.model import Catalog, Defaults
from hedgerow.catalog.names import fold
from hedgerow.catalog.paths import check_paths
from hedgerow.catalog.read_budget import read_budget, read_defaults
from hedgerow.catalog.read_limits import read_limits
from hedgerow.catalog.read_table import read_table
from hedgerow.catalog.source import compose, read_source
from hedgerow.catalog.strict import text, timezone
from hedgerow.errors import Span
from hedgerow.expressions.zones import DEFAULT as DEFAULT_ZONE
from hedgerow.limits import UNDECLARED


def load_catalog(source: str | os.PathLike[str] | Catalog) -> Catalog:
    """The catalog in the YAML file `source`; one that is built already is returned as it is.

    The file is YAML 1.2: `1e-6` is a number and `on` is a word. What the database must confirm (that tables
    and columns exist) is left to `bind_catalog`.
    """
    if isinstance(source, Catalog):
        return source
    document = read_source(source)
    catalog = _read(Entry(document, compose(document), Span(0, 0)))
    check_paths(catalog)
    return catalog


def _read(root: Entry) -> Catalog:
    found = root.fields(("dataset", "version", "timezone", "budget", "defaults", "limits", "tables"))
    dataset = text(root.required(found, "dataset", "dataset: shop"))
    budget = root.required(found, "budget", "budget: {epsilon: 3.0, delta: 1e-6}")
    tables = root.required(found, "tables", "tables:")
    entries = tables.items("a mapping from tables to what is known of them", fold)
    if not entries:
        raise tables.error("No table is declared.", code=codes.MISSING_FIELD, hint="Add one, with its `unit`.")
    return Catalog(
        dataset=dataset,
        version=text(found["version"]) if "version" in found else None,
        timezone=timezone(found["timezone"]) if "timezone" in found else DEFAULT_ZONE,
        budget=read_budget(budget),
        defaults=read_defaults(found["defaults"]) if "defaults" in found else Defaults(),
        limits=read_limits(found["limits"]) if "limits" in found else UNDECLARED,
        tables={name: read_table(entry) for name, entry in entries.items()},
        path=Path(root.source.file),
        file=root.source.file,
        spans=root.spans,
    )
