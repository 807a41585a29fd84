"""A page about the API, made from its OpenAPI document: no script, nothing loaded from elsewhere."""

import json
from collections.abc import Mapping
from typing import Any

from hedgerow.markup import CODE, Markup, element, folded, grid, joined, paragraph
from hedgerow.service.http.authentication import ROLES

STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em }
h2 { margin-top: 2em; border-bottom: 1px solid #8886 }
h3 { margin: 1.6em 0 .3em; overflow-wrap: anywhere }
code, pre { font-family: ui-monospace, monospace; font-size: .9em }
pre { white-space: pre-wrap !important; overflow-wrap: anywhere }
.method { display: inline-block; min-width: 4.5em; font-weight: 600 }
"""


def documentation_page(document: Mapping[str, Any]) -> str:
    """Return a page that lists every route: what it does, who may use it, what to send, and what comes back."""
    sections: dict[str, list[Markup]] = {}
    for path, methods in document["paths"].items():
        for method, facts in methods.items():
            sections.setdefault(facts["tags"][0], []).append(_route(document, method.upper(), path, facts))
    parts = [part for tag, routes in sections.items() for part in (element("h2", tag), *routes)]
    head = element(
        "head",
        Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        element("title", "hedgerow API"),
        element("style", Markup(STYLE)),
    )
    texts = [element("p", text.replace("`", "")) for text in document["info"]["description"].split("\n\n")]
    link = element("p", "The same as OpenAPI: ", element("a", "/openapi.json", href="/openapi.json"))
    body = element("body", element("h1", "hedgerow ", document["info"]["version"]), *texts, link, *parts)
    return f"<!doctype html>{element('html', head, body, lang='en')}"


def _route(document: Mapping[str, Any], method: str, path: str, facts: Mapping[str, Any]) -> Markup:
    roles = ROLES.get((method, path))
    who = "Without a token." if roles is None else f"For: {', '.join(sorted(roles))}."
    parts = [
        element("h3", element("span", method, **{"class": "method"}), element("code", path)),
        paragraph(" ".join(facts.get("description", facts.get("summary", "")).replace("`", "").split()), " ", who),
    ]
    if "requestBody" in facts:
        schema = _resolved(document, facts["requestBody"]["content"]["application/json"]["schema"])
        rows = [
            (name, _kind(field), " ".join(field.get("description", "").replace("`", "").split()))
            for name, field in schema["properties"].items()
        ]
        parts.append(grid(("field", "type", ""), rows, left=3))
    examples = {
        f"{status} {kind}": content["example"]
        for status, response in facts["responses"].items()
        for kind, content in response.get("content", {}).items()
        if "example" in content
    }
    problems = {title: example for title, example in examples.items() if "problem" in title}
    parts += [folded(title, _shown(example)) for title, example in examples.items() if title not in problems]
    if problems:
        numbers = ", ".join(title.partition(" ")[0] for title in problems)
        parts.append(folded(f"errors: {numbers}", *map(_shown, problems.values())))
    return joined(parts)


def _shown(example: object) -> Markup:
    return element("pre", json.dumps(example, indent=2, ensure_ascii=False), style=CODE)


def _kind(field: Mapping[str, Any]) -> str:
    kinds = [option.get("type", option.get("$ref", "").rpartition("/")[2]) for option in field.get("anyOf", [field])]
    return " or ".join(kind for kind in kinds if kind != "null")


def _resolved(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    name = schema["$ref"].rpartition("/")[2]
    resolved: Mapping[str, Any] = document["components"]["schemas"][name]
    return resolved
