"""A client that speaks the protocol by hand, and breaks it where a test wants to."""

import socket
import struct

from tests.service.wire.conftest import message

from hedgerow.service.shadow.relay import ScramProof

PATIENCE = 20.0
"""Seconds after which a silent server is a failure."""


class RawClient:
    """One connection without TLS."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.seen = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, *parts):
        self.socket.sendall(b"".join(parts))

    def receive(self):
        """Type and body of the next message; None at the end of the connection."""
        try:
            head = self._exactly(5)
            self.seen.append((head[:1], self._exactly(int.from_bytes(head[1:], "big") - 4)))
        except (EOFError, ConnectionError):
            return None
        return self.seen[-1]

    def until(self, *kinds):
        """The next message of one of these types, or None at the end of the connection."""
        while (reply := self.receive()) is not None and reply[0] not in kinds:
            pass
        return reply

    def _exactly(self, number):
        parts = b""
        while len(parts) < number:
            part = self.socket.recv(number - len(parts))
            if not part:
                raise EOFError
            parts += part
        return parts

    def start(self, user="ana", version=196608, **parameters):
        named = {"user": user, "database": "hospital", **parameters}
        body = b"".join(word.encode() + b"\0" for pair in named.items() for word in pair) + b"\0"
        self.send(struct.pack("!II", len(body) + 8, version), body)

    def log_in(self, password, user="ana", **parameters):
        """Log in; return the first message that is not about the login, or None."""
        self.start(user, **parameters)
        if (authentication := self.receive()) is None or authentication[0] != b"R":
            return authentication
        proof = ScramProof(password)
        self.send(sasl_first(proof.first()))
        challenge = self.receive()
        if challenge[0] != b"R":
            return challenge
        self.send(message(b"p", proof.final(challenge[1][4:])))
        return self.until(b"Z", b"E")


def sasl_first(text, mechanism="SCRAM-SHA-256"):
    """The message by which a client chooses a mechanism and begins."""
    return message(b"p", mechanism, struct.pack("!I", len(text)), text)


def fields(reply):
    """Fields of an error or a notice, by their letters."""
    return {chr(part[0]): part[1:].decode() for part in reply[1].split(b"\0") if part}
