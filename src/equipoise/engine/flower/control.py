"""A client of the server's Control service, which starts and stops runs and knows the registered machines."""

from __future__ import annotations

from typing import Any

from equipoise.engine.flower.connect import retries

START_SECONDS = 15.0
"""How long a server that does not answer is asked again: one that died is started again within seconds."""


def control_client(address: str, certificate: bytes, patience: float = START_SECONDS) -> Any:
    from flwr.supercore.control import ControlHttpClient
    from flwr.supercore.interceptors import RuntimeVersionHttpInterceptor

    interceptors = [RuntimeVersionHttpInterceptor(component_name="equipoise")]
    invoker = retries(min(patience, START_SECONDS))
    return ControlHttpClient.from_server_address(address, False, certificate, interceptors, retry_invoker=invoker)
