"""The owner's declarations, loaded strictly and compared with the schema of the database."""

from hedgerow.catalog.bind import bind_catalog
from hedgerow.catalog.check import Finding, check_catalog, unenforced_paths
from hedgerow.catalog.draft import Decisions, draft_catalog, single_keys, unit_candidates
from hedgerow.catalog.load import load_catalog
from hedgerow.catalog.model import BudgetPolicy, Cap, Catalog, DeclaredColumn, DeclaredTable, Defaults, Through, Value
from hedgerow.catalog.names import fold

__all__ = [
    "BudgetPolicy",
    "Cap",
    "Catalog",
    "Decisions",
    "DeclaredColumn",
    "DeclaredTable",
    "Defaults",
    "Finding",
    "Through",
    "Value",
    "bind_catalog",
    "check_catalog",
    "draft_catalog",
    "fold",
    "load_catalog",
    "single_keys",
    "unenforced_paths",
    "unit_candidates",
]
