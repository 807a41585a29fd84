"""Messages to a client, collected and sent together."""

import asyncio

LARGE = 64 * 1024
"""Number of bytes from which collected messages are sent at once."""


class Outbox:
    """Collects messages; `flush` sends them and waits while the client is slow to read, for so many seconds."""

    def __init__(self, writer: asyncio.StreamWriter, seconds: float) -> None:
        self._writer = writer
        self._seconds = seconds
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
        if not self._writer.transport.get_write_buffer_size():
            return
        try:
            async with asyncio.timeout(self._seconds):
                await self._writer.drain()
        except TimeoutError:
            self._writer.transport.abort()
            raise ConnectionAbortedError("the client does not read") from None
