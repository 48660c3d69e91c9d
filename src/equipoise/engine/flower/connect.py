"""Connections to Flower's services, with retries that end.

Flower's own retry helper and heartbeat send an interrupt to the process that uses them; ours raise errors instead.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, TypeVar

from equipoise.core.errors import ConfigError, EngineError, MissingExtra

if TYPE_CHECKING:
    from flwr.supercore.retry import RetryInvoker
    from flwr.supercore.runtime import RuntimeHttpClient

ACQUIRE = "/flwr.proto.Runtime/AcquireTask"
T = TypeVar("T")
HEARTBEAT_SECONDS = 4.0
LONGEST_WAIT = 5.0
"""Seconds between two attempts to connect, at most."""


def require_flower() -> None:
    try:
        import flwr  # noqa: F401
    except ImportError as error:
        what, fix = "engine 'flower' needs the package flwr", "pip install 'equipoise[flower]'"
        raise MissingExtra(what, where="engine", fix=fix) from error


def retries(patience: float, noticed: Callable[[Any], None] | None = None) -> RetryInvoker:
    """Try again while nobody answers, for as long as `patience`; what the server refuses is raised at once. `noticed`
    is called at every attempt that fails."""
    import httpx
    from flwr.supercore.retry import RetryInvoker

    def is_final(error: Exception) -> bool:
        if isinstance(error, httpx.HTTPStatusError):
            return error.response.status_code not in (502, 503, 504)
        return any(word in str(error).lower() for word in ("certificate", "ssl", "tls"))

    def waits() -> Generator[float, None, None]:
        wait = 0.2
        while True:
            yield wait
            wait = min(LONGEST_WAIT, 2 * wait)

    return RetryInvoker(
        wait_gen_factory=waits,
        recoverable_exceptions=(httpx.TransportError, httpx.HTTPStatusError),
        max_tries=None,
        max_time=patience,
        should_giveup=is_final,
        jitter=None,
        on_backoff=noticed,
    )


def runtime(
    address: str, certificate: bytes | None, patience: float, token: str = "", secret: bytes = b""
) -> RuntimeHttpClient:
    """A client of a Runtime service: with a task's token, or with the secret that lets it claim tasks."""
    from flwr.supercore.interceptors import (
        RuntimeTokenHttpInterceptor,
        RuntimeVersionHttpInterceptor,
        SuperExecAuthHttpInterceptor,
    )
    from flwr.supercore.runtime import RuntimeHttpClient

    interceptors: list[Any] = [RuntimeVersionHttpInterceptor(component_name="equipoise")]
    if token:
        interceptors.append(RuntimeTokenHttpInterceptor(token))
    if secret:
        interceptors.append(SuperExecAuthHttpInterceptor(master_secret=secret, protected_methods=frozenset({ACQUIRE})))
    return RuntimeHttpClient.from_server_address(
        address, certificate is None, certificate, interceptors, retry_invoker=retries(patience)
    )


class Heartbeat:
    """Tells the server from a thread that a task is still worked on; `is_refused` if the server ended it."""

    def __init__(self, client: RuntimeHttpClient) -> None:
        self.is_refused = False
        self._client, self._over = client, threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._thread.start()

    def _beat(self) -> None:
        import httpx
        from flwr.proto.runtime_pb2 import SendTaskHeartbeatRequest
        from flwr.supercore.run import RunNotRunningException

        while not self._over.wait(HEARTBEAT_SECONDS):
            try:
                self.is_refused = not self._client.SendTaskHeartbeat(SendTaskHeartbeatRequest()).success
            except httpx.TransportError:
                continue  # the server is away for a moment: the next beat tells
            except (httpx.HTTPStatusError, RunNotRunningException):
                self.is_refused = True

    def stop(self) -> None:
        self._over.set()


def reached(what: str, address: str, call: Callable[[], T]) -> T:
    """The call's result; a connection that fails, or an answer that refuses, as an error in words."""
    import httpx

    where = f"{what} at {address}"
    try:
        return call()
    except httpx.HTTPStatusError as error:
        status, text = error.response.status_code, error.response.text[:300]
        raise EngineError(f"the server refused: {status} {text}", where=where, fix=_fix(status)) from error
    except (httpx.TransportError, httpx.InvalidURL, ValueError, OSError) as error:
        text = str(error) or type(error).__name__
        if "certificate" in text.lower() or "ssl" in text.lower():
            what, fix = f"the certificate does not fit: {text}", "give the ca.crt of that server, and look at its date"
            raise ConfigError(what, where=where, fix=fix) from error
        fix = "start it with `equipoise federation serve`, and check the address"
        raise EngineError(f"nobody answers: {text}", where=where, fix=fix) from error


def _fix(status: int) -> str:
    if status == 404:
        return "drivers connect to the server's own machine; nodes reach the fleet's routes alone"
    return "check engine.secret, and that the server runs the same version of Flower" if status in (401, 403) else ""
