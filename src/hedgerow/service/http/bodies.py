"""Bodies of requests, with examples for the documentation."""

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hedgerow.service.access.model import Role

MAXIMUM_QUERIES = 1000

BESIDE = ("epsilon", "delta", "within", "confidence")
"""Options that may stand beside the question, too."""


class Body(BaseModel):
    """Base of all bodies. An unknown field is refused, so that a misspelt one is not silently ignored."""

    model_config = ConfigDict(extra="forbid")


Params = Annotated[
    dict[str, Any] | list[Any] | None,
    Field(
        description='Values for `:name` (an object) or `?` (a list). Dates and decimals are written as `{"date": '
        '"2026-01-31"}`, `{"time": "13:45"}`, `{"timestamp": "2026-01-31T13:45:00"}`, `{"decimal": "1.50"}`.',
        examples=[None, {"age": 65}],
    ),
]
StatedOptions = Annotated[
    dict[str, Any],
    Field(
        description="Options of the statement: epsilon, delta, within, confidence, mechanism, min_frequency, max_rows, "
        "max_groups, bounds, simultaneous, moments, distinct, reuse, nonnegative. They can only tighten the owner's "
        "settings.",
        examples=[{"epsilon": 0.5, "confidence": 0.95}],
    ),
]
Dialect = Annotated[
    str | None, Field(description="The SQL dialect of the statement; by default the dataset's.", max_length=40)
]


StatementId = Annotated[
    str | None,
    Field(
        pattern=r"^[A-Za-z0-9_-]{1,64}$",
        description="A name for this statement, chosen by the client, under which it can be cancelled.",
        examples=["7f3c9d"],
    ),
]


class StatementBody(Body):
    """A statement with its parameters and options."""

    sql: str = Field(
        description="One SELECT statement.",
        examples=["SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward"],
    )
    params: Params = None
    epsilon: Any = Field(default=None, description="Short for `options.epsilon`.", examples=[None])
    delta: Any = Field(default=None, description="Short for `options.delta`.", examples=[None])
    within: Any = Field(default=None, description="Short for `options.within`.", examples=[None])
    confidence: Any = Field(default=None, description="Short for `options.confidence`.", examples=[None])
    options: StatedOptions = Field(default_factory=dict)
    dialect: Dialect = None

    @model_validator(mode="after")
    def _gather_options(self) -> Self:
        """Move options that stand beside the question into `options`."""
        beside = {name: value for name in BESIDE if (value := getattr(self, name)) is not None}
        if twice := beside.keys() & self.options.keys():
            raise ValueError(f"{min(twice)} is stated twice")
        self.options = {**self.options, **beside}
        return self


class QueryBody(StatementBody):
    """A statement that is asked and paid for."""

    statement_id: StatementId = None


class QuoteBody(StatementBody):
    """A statement whose price is asked for."""

    errors_at: float | None = Field(
        default=None, description="Return the predicted errors at this epsilon in place of the quote.", examples=[0.5]
    )


class ForecastBody(Body):
    """A list of statements that is fixed in advance."""

    queries: list[str] = Field(max_length=MAXIMUM_QUERIES, examples=[["SELECT COUNT(*) AS n FROM visits"]])
    options: StatedOptions = Field(default_factory=dict)
    dialect: Dialect = None


class BatchBody(Body):
    """Several statements that are asked together, for one charge: `queries`, or `report`."""

    queries: dict[str, str] | list[str] | None = Field(
        default=None,
        description="The statements, by name or in order.",
        max_length=MAXIMUM_QUERIES,
        examples=[{"visits": "SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward"}],
    )
    report: str | None = Field(
        default=None,
        description="The text of a report file, in which statements have names, wanted errors and weights.",
        examples=[None],
    )
    weights: dict[str, float] | list[float] | None = Field(
        default=None, description="The importance of each statement, by name or in order.", examples=[None]
    )
    minimise: str = Field(default="mean", description="The errors to minimise: mean or worst.", max_length=20)
    add_up: bool = Field(
        default=False, description="Make all tables about the same rows of the same groups, so that they add up."
    )
    options: StatedOptions = Field(default_factory=dict)
    dialect: Dialect = None


class AskedBatchBody(BatchBody):
    """A batch that is asked and paid for."""

    statement_id: StatementId = None


class AccountBody(Body):
    """A new account."""

    name: str = Field(
        min_length=1, max_length=200, description="The name by which the catalog caps the analyst.", examples=["ada"]
    )
    role: Role = Role.ANALYST
    datasets: list[str] | None = Field(
        default=None, description="The datasets that it may use; all if left out.", examples=[["hospital"]]
    )
