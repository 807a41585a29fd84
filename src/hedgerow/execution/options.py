"""Options that stand in the text: SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (…)."""

from collections.abc import Mapping
from typing import Any, cast

from hedgerow.catalog import Catalog
from hedgerow.errors import PolicyError
from hedgerow.execution.request import Options
from hedgerow.sql.privacy_clause import engine_options


def stated(inside: Mapping[str, Any], beside: Options, catalog: Catalog) -> Options:
    """The options of a statement: those beside it, and for what they leave open those inside it."""
    read = engine_options(inside)
    named = read.pop("unit", None)
    if named is not None:
        _check_unit(str(named), catalog)
    said = {name: value for name, value in beside.items() if value is not None or name not in read}
    return cast("Options", {**read, **said})


def _check_unit(name: str, catalog: Catalog) -> None:
    """The unit is the owner's to choose; a query may name it, and nothing else."""
    units = {table.unit.lower() for table in catalog.tables.values() if isinstance(table.unit, str)}
    if name.lower() not in units:
        raise PolicyError(
            f"privacy_unit_column = {name} is not a unit of this catalog.",
            code="not-the-unit",
            hint="Leave it out: the owner's catalog says who is protected.",
        )
