"""The owner's key: an Ed25519 key that signs certificates, and its public half, by which others check them.

The private key is a PEM file (PKCS 8) that only its owner may read. The public key is one line of text,
`ed25519:` and 64 hexadecimal digits, in a file beside it with the ending `.pub`.
"""

import hashlib
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from hedgerow.errors import ParameterError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

# cryptography is imported where it is used: no question needs it.

PREFIX = "ed25519:"
_TEXT = re.compile(rf"{PREFIX}([0-9a-f]{{64}})")
MODE = 0o600
"""Only the owner of the file may read and write a private key."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A public key, as text. `str(key)` is what others pin."""

    digits: str

    def __str__(self) -> str:
        return f"{PREFIX}{self.digits}"

    @classmethod
    def of(cls, text: str) -> Self:
        """Read a key that was written as text."""
        match = _TEXT.fullmatch(text.strip())
        if match is None:
            raise ParameterError(
                "This is not a public key of hedgerow.",
                code="key-unreadable",
                hint=f"A public key is {PREFIX} and 64 hexadecimal digits; `hedgerow key show` prints it.",
            )
        return cls(match[1])

    @property
    def fingerprint(self) -> str:
        """Thirty-two digits in groups of four, to compare by eye or to read out."""
        digits = hashlib.sha256(bytes.fromhex(self.digits)).hexdigest()[:32]
        return " ".join(digits[start : start + 4] for start in range(0, 32, 4))

    def verifies(self, signature: bytes, message: bytes) -> bool:
        """Return True if the owner of this key signed `message`."""
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

        try:
            Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.digits)).verify(signature, message)
        except (InvalidSignature, ValueError):
            return False
        return True


class OwnerKey:
    """A private key in memory. Its repr shows nothing."""

    def __init__(self, key: "Ed25519PrivateKey") -> None:
        self._key = key

    @property
    def public(self) -> PublicKey:
        """Its public half."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat  # noqa: PLC0415

        return PublicKey(self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex())

    def sign(self, message: bytes) -> bytes:
        """Sign a message; the same message has the same signature."""
        return self._key.sign(message)


def new_key(path: Path) -> OwnerKey:
    """Generate a key, and write both files; refuse if one of them exists."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat  # noqa: PLC0415

    key = Ed25519PrivateKey.generate()
    owner = OwnerKey(key)
    _create(path, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), MODE)
    try:
        _create(public_file(path), f"{owner.public}\n".encode(), 0o644)
    except ParameterError:
        path.unlink()
        raise
    return owner


def public_file(path: Path) -> Path:
    """The file of the public key beside that of the private one."""
    return path.with_suffix(".pub")


def _create(path: Path, content: bytes, mode: int) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError:
        raise ParameterError(
            f"{path} exists. A key is never overwritten: certificates that it signed could no longer be continued.",
            code="key-exists",
            hint="Name another file, or move this one away.",
        ) from None
    except OSError:
        raise ParameterError(
            f"{path} cannot be written.", code="output-unwritable", hint="Check the folder and the disk."
        ) from None
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(content)


def read_key(path: Path) -> OwnerKey:
    """Read a private key, if only its owner can."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415

    try:
        open_to_others = os.name != "nt" and stat.S_IMODE(path.stat().st_mode) & 0o077
        content = path.read_bytes()
    except OSError:
        raise ParameterError(
            f"There is no key at {path}.", code="key-missing", hint=f"Make one, once: hedgerow key new {path}"
        ) from None
    if open_to_others:
        raise ParameterError(
            f"Others on this machine can read or write {path}.", code="key-open", hint=f"Write: chmod 600 {path}"
        )
    try:
        key = load_pem_private_key(content, None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise ParameterError(
            f"{path} holds no Ed25519 key without a password.",
            code="key-unreadable",
            hint="Name the file that `hedgerow key new` wrote.",
        )
    return OwnerKey(key)


def read_public_key(key_or_path: str) -> PublicKey:
    """Return the public key that a text states, or that a file holds."""
    if key_or_path.startswith(PREFIX):
        return PublicKey.of(key_or_path)
    try:
        text = Path(key_or_path).read_text(encoding="ascii")
    except (OSError, ValueError):
        raise ParameterError(
            f"There is no public key at {key_or_path}.",
            code="key-missing",
            hint=f"Pass {PREFIX}…, or the file ending in .pub that `hedgerow key new` wrote.",
        ) from None
    return PublicKey.of(text)
