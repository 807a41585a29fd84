"""HTML for notebooks, built from elements that escape every text put into them.

Colours follow the page, light or dark: text is inherited, lines and fills are translucent. Nothing is loaded and no
script runs, so that an exported notebook shows the same without a network.
"""

from collections.abc import Iterable, Sequence
from html import escape

FRAME = "border:1px solid #8886;border-left:4px solid {colour};border-radius:4px;padding:.6em 1em;margin:.3em 0"
CELL = "padding:.25em .8em;border:none;border-bottom:1px solid #8883;vertical-align:top;text-align:{side}"
QUIET = "opacity:.75;margin:.3em 0"
CODE = (
    "margin:.5em 0;padding:.4em .6em;background:#8881;color:inherit;overflow-x:auto;font-family:monospace;"
    "white-space:pre;word-break:normal"
)
GREEN, YELLOW, RED, BLUE = "#2e9e5b", "#c99700", "#d1493f", "#4c78a8"


class Markup(str):
    """Complete HTML. Any other text is escaped when it is put into an element."""

    __slots__ = ()


def element(name: str, *parts: str, **attributes: str) -> Markup:
    """Return an HTML element.

    Example:
        >>> element("p", "1 < 2", element("em", "so"), style="margin:0")
        '<p style="margin:0">1 &lt; 2<em>so</em></p>'
    """
    listed = "".join(f' {key.replace("_", "-")}="{escape(value, quote=True)}"' for key, value in attributes.items())
    return Markup(f"<{name}{listed}>{joined(parts)}</{name}>")


def joined(parts: Iterable[str]) -> Markup:
    """Return several parts one after the other, texts among them escaped."""
    return Markup("".join(part if isinstance(part, Markup) else escape(part, quote=True) for part in parts))


def paragraph(*parts: str) -> Markup:
    """Return a line of secondary text."""
    return element("p", *parts, style=QUIET)


def panel(title: str, *parts: str, colour: str = BLUE) -> Markup:
    """Return a frame with a title."""
    heading = element("div", title, style="font-weight:600;margin-bottom:.3em")
    return element("div", heading, *parts, style=FRAME.format(colour=colour))


def grid(head: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> Markup:
    """Return a table; the first `left` columns are aligned to the left, the others to the right."""
    sides = ["left" if index < left else "right" for index in range(len(head))]
    styles = [CELL.format(side=side) for side in sides]
    names = [element("th", name, style=style) for name, style in zip(head, styles, strict=True)]
    lines = [
        element("tr", *(element("td", cell, style=style) for cell, style in zip(row, styles, strict=True)))
        for row in rows
    ]
    body = element("thead", element("tr", *names)), element("tbody", *lines)
    return element("table", *body, style="border-collapse:collapse;margin:.3em 0;background:none")


def gauge(fraction: float) -> Markup:
    """Return a bar that is full at 1. Every positive share is visible, and only a full one looks full."""
    part = min(max(fraction, 0.0), 1.0)
    percent = 0.0 if part == 0 else 100.0 if part == 1 else min(max(100 * part, 1.0), 99.0)
    colour = RED if part >= 0.9 else YELLOW if part >= 0.6 else GREEN
    fill = element("div", style=f"width:{percent:.1f}%;height:100%;background:{colour}")
    track = "display:inline-block;width:14em;height:.7em;background:#8883;border-radius:3px;overflow:hidden"
    return element("div", fill, style=track)


def folded(title: str, *parts: str) -> Markup:
    """Return parts that are shown when their title is clicked."""
    summary = element("summary", title, style="cursor:pointer;opacity:.75")
    return element("details", summary, *parts, style="margin:.3em 0")
