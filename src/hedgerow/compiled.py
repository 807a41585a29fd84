"""SQL text ready to run, and the names under which engines keep what passes between statements."""

from dataclasses import dataclass

PARTS = "hedgerow_parts"
SELECTED = "hedgerow_selected"
RELEASED = "hedgerow_released"
PLACE = "hedgerow_place"
ROW = "hedgerow_row"
UNITS = "units"


@dataclass(frozen=True, slots=True)
class Query:
    """One SELECT, with the names of its key columns and of its integer columns."""

    sql: str
    keys: tuple[str, ...]
    integers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """What is run, in order; None where a step is not needed.

    `parts` becomes the temporary relation `hedgerow_parts`; the keys to measure (selected, or all that
    are declared) are handed to the engine as `hedgerow_selected` before `measure` runs.
    """

    parts: str | None
    selection: Query | None
    measure: Query | None

    def texts(self) -> list[str]:
        """All statements, for showing."""
        queries = [query.sql for query in (self.selection, self.measure) if query is not None]
        return queries if self.parts is None else [self.parts, *queries]
