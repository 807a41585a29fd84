"""A listener for HTTP: uvicorn in the service's own event loop."""

import asyncio
import socket

import uvicorn

BACKLOG = 256


class UvicornListener:
    """Serves an ASGI application at one address; port 0 stands for any free port."""

    def __init__(self, config: uvicorn.Config, host: str, port: int) -> None:
        self._config = config
        self._host, self._port = host, port
        self._server = uvicorn.Server(config)
        self._loop: asyncio.Task[None] | None = None

    @property
    def address(self) -> str:
        """Host and port, such as 127.0.0.1:8439."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{host}:{self._port}"

    async def start(self) -> None:
        """Listen; return once clients can connect."""
        listening = self._bound()
        self._port = listening.getsockname()[1]
        self._config.load()
        self._server.lifespan = self._config.lifespan_class(self._config)
        await self._server.startup(sockets=[listening])
        self._loop = asyncio.create_task(self._server.main_loop())

    async def stop(self, grace: float) -> None:
        """Accept no new connections, and close the open ones once their responses are sent.

        Args:
            grace: Seconds that running requests have to end.
        """
        if self._loop is None:
            return
        self._server.should_exit = True
        await self._loop
        self._config.timeout_graceful_shutdown = max(1, round(grace))
        await self._server.shutdown()
        self._loop = None

    def _bound(self) -> socket.socket:
        """Return a socket at the address, listening; raise the system's error if that cannot be."""
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        # asyncio sends small packets at once only on sockets that name their protocol
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((self._host, self._port))
            listening.listen(BACKLOG)
        except OSError:
            listening.close()
            raise
        listening.setblocking(False)  # noqa: FBT003 - its signature
        return listening
