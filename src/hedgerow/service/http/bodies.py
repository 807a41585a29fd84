"""Bodies of requests, with examples for the documentation."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from hedgerow.service.access.model import Role

MAXIMUM_QUERIES = 1000


class Body(BaseModel):
    """A body. A field that it does not have is refused, so that no misspelt one is ignored in silence."""

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
        "max_groups, bounds, simultaneous, moments, distinct, reuse. They can only tighten the owner's settings.",
        examples=[{"epsilon": 0.5, "confidence": 0.95}],
    ),
]
Dialect = Annotated[
    str | None, Field(description="The SQL dialect of the statement; by default the dataset's.", max_length=40)
]


class StatementBody(Body):
    """A statement with its parameters and options."""

    sql: str = Field(
        description="One SELECT statement.",
        examples=["SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward"],
    )
    params: Params = None
    options: StatedOptions = Field(default_factory=dict)
    dialect: Dialect = None


class QueryBody(StatementBody):
    """A statement that is asked and paid for."""

    statement_id: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9_-]{1,64}$",
        description="A name for this statement, chosen by the client, under which it can be cancelled.",
        examples=["7f3c9d"],
    )


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


class AccountBody(Body):
    """A new account."""

    name: str = Field(
        min_length=1, max_length=200, description="The name by which the catalog caps the analyst.", examples=["ada"]
    )
    role: Role = Role.ANALYST
    datasets: list[str] | None = Field(
        default=None, description="The datasets that it may use; all if left out.", examples=[["hospital"]]
    )
