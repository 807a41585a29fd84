"""Docstrings open with a verb or a noun phrase, not with a question."""

import ast
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
SOURCES = sorted([*(PROJECT / "src").rglob("*.py"), *(PROJECT / "tests").rglob("*.py")])
QUESTIONS = ("What ", "Which ", "Whether ")


def docstrings(text):
    """Every string that stands alone: docstrings, and the descriptions of constants and fields."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PROJECT)))
def test_no_docstring_opens_with_a_question(path):
    assert [text for text in docstrings(path.read_text(encoding="utf-8")) if text.startswith(QUESTIONS)] == []


def test_a_question_is_noticed():
    assert [text.startswith(QUESTIONS) for text in docstrings('"""Whether it holds."""')] == [True]
