"""Messages to a client, collected and sent together."""

import asyncio

LARGE = 64 * 1024
"""Number of bytes from which collected messages are sent at once."""


class Outbox:
    """Collects messages; `flush` sends them and waits while the client is slow to read."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._parts: list[bytes] = []
        self._size = 0
        self.codec = "utf-8"
        """Python's name of the client's encoding."""

    def add(self, *messages: bytes) -> None:
        """Collect messages."""
        self._parts += messages
        self._size += sum(map(len, messages))

    async def send(self, message: bytes) -> None:
        """Collect a message, and send all of them if they are many."""
        self._parts.append(message)
        self._size += len(message)
        if self._size > LARGE:
            await self.flush()

    async def flush(self) -> None:
        """Send what was collected."""
        if self._parts:
            self._writer.write(b"".join(self._parts))
            self._parts, self._size = [], 0
        await self._writer.drain()
