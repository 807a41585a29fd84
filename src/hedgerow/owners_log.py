"""The owner's log: causes of failures, which may quote private values. Kept next to the ledger, for the owner alone.

Every record goes to the Python logger `hedgerow.owner`, to which an owner may attach handlers, and to the file of the
database that it is about; if that is unknown, to those of all open databases. A file is opened for each record,
under a lock, and closed again: failures are rare, several processes may write to one file, and nothing is inherited by
a fork.
"""

import logging
import os
import secrets
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import pairwise
from pathlib import Path
from stat import S_ISREG

from hedgerow.errors import InternalError

try:
    import fcntl
except (
    ImportError
):  # pragma: no cover - Windows has other locks; there, two processes that rotate at once may lose lines
    fcntl = None  # type: ignore[assignment]

VARIABLE = "HEDGEROW_OWNER_LOG"
"""Environment variable that names another file than the one next to the ledger."""

ENDING = ".owner.log"
LARGEST, KEPT = 5_000_000, 3
"""Size in bytes at which a file is rotated, and number of rotated files that are kept."""

FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
LOGGED = "The owner's log has the cause under that number."
NOT_LOGGED = (
    "The cause is not kept: there is no place for an owner's log, and no handler at the Python logger hedgerow.owner."
)

log = logging.getLogger("hedgerow.owner")
log.addHandler(logging.NullHandler())
log.propagate = False


class OwnersFile(logging.Handler):
    """A log in a file that only its owner can read, rotated when it has grown large."""

    def __init__(self, path: Path, *, largest: int = LARGEST) -> None:
        super().__init__()
        self.path = path
        self._largest = largest
        self.setFormatter(logging.Formatter("%(asctime)s %(process)d %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record. A failure to write is ignored."""
        if _about.get() not in {None, self.path}:
            return
        line = f"{self.format(record)}\n".encode(errors="backslashreplace")
        with suppress(OSError):
            descriptor = self._opened(len(line))
            try:
                os.write(descriptor, line)
            finally:
                os.close(descriptor)
            _last.written = True

    def _opened(self, more: int) -> int:
        """Return the file, locked, with room for `more` bytes; a new file is readable by its owner alone."""
        while True:
            descriptor = os.open(self.path, FLAGS, 0o600)
            try:
                _require_own(descriptor)
                if fcntl is not None:
                    fcntl.flock(descriptor, fcntl.LOCK_EX)
                if self._is_current(descriptor) and os.fstat(descriptor).st_size + more <= max(self._largest, more):
                    return descriptor
                if self._is_current(descriptor):
                    self._rotate()
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)

    def _is_current(self, descriptor: int) -> bool:
        """True if no process has rotated the file since it was opened."""
        try:
            return os.path.samestat(os.fstat(descriptor), self.path.stat())
        except FileNotFoundError:
            return False

    def _rotate(self) -> None:
        names = [self.path, *(self.path.with_name(f"{self.path.name}.{number}") for number in range(1, KEPT + 1))]
        for newer, older in reversed(list(pairwise(names))):
            with suppress(FileNotFoundError):
                newer.replace(older)


def _require_own(descriptor: int) -> None:
    """Refuse anything but a file, and remove the permissions of everybody but its owner."""
    status = os.fstat(descriptor)
    if not S_ISREG(status.st_mode):
        raise OSError
    if status.st_mode & 0o077 and hasattr(os, "fchmod"):
        os.fchmod(descriptor, 0o600)


_lock = threading.Lock()
_users: Counter[Path] = Counter()
_about: ContextVar[Path | None] = ContextVar("hedgerow_owners_log", default=None)
_last = threading.local()
"""`written`: True if a file took the last record of this thread."""


def beside(ledger: Path | None) -> Path | None:
    """Return the log file next to a ledger, or the one that the environment names; None without either."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(os.path.realpath(named))
    return None if ledger is None else ledger.with_suffix(ENDING)


@contextmanager
def about(path: Path | None) -> Iterator[None]:
    """Send the records of the block to this database's log, and to no other file."""
    before = _about.set(path)
    try:
        yield
    finally:
        _about.reset(before)


def keep(path: Path | None) -> None:
    """Keep a log there until every `keep` is undone. The file is created with its first record."""
    if path is None:
        return
    with _lock:
        _users[path] += 1
        if all(file.path != path for file in _files()):
            log.addHandler(OwnersFile(path))


def let_go(path: Path | None) -> None:
    """Undo one `keep`."""
    if path is None:
        return
    with _lock:
        _users[path] -= 1
        if _users[path] <= 0:
            del _users[path]
            for file in _files():
                if file.path == path:
                    log.removeHandler(file)


def record(incident: str, *, cause: BaseException | None = None, text: str = "") -> str:
    """Log the cause of an incident, and return a sentence that says whether the owner can find it.

    Privacy: the sentence depends on where logs are kept, never on the cause.
    """
    _last.written = False
    log.error("incident %s%s", incident, text, exc_info=cause)
    others = [handler for handler in log.handlers if not isinstance(handler, OwnersFile | logging.NullHandler)]
    return LOGGED if _last.written or others or log.propagate else NOT_LOGGED


def withheld(error: BaseException) -> InternalError:
    """Return the error that stands for an exception of a kind that should not occur, whose cause is logged.

    Privacy: the message of such an exception could quote private values; it goes to the owner's log alone.
    """
    incident = secrets.token_hex(4)
    kept = record(incident, cause=error)
    bug = InternalError(
        f"hedgerow has an internal error (incident {incident}).",
        hint=f"This is a bug. Its cause is not shown, because it could quote private values. {kept}",
    )
    bug.receipt, bug.repeatable = getattr(error, "receipt", None), getattr(error, "repeatable", False)
    return bug


def _files() -> list[OwnersFile]:
    return [handler for handler in log.handlers if isinstance(handler, OwnersFile)]
