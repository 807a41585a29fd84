"""Files that browsers load from the console itself: the style, and the script of the editor."""

import hashlib
from importlib.resources import files

from fastapi import APIRouter
from starlette.responses import Response

FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}


def _read(*names: str) -> tuple[str, bytes]:
    """Return the address and the content of files. The address changes with the content: browsers may keep it."""
    content = b"".join((files("hedgerow.service.console") / name).read_bytes() for name in names)
    stem, ending = names[0].rsplit(".", 1)
    return f"/console/{stem}-{hashlib.sha256(content).hexdigest()[:16]}.{ending}", content


STYLE, STYLE_CONTENT = _read("console.css", "pages.css")
EDITOR_SCRIPT, EDITOR_CONTENT = _read("editor.js")


def asset_routes() -> APIRouter:
    """Return the routes of these files, which need no session."""
    routes = APIRouter()

    @routes.get(STYLE, include_in_schema=False)
    def style() -> Response:
        return Response(STYLE_CONTENT, media_type="text/css", headers=FOREVER)

    @routes.get(EDITOR_SCRIPT, include_in_schema=False)
    def editor_script() -> Response:
        return Response(EDITOR_CONTENT, media_type="text/javascript", headers=FOREVER)

    return routes
