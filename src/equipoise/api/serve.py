"""Opens the dashboard over a store, until it is interrupted. The only API file that uses the dashboard."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from equipoise.api.place import StoreAt, located
from equipoise.core.errors import ConfigError, MissingExtra

PORT = 8642


def serve(
    store: StoreAt = None,
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    token_file: Path | None = None,
    names: Collection[str] = (),
    ready: Callable[[str, str], None] = lambda page, sign_in: None,
) -> None:
    """Serve live pages over a store, which is made if there is none yet.

    Args:
        host: the address to listen on; on any but a loopback address reading needs the token, too.
        port: 0 takes a free one.
        token_file: a file with a token of your own; otherwise a random one is made.
        names: further host names under which browsers reach it.
        ready: called with the address of the pages, and with the address that signs a browser in.
    """
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise MissingExtra("the dashboard needs: pip install 'equipoise[serve]'") from None
    from equipoise.dashboard import access as doors
    from equipoise.dashboard.serve import bound
    from equipoise.dashboard.serve import serve as run
    from equipoise.store.database import open_store

    if not 0 <= port <= 65535:
        raise ConfigError(f"there is no port {port}", where="--port", fix="give a number from 0 to 65535")
    token = doors.read_token(token_file) if token_file is not None else None
    location = located(store)
    opened = open_store(location)
    with bound(host, port) as listening:
        access = doors.access(host, listening.getsockname()[1], token, names)
        run(opened, location, access, listening, lambda: ready(access.address, access.sign_in))
