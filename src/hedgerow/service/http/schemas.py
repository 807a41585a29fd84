"""Bodies of requests and responses, with examples, as the documentation of the API shows them."""

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


Responses = dict[int | str, dict[str, Any]]

PROBLEMS = {
    401: ("login-refused", "The token is not valid for this service."),
    402: ("budget", "The remaining budget does not cover this query."),
    403: ("approval-needed", "The question would cost epsilon 3; above 1 the owner decides."),
    404: ("no-such-dataset", "No dataset 'salaries' is available to you."),
    422: ("unknown-column", "There is no column 'agee'."),
    429: ("too-busy", "Too many statements are waiting."),
}
PROBLEM_SCHEMA = {
    "type": "object",
    "description": "An error (RFC 9457).",
    "required": ["type", "title", "status", "detail", "code"],
    "properties": {
        "type": {"type": "string", "description": "urn:hedgerow:error: with the code."},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "The whole message, with the line of the statement."},
        "code": {"type": "string", "description": "Stable; see the reference of errors."},
        "hint": {"type": ["string", "null"]},
        "span": {
            "type": ["object", "null"],
            "description": "Characters of the statement that the error is about.",
            "properties": {"start": {"type": "integer"}, "end": {"type": "integer"}, "line": {"type": "integer"}},
        },
        "charged": {
            "type": ["boolean", "null"],
            "description": "True if the question was paid for; null if that is not known.",
        },
        "request": {"type": "string", "description": "Address of the request for approval, where one is needed."},
        "error": {"type": "object", "description": "All of it again, for the Python client."},
    },
}
"""Schema of every error, under the name Problem."""

PROBLEM_CONTENT = {"schema": {"$ref": "#/components/schemas/Problem"}}


def _responses(
    description: str, example: object, *problems: int, status: int = 200, others: tuple[str, ...] = ()
) -> Responses:
    content = {"application/json": {"example": example}} if example is not None else {}
    refused: Responses = {}
    for number in (401, *problems):
        code, message = PROBLEMS[number]
        shown = {"type": f"urn:hedgerow:error:{code}", "status": number, "code": code, "detail": message, "hint": "…"}
        content_of_problem = {"application/problem+json": {**PROBLEM_CONTENT, "example": shown}}
        refused[number] = {"description": message, "content": content_of_problem}
    refused["default"] = {"description": "Another error.", "content": {"application/problem+json": PROBLEM_CONTENT}}
    return {status: {"description": description, "content": {**content, **{kind: {} for kind in others}}}, **refused}


PRICE = {"epsilon": 0.5, "delta": 1e-9, "share": 0.05}
LEFT = {"epsilon": 9.5, "delta": 9.9e-7}
ACCOUNT = {"name": "ada", "role": "analyst", "datasets": ["hospital"], "created": "2026-11-16T12:00:00+00:00"}
CHARGE = {
    "sequence": 1,
    "time": "2026-11-16T12:00:00.000000+00:00",
    "analyst": "ada",
    "question": "SELECT COUNT(*) AS n FROM visits",
    "charge": {"epsilon": 0.5, "delta": 0.0, "events": []},
    "status": "answered",
    "params": None,
}
PENDING = {
    "id": "5f0c9e1d2b3a4857",
    "dataset": "hospital",
    "analyst": "ada",
    "sql": "SELECT COUNT(*) AS n FROM visits",
    "params": None,
    "options": {"epsilon": 3},
    "quote": {"charge": {"epsilon": 3, "delta": 0.0}},
    "created": "2026-11-16T12:00:00+00:00",
    "state": "pending",
    "decided_by": None,
}

ME = _responses("Who you are.", {"name": "ada", "role": "analyst", "datasets": ["hospital"]})
DATASET = _responses("The dataset.", {"name": "hospital", "analyst": "ada", "dialect": "duckdb"}, 404)
DATASETS = _responses("The datasets.", {"datasets": [{"name": "hospital", "analyst": "ada", "dialect": "duckdb"}]})
TABLES = _responses(
    "The tables.",
    {"tables": [{"name": "visits", "public": False, "columns": [{"name": "age", "type": "integer", "lower": 0}]}]},
    404,
)
QUERY = _responses(
    "The answer: every noisy number has an interval.",
    {
        "id": "2f1d-7",
        "columns": ["region", "n"],
        "rows": [["north", 1042], ["south", 987]],
        "intervals": [{"n": {"lower": 1029, "upper": 1055, "kind": "exact", "note": None, "reason": None}}],
        "confidence": 0.95,
        "charge": PRICE,
        "remaining": LEFT,
        "reused": False,
        "noisy": ["n"],
    },
    *(402, 403, 404, 422, 429),
    others=("text/csv", "application/vnd.apache.arrow.stream", "application/vnd.apache.parquet"),
)
QUOTE = _responses(
    "The price.",
    {"charge": PRICE, "fits": True, "reused": False, "errors": {"n": {"100": 13, "1000": 13}}, "remaining": LEFT},
    *(404, 422, 429),
)
BATCH = _responses(
    "The answers by name, and the one charge for all of them.",
    {
        "id": "2f1d-8",
        "answers": {
            "all": {"columns": ["n"], "rows": [[60012]], "intervals": [{"n": {"lower": 59975, "upper": 60049}}]}
        },
        "charge": PRICE,
        "remaining": LEFT,
        "reused": False,
        "savings": {"apart": {"epsilon": 0.9, "delta": 3e-9, "share": 0.08}, "epsilon": 0.4},
    },
    *(402, 403, 404, 422, 429),
)
QUOTE_BATCH = _responses(
    "The price of all, and of each alone.",
    {
        "queries": {"all": {"errors": {"n": {"100": 37, "1000": 37}}, "alone": {"epsilon": 0.3, "delta": 1e-9}}},
        "charge": PRICE,
        "remaining": LEFT,
        "releases": 1,
        "fits": True,
        "reused": False,
    },
    *(404, 422, 429),
)
EXPLAIN = _responses(
    "How it would be answered.", {"plan": "show       n\n…", "columns": ["n"], "statements": []}, 404, 422, 429
)
DESCRIBE = _responses(
    "The columns.",
    {"columns": [{"name": "n", "type": "integer", "noisy": True}], "parameters": [{"name": "1", "type": "date"}]},
    404,
    422,
    429,
)
FORECAST = _responses("The total price.", {"epsilons": {"GDP": 1.2, "PLD": 1.1}, "admitted": 3}, 404, 422, 429)
CANCEL = _responses("The statement is being stopped.", None, 404, status=204)
BUDGET = _responses(
    "The budget.",
    {"dataset": "hospital", "spent": {"epsilon": 0.5, "delta": 1e-9}, "remaining": LEFT, "queries": 1},
    404,
)
HISTORY = _responses("The charges.", {"history": [CHARGE]}, 404)
VERIFY = _responses("The chain is whole.", {"entries": 12, "charges": 5, "tip": "9c56cc51…"}, 403, 404)
EXPORT = _responses("The ledger, a line for each entry.", None, 403, 404, others=("application/x-ndjson",))
REQUESTS = _responses("The requests.", {"requests": [PENDING]})
REQUEST = _responses("The request.", PENDING, 403, 404)
ANALYSTS = _responses("The accounts.", {"analysts": [ACCOUNT]}, 403)
CREDENTIALS = _responses(
    "Password and token, shown once.", {"name": "ada", "password": "…", "token": "…"}, 403, 404, status=201
)
ROTATED = _responses("Password and token, shown once.", {"name": "ada", "password": "…", "token": "…"}, 403, 404)
REMOVED = _responses("The account is removed.", None, 403, 404, status=204)
