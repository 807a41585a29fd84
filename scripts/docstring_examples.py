"""Extension of griffe: sections called `Example:` in docstrings are shown as code, as `Examples:` are."""

import re
from typing import Any

from griffe import Extension, Object

HEADING = re.compile(r"^Example:$", re.MULTILINE)


class DocstringExamples(Extension):
    """Renames the section before docstrings are parsed."""

    def on_object(self, *, obj: Object, **_: Any) -> None:  # noqa: ANN401 - griffe passes on what it knows
        """Rename the section of one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = HEADING.sub("Examples:", obj.docstring.value)
