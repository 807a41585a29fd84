"""Examples of responses, for the documentation of the API."""

from typing import Any

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
