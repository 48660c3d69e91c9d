"""Browsers and programs that ask a dashboard: Starlette's client, and single requests of any bytes."""

from __future__ import annotations

import asyncio
import json
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from equipoise.dashboard.access import Access, access
from equipoise.dashboard.app import app
from equipoise.dashboard.view import Dashboard

with warnings.catch_warnings():  # this client names a class of anyio as it was called before
    warnings.simplefilter("ignore", DeprecationWarning)
    from starlette.testclient import TestClient

PORT, TOKEN = 8642, "a-token-that-only-the-tests-know"
HOST = f"127.0.0.1:{PORT}"
HERE = f"http://{HOST}"
JSON = {"accept": "application/json"}
ACTING = {"authorization": f"Bearer {TOKEN}", "x-equipoise": "1"}
Pairs = Sequence[tuple[bytes, bytes]]
T = TypeVar("T")


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Visits:
    """The application, and two visitors: one without the token and one with it."""

    app: Any
    stranger: TestClient
    owner: TestClient

    def raw(self, method: str, path: bytes, query: bytes = b"", *, headers: Pairs = (), body: bytes = b"") -> Answer:
        """One request as given, with headers that no client library would send."""
        return asyncio.run(_asked(self.app, method, path, query, headers or [(b"host", HOST.encode())], body))


def visits(board: Dashboard, to: Access | None = None) -> Visits:
    to = to or access("127.0.0.1", PORT, TOKEN)
    made = app(board, to)
    base = to.address.rstrip("/")
    return Visits(made, _client(made, base), _client(made, base, {to.cookie: TOKEN}))


def _client(made: Any, base: str, cookies: Mapping[str, str] | None = None) -> TestClient:
    client = TestClient(made, base_url=base, follow_redirects=False)
    for name, value in (cookies or {}).items():
        client.headers["cookie"] = f"{name}={value}"
    return client


async def _asked(made: Any, method: str, path: bytes, query: bytes, headers: Pairs, body: bytes) -> Answer:
    from urllib.parse import unquote

    sent: list[dict[str, Any]] = []
    pieces = [{"type": "http.request", "body": body, "more_body": False}, {"type": "http.disconnect"}]

    async def receive() -> dict[str, Any]:
        return pieces.pop(0) if len(pieces) > 1 else pieces[0]

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1", "method": method,
        "scheme": "http", "path": unquote(path.decode("latin-1")), "raw_path": path, "query_string": query,
        "root_path": "", "headers": list(headers), "client": ("127.0.0.1", 50000), "server": ("127.0.0.1", PORT),
    }  # fmt: skip
    await made(scope, receive, send)
    start = next(message for message in sent if message["type"] == "http.response.start")
    found = {name.decode(): value.decode("latin-1") for name, value in start["headers"]}
    return Answer(start["status"], found, b"".join(message.get("body", b"") for message in sent))


def document(text: str, element: str) -> Any:
    """The JSON in the <script> element with that id."""
    _, _, rest = text.partition(f'id="{element}">')
    return json.loads(rest.partition("</script>")[0])


def until(found: Callable[[], T], seconds: float = 120.0) -> T:
    """The first true answer."""
    deadline = time.monotonic() + seconds
    while not (answer := found()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)
    return answer
