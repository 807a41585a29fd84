"""Docstrings open with a verb or a noun phrase, not with a question."""

import ast
from pathlib import Path

PROJECT = Path(__file__).parents[2]
FOLDERS = ("src", "tests", "scripts", "benchmarks")
SOURCES = sorted(path for folder in FOLDERS for path in (PROJECT / folder).rglob("*.py"))
QUESTIONS = tuple(f"{word} " for word in ("What", "Which", "Whether", "Who", "Whose", "Where", "When", "Why", "How"))


def docstrings(text):
    """Every string that stands alone: docstrings, and the descriptions of constants and fields."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


def questions(text):
    if not any(f'"{word}' in text for word in QUESTIONS):  # nothing to parse: a string opens with a quote
        return []
    return [string for string in docstrings(text) if string.startswith(QUESTIONS)]


def test_no_docstring_opens_with_a_question():
    asking = {str(path.relative_to(PROJECT)): questions(path.read_text(encoding="utf-8")) for path in SOURCES}
    assert {path: strings for path, strings in asking.items() if strings} == {}


def test_a_question_is_noticed():
    assert questions('"""Whether it holds."""') == ["Whether it holds."]
