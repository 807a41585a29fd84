"""What the owner declares, loaded strictly and compared with what the database says of itself."""

from hedgerow.catalog.bind import bind_catalog
from hedgerow.catalog.check import check_catalog
from hedgerow.catalog.check_keys import unenforced_paths
from hedgerow.catalog.draft import draft_catalog
from hedgerow.catalog.finding import Finding
from hedgerow.catalog.load import load_catalog
from hedgerow.catalog.model import BudgetPolicy, Cap, Catalog, Column, Defaults, Table, Through, Value
from hedgerow.catalog.names import fold

__all__ = [
    "BudgetPolicy",
    "Cap",
    "Catalog",
    "Column",
    "Defaults",
    "Finding",
    "Table",
    "Through",
    "Value",
    "bind_catalog",
    "check_catalog",
    "draft_catalog",
    "fold",
    "load_catalog",
    "unenforced_paths",
]
