"""SQL text ready to run, and the names under which engines keep what passes between statements."""

from dataclasses import dataclass

SELECTED = "hedgerow_selected"
RELEASED = "hedgerow_released_"
PUBLIC = "hedgerow_public_"
PLACE = "hedgerow_place"
BUCKET = "hedgerow_bucket"
OWNER = "hedgerow_owner"
VALUE = "hedgerow_value"
WEIGHT = "hedgerow_weight"
ROW = "hedgerow_row"
DRAWS = "hedgerow_draws"
DRAW = "hedgerow_draw"
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
    """What is run.

    `survey`; `measure` where not every key was selected; `buckets` for each column that is ranked; and `distinct` for
    each whose different values are counted. The keys to measure are handed to the engine as `hedgerow_selected` before
    all but the first run.
    """

    survey: Query
    measure: Query | None
    buckets: tuple[Query, ...] = ()
    distinct: tuple[Query, ...] = ()

    def texts(self) -> list[str]:
        """All statements, for showing."""
        first = [self.survey] if self.measure is None else [self.survey, self.measure]
        return [query.sql for query in (*first, *self.buckets, *self.distinct)]
