"""A client of the server's Control service, which starts and stops runs and knows the registered machines."""

from __future__ import annotations

from typing import Any


def control_client(address: str, certificate: bytes) -> Any:
    from flwr.supercore.control import ControlHttpClient
    from flwr.supercore.interceptors import RuntimeVersionHttpInterceptor

    interceptors = [RuntimeVersionHttpInterceptor(component_name="equipoise")]
    return ControlHttpClient.from_server_address(address, False, certificate, interceptors)
