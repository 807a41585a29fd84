"""Messages in the words of the command line: where Python has `max_rows=5`, it has `--max-rows 5`."""

import re

OPTIONS = (
    *("epsilon", "delta", "within", "confidence", "min_frequency", "mechanism", "max_rows", "max_groups", "bounds"),
    *("dialect", "analyst", "ledger", "catalog"),
)
"""The options of Python that the command line has too."""

_OPTION = re.compile(rf"\b({'|'.join(OPTIONS)})=(?:\"([^\"]*)\"|([\w.+-]*\w))?")
_PARAMETERS = re.compile(r",? or pass params=[\[{].*?[\]}](?: with one value for each \?)?")


def in_words_of_command_line(text: str) -> str:
    """The text with options as the command line has them, and without what it does not have.

    Example:
        >>> in_words_of_command_line('Declare max_rows, or pass max_rows=. Ask with mechanism="gaussian".')
        'Declare max_rows, or pass --max-rows. Ask with --mechanism gaussian.'
        >>> in_words_of_command_line("Write the value itself, or pass params=[…] with one value for each ?.")
        'Write the value itself.'
    """
    return _OPTION.sub(_option, _PARAMETERS.sub("", text))


def _option(found: re.Match[str]) -> str:
    name = f"--{found[1].replace('_', '-')}"
    value = found[2] or found[3]
    return name if not value else f"{name} {value}"
