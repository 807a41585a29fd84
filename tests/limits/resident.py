"""Memory of this process, as Linux counts it.

The code of the engines is no growth: chdb alone maps half a gigabyte, which comes into memory page by page as it is
first run, and which Linux may drop again at any time. So all of it is read before the first measurement.
"""

import ctypes
from pathlib import Path

MADV_POPULATE_READ = 22


def read_all_code():
    """Bring every page of every file that is mapped into memory."""
    madvise = ctypes.CDLL(None).madvise
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        addresses, rights, _, _, _, *path = line.split(maxsplit=5)
        if rights[0] == "r" and path and path[0].startswith("/"):
            start, end = (int(address, 16) for address in addresses.split("-"))
            madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), MADV_POPULATE_READ)


def megabytes(field):
    """`VmRSS`, what it has now, or `VmHWM`, the most it ever had."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1000 * 1.024 for line in lines if line.startswith(f"{field}:"))
