"""Runs the server on a socket of its own until it is interrupted."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn

from equipoise.core.errors import ConfigError
from equipoise.dashboard.access import Access
from equipoise.dashboard.app import app
from equipoise.dashboard.view import Dashboard
from equipoise.store.transact import Store

LARGEST_HEADERS = 16384
"""Bytes of a request before its body."""


def bound(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one."""
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(kind, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        listening.close()
        what = f"cannot listen on {host}, port {port}: {error}"
        raise ConfigError(
            what, where="equipoise serve", fix="give another --port, or --port 0 for a free one"
        ) from error
    return listening


def serve(store: Store, location: str, access: Access, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Until Ctrl-C or SIGTERM; `ready` is called once pages can be asked for."""
    board = Dashboard(store, location)
    config = uvicorn.Config(
        app(board, access),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=LARGEST_HEADERS,
        http="h11",
        ws="none",
        loop="asyncio",
    )
    _AnnouncingServer(config, ready).run(sockets=[listening])


class _AnnouncingServer(uvicorn.Server):  # type: ignore[misc]
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready()
