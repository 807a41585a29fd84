"""Questions as code: what is pasted says exactly what was asked."""

import ast
import json
import shlex

import pytest

from hedgerow.service.console.questions import as_curl, as_python, with_values
from hedgerow.service.http.schemas import QueryBody

ADDRESS = "http://127.0.0.1:8439"
TEXTS = (
    "SELECT COUNT(*) FROM t",
    'SELECT COUNT(*)\nFROM "t"',
    "SELECT COUNT(*)\nFROM t WHERE a = 'it''s' -- \\",
    'SELECT COUNT(*) FROM t\nWHERE a = """"',
)
OPTIONS = {"epsilon": 0.5, "within": ("abs", 50.0, 1000)}


@pytest.mark.parametrize("sql", TEXTS)
@pytest.mark.parametrize("params", [None, ["it's", 3, None], {"a": True}])
def test_code_says_what_was_asked(sql, params):
    connected, asked = [
        node
        for node in ast.walk(ast.parse(as_python(ADDRESS, "ward 7", sql, params, OPTIONS)))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in {"connect", "sql"}
    ]
    assert connected.args[0].value == f"{ADDRESS}/ward%207"
    assert asked.args[0].value == sql
    said = {word.arg: ast.literal_eval(word.value) for word in asked.keywords}
    assert said == ({} if params is None else {"params": params}) | OPTIONS
    words = shlex.split(as_curl(ADDRESS, "ward 7", sql, params, OPTIONS))
    assert words[:2] == ["curl", f"{ADDRESS}/v1/datasets/ward%207/query"]
    body = QueryBody.model_validate_json(words[-1])
    assert (body.sql, body.params, body.options) == (sql, params, json.loads(json.dumps(OPTIONS)))


@pytest.mark.parametrize(
    ("sql", "params", "written"),
    [
        ("SELECT ? + ?, '?' -- ?", [1, "a'b"], "SELECT 1 + 'a''b', '?' -- ?"),
        ("SELECT $2, $1", [None, True], "SELECT TRUE, NULL"),
        ("SELECT :b, :a, :b::int", {"a": 1.5, "b": -2}, "SELECT -2, 1.5, -2::int"),
        ("SELECT :a, :c", {"a": 1, "…": "40 more"}, "SELECT 1, :c"),
        ("SELECT ?, 'open", [1], "SELECT ?, 'open"),
        ("SELECT ?, $1", [1], "SELECT ?, $1"),
        ("SELECT ?", None, "SELECT ?"),
    ],
)
def test_parameters_become_literals_where_the_editor_has_no_fields_for_them(sql, params, written):
    assert with_values(sql, params, "duckdb") == written
