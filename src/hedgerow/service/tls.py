"""The certificate of the service."""

import os
import ssl
from pathlib import Path

from hedgerow.errors import CatalogError
from hedgerow.service.configuration import TlsFiles

EVERYBODY = 0o007
"""Permissions of users that are neither the owner nor in the group."""


def server_context(files: TlsFiles) -> ssl.SSLContext:
    """Return the TLS settings of both listeners: version 1.2 or later, with the owner's certificate."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    load_certificate(context, files)
    return context


def load_certificate(context: ssl.SSLContext, files: TlsFiles) -> None:
    """Load certificate and key, for connections from now on; the old ones stay if the new cannot be used."""
    key = Path(files.key)
    try:
        exposed = os.name == "posix" and bool(key.stat().st_mode & EVERYBODY)
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(files.certificate, files.key, _no_passphrase)
    except (OSError, ssl.SSLError, ValueError):
        raise CatalogError(
            "The certificate and the key in [serve.tls] cannot be read, or do not belong together.",
            code="serve-tls",
            hint="Both are PEM files: the certificate with its chain, and the private key without a passphrase.",
        ) from None
    if exposed:
        raise CatalogError(
            f"Every user of this machine may read the private key {key.name} of [serve.tls].",
            code="serve-tls",
            hint=f"Run: chmod 600 {key}. If others could read it for some time, ask for a new certificate.",
        )
    context.load_cert_chain(files.certificate, files.key)


def _no_passphrase() -> str:
    """Refuse a key with a passphrase, instead of asking for it on a terminal."""
    raise ValueError
