"""A question as code: to be pasted into a program or a terminal."""

import json
import shlex
from collections.abc import Mapping
from typing import Any


def as_python(address: str, dataset: str, sql: str, options: Mapping[str, Any]) -> str:
    """Return a question as Python, for the client of the HTTP API."""
    words = "".join(f", {name}={value!r}" for name, value in options.items())
    text = f'"""{sql}"""' if "\n" in sql and '"""' not in sql and "\\" not in sql else repr(sql)
    return (
        "import hedgerow as hr\n\n"
        f'with hr.connect("{address}/{dataset}") as db:  # the token is in HEDGEROW_TOKEN\n'
        f"    print(db.sql({text}{words}))\n"
    )


def as_curl(address: str, dataset: str, sql: str, options: Mapping[str, Any]) -> str:
    """Return a question as a command of a terminal."""
    body = shlex.quote(json.dumps({"sql": sql, **options}))
    return (
        f'curl {address}/v1/datasets/{dataset}/query -H "Authorization: Bearer $HEDGEROW_TOKEN" '
        f"-H 'Content-Type: application/json' -d {body}"
    )
