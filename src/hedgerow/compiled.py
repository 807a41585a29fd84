"""SQL text ready to run, and the names under which engines keep what passes between statements."""

from dataclasses import dataclass

SELECTED = "hedgerow_selected"
RELEASED = "hedgerow_released_"
PUBLIC = "hedgerow_public_"
PLACE = "hedgerow_place"
ROW = "hedgerow_row"
UNITS = "units"
ALL_KEYS = "all_keys"


@dataclass(frozen=True, slots=True)
class Query:
    """One SELECT, with the names of its key columns and of its integer columns."""

    sql: str
    keys: tuple[str, ...]
    integers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """What is run: `survey`, and `measure` where not every key was selected.

    The keys to measure are handed to the engine as `hedgerow_selected` before `measure` runs.
    """

    survey: Query
    measure: Query | None

    def texts(self) -> list[str]:
        """All statements, for showing."""
        return [self.survey.sql] if self.measure is None else [self.survey.sql, self.measure.sql]
