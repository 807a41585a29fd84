"""Requests to a hedgerow service over HTTP, with the standard library alone. Safe to use from many threads."""

import http.client
import ipaddress
import json
import re
import select
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from hedgerow.errors import BackendError, HedgerowError, ParameterError, load_error

EXACT = "application/vnd.hedgerow+json"
"""Media type of whole objects, from which the client rebuilds them without loss."""

CONNECT_SECONDS = 10.0
KEPT_CONNECTIONS = 8
"""Number of idle connections that are kept open."""

TOKEN = re.compile(r"[\x21-\x7e]{1,16384}")


@dataclass(frozen=True, slots=True)
class ServiceAddress:
    """Address of one dataset of a service. `dataset` is empty where the URL names none."""

    secure: bool
    host: str
    port: int
    prefix: str
    dataset: str

    @classmethod
    def of(cls, url: str) -> "ServiceAddress":
        """Read a URL like https://host:8439/hospital. Plain HTTP is for this machine alone: it would show the token."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError:
            raise _bad_address("The address of the service is not a URL.") from None
        if not host or parts.query or parts.fragment:
            raise _bad_address("The address of a service is like https://host:8439/dataset.")
        if parts.username is not None or parts.password is not None:
            raise ParameterError(
                "The address of a service holds no credentials: it would be logged and shown.",
                code="bad-address",
                hint="Pass token=, or set HEDGEROW_TOKEN.",
            )
        secure = parts.scheme.lower() == "https"
        if not secure and not is_loopback(host):
            raise ParameterError(
                "Plain HTTP is allowed only to this machine: anybody on the network path could read the token.",
                code="bad-address",
                hint="Use https://.",
            )
        prefix, _, dataset = parts.path.rstrip("/").rpartition("/")
        return cls(secure, host, port or (443 if secure else 80), prefix, unquote(dataset))

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.secure else 'http'}://{host}:{self.port}{self.prefix}"


def is_loopback(host: str) -> bool:
    """Return True if a host is this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class HttpTransport:
    """Connections to one service, kept open between requests."""

    def __init__(self, address: ServiceAddress, token: str, ca: str | None = None) -> None:
        if not TOKEN.fullmatch(token):
            raise ParameterError("The token contains invalid characters.", code="bad-token")
        self.address = address
        self._headers = {"Authorization": f"Bearer {token}", "Accept": EXACT, "User-Agent": "hedgerow"}
        self._tls = _tls_context(ca) if address.secure else None
        self._lock = threading.Lock()
        self._idle: list[http.client.HTTPConnection] = []
        self._closed = False

    def call(self, method: str, path: str, body: object = None, *, text: str | None = None) -> Any:  # noqa: ANN401 - JSON
        """Send a request, and return the JSON of its response, or raise the error that it reports.

        Args:
            method: The method.
            path: The path below the address of the service.
            body: What to send, as plain JSON.
            text: The statement that an error points into.
        """
        sent = None if body is None else json.dumps(body, allow_nan=False).encode()
        status, content_type, content = self._exchange(method, f"{self.address.prefix}{path}", sent)
        try:
            document = json.loads(content) if content else None
        except ValueError:
            document = None
        if status < 300 and (document is not None or not content):
            return document
        if content_type == "application/problem+json" and isinstance(document, dict) and "error" in document:
            raise load_error(document["error"], text)
        raise BackendError(
            f"{self.address} did not answer as a hedgerow service does (HTTP status {status}).",
            code="not-a-service",
            hint="Check the address.",
        )

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            self._closed, idle = True, self._idle
            self._idle = []
        for connection in idle:
            connection.close()

    def _exchange(self, method: str, path: str, body: bytes | None) -> tuple[int, str, bytes]:
        headers = self._headers if body is None else {**self._headers, "Content-Type": "application/json"}
        connection = self._connection()
        try:
            with _lost(self.address):
                connection.request(method, path, body, headers)
                response = connection.getresponse()
                content = response.read()
        except BaseException:
            connection.close()
            raise
        with self._lock:
            keep = connection.sock is not None and not self._closed and len(self._idle) < KEPT_CONNECTIONS
            if keep:
                self._idle.append(connection)
        if not keep:
            connection.close()
        return response.status, response.headers.get_content_type(), content

    def _connection(self) -> http.client.HTTPConnection:
        """Return an idle connection that the service has not closed, or a new one."""
        while True:
            with self._lock:
                if self._closed:
                    raise BackendError("The connection to the service is closed.", code="closed")
                if not self._idle:
                    break
                connection = self._idle.pop()
            # an idle connection has something to read only if the service has closed it
            if connection.sock is not None and not select.select([connection.sock], [], [], 0)[0]:
                return connection
            connection.close()
        address = self.address
        connection = (
            http.client.HTTPConnection(address.host, address.port, timeout=CONNECT_SECONDS)
            if self._tls is None
            else http.client.HTTPSConnection(address.host, address.port, timeout=CONNECT_SECONDS, context=self._tls)
        )
        with _unreachable(address):
            connection.connect()
        _wait_without_end(connection.sock)
        return connection


def _tls_context(ca: str | None) -> ssl.SSLContext:
    """Return a context that verifies the service, by the system's authorities or by those in a file."""
    try:
        return ssl.create_default_context(cafile=ca)
    except (OSError, ssl.SSLError):
        raise ParameterError(
            "The file of certificate authorities cannot be read.", code="bad-ca", hint="Pass ca= as a PEM file."
        ) from None


def _wait_without_end(connection: socket.socket) -> None:
    """Wait for an answer as long as a statement may take, but notice a service that is gone."""
    connection.settimeout(None)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 6)):
        if hasattr(socket, name):
            with suppress(OSError):
                connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


@contextmanager
def _unreachable(address: ServiceAddress) -> Iterator[None]:
    try:
        yield
    except ssl.SSLCertVerificationError as error:
        raise BackendError(
            f"The certificate of {address} cannot be trusted: {error.verify_message}.",
            code="service-tls",
            hint="Pass ca= with the certificate of the authority that signed it.",
        ) from None
    except (OSError, http.client.HTTPException):
        raise BackendError(
            f"There is no service at {address}, or it cannot be reached.",
            code="service-unreachable",
            hint="Check host, port and network.",
        ) from None


@contextmanager
def _lost(address: ServiceAddress) -> Iterator[None]:
    try:
        yield
    except (OSError, http.client.HTTPException):
        raise HedgerowError(
            f"The connection to {address} was lost before the answer came.",
            code="service-lost",
            hint="A question may have been charged: asked again, it is free if it was answered.",
        ) from None


def _bad_address(message: str) -> ParameterError:
    return ParameterError(message, code="bad-address", hint="Write it like https://host:8439/hospital.")
