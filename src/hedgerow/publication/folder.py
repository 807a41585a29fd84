"""Write a release to disk: all files or none, and never over a folder that is not such a release."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp

from hedgerow.errors import ParameterError
from hedgerow.publication.certificate import FILE, NoCertificate, read_certificate


def require_writable(folder: Path, ledger: str) -> None:
    """Refuse a folder that is not an earlier release of the same ledger, or that holds other files. Nothing is written.

    It is called before anything is paid for.
    """
    parent = folder.absolute().parent
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise ParameterError(
            f"{folder} cannot be written.", code="output-unwritable", hint="Check the folder and the disk."
        )
    if not os.path.lexists(folder):
        return
    if folder.is_symlink() or not folder.is_dir():
        raise _not_ours(folder, "it is not a folder")
    names = set(_names(folder))
    if not names:
        return
    try:
        certificate = read_certificate((folder / FILE).read_bytes())
        known, listed = certificate.content["ledger"]["id"], set(certificate.files)
    except (OSError, NoCertificate, KeyError, TypeError):
        raise _not_ours(folder, "it holds something else than a release") from None
    if known != ledger:
        raise _not_ours(folder, "it is a release of another ledger")
    if other := sorted(names - listed - {FILE}):
        raise _not_ours(folder, f"it also holds {other[0]}, which would be lost")


def _not_ours(folder: Path, why: str) -> ParameterError:
    return ParameterError(
        f"{folder} is not replaced: {why}.", code="folder-not-ours", hint="Name a new folder with -o."
    )


def _names(folder: Path) -> list[str]:
    """List everything in a folder but its folders, by path."""
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()]


def write_folder(folder: Path, files: Mapping[str, bytes], ledger: str) -> bool:
    """Write a release, completely or not at all. Return False if the folder holds just these files already.

    The files are written to a new folder beside it, made durable, and the new folder is renamed. An earlier release is
    moved aside first, and back if the renaming fails.
    """
    require_writable(folder, ledger)
    if folder.is_dir() and _holds(folder, files):
        return False
    target = folder.absolute()
    draft = Path(mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        for name, content in files.items():
            _write(draft / name, content)
        draft.chmod(0o755)
        _swap(draft, target)
    except OSError:
        raise ParameterError(
            f"{folder} cannot be written.", code="output-unwritable", hint="Check the folder and the disk."
        ) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return True


def _holds(folder: Path, files: Mapping[str, bytes]) -> bool:
    if set(_names(folder)) != set(files):
        return False
    return all((folder / name).is_file() and (folder / name).read_bytes() == content for name, content in files.items())


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _swap(draft: Path, target: Path) -> None:
    """Rename the draft to the target; an earlier folder there is removed afterwards, or restored."""
    earlier = None
    if target.exists():
        earlier = Path(mkdtemp(prefix=f".{target.name}.old.", dir=target.parent)) / target.name
        target.rename(earlier)
    try:
        draft.rename(target)
    except OSError:
        if earlier is not None:
            earlier.rename(target)
        raise
    finally:
        if earlier is not None:
            shutil.rmtree(earlier.parent, ignore_errors=True)
