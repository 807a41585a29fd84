"""The `limits` of a catalog: how much time, memory and how many rows one statement may take."""

import re

from hedgerow.catalog import codes
from hedgerow.catalog.entry import Entry
from hedgerow.catalog.strict import integer, within
from hedgerow.limits import UNDECLARED, StatementLimits

FIELDS = ("seconds", "memory", "rows", "joined_rows", "rows_per_person")
SHORTEST, LONGEST = 0.1, 7 * 86_400.0
LEAST_MEMORY, MOST_MEMORY = 64 * 10**6, 10**15
MOST_ROWS = 10**9
MOST_JOINED = 10**18

_MEMORY = re.compile(r"([1-9][0-9]{0,5}) ?(MB|GB|TB)")
_BYTES = {"MB": 10**6, "GB": 10**9, "TB": 10**12}


def read_limits(entry: Entry) -> StatementLimits:
    """The limits of one statement; those that are not written have their default."""
    found = entry.fields(FIELDS)

    def rows(name: str, most: int) -> int:
        return integer(found[name], 1, most) if name in found else int(getattr(UNDECLARED, name))

    return StatementLimits(
        seconds=within(found["seconds"], SHORTEST, LONGEST) if "seconds" in found else UNDECLARED.seconds,
        memory=read_memory(found["memory"]) if "memory" in found else UNDECLARED.memory,
        rows=rows("rows", MOST_ROWS),
        joined_rows=rows("joined_rows", MOST_JOINED),
        rows_per_person=rows("rows_per_person", MOST_JOINED),
    )


def read_memory(entry: Entry) -> int:
    """A number of bytes such as `500MB` or `4GB`."""
    match = _MEMORY.fullmatch(str(entry.scalar()))
    value = int(match[1]) * _BYTES[match[2]] if match else 0
    if LEAST_MEMORY <= value <= MOST_MEMORY:
        return value
    raise entry.error(
        f"`{entry.name}` is {entry.written}, and an amount of memory from 64MB to 1000TB is expected.",
        code=codes.CHOICE,
        hint="Write a whole number and its unit: 500MB, 4GB or 1TB.",
    )
