"""The charting library, which is an extra, and text that is safe to hand to it."""

import re
from types import ModuleType
from typing import Any, TypeAlias

from hedgerow.answer.plain import on_one_line
from hedgerow.errors import ParameterError

AnyChart: TypeAlias = Any
"""A chart of Altair: it displays itself in a notebook, and has `save` and `to_dict`."""

JOINER = "\N{WORD JOINER}"
TAG = re.compile(r"<(?=[/!?a-zA-Z])")


def altair() -> ModuleType:
    """Altair, imported when the first chart is drawn."""
    try:
        import altair as alt  # noqa: PLC0415 - an extra, and slow to import
    except ImportError:
        raise ParameterError(
            "Charts are drawn with the library Altair, which is not installed.",
            code="no-plots",
            hint='Install the extra plots: pip install "hedgerow[plots]".',
        ) from None
    return alt


def harmless(text: str) -> str:
    """Text that means the same to people and nothing to a browser.

    Altair puts the specification of a chart into the script of a page without escaping it, so a key like `</script>`
    could end that script. An invisible character after the `<` takes that power away.

    Example:
        >>> harmless("</script>") == "<" + JOINER + "/script>", harmless("age < 30")
        (True, 'age < 30')
    """
    return TAG.sub(f"<{JOINER}", on_one_line(text))
