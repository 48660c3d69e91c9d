"""What machines can reach of a server: the fleet's routes, over TLS, and nothing else.

    machine ─TLS→ proxy :PORT /v1/fleet/… ─TLS→ SuperLink on loopback        everything else → 404

Flower's Control service has no authentication, so it must be reachable from the server's own machine only.
"""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

FLEET = "/v1/fleet/"
MOST = 64 * 2**20
"""Bytes of one request: Flower sends large messages in pieces of 5 MiB."""
SECONDS = 60.0
OWN_HEADERS = {"host", "connection", "transfer-encoding", "content-length", "keep-alive", "upgrade"}
"""Headers that belong to one connection, and are made anew for the next."""


def fleet_only(address: str, certificate: Path) -> Starlette:
    """An application that passes the fleet's requests on to the server at that address."""
    import httpx
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Route

    context = ssl.create_default_context(cafile=str(certificate))
    client = httpx.AsyncClient(base_url=f"https://{address}", verify=context, timeout=SECONDS, trust_env=False)

    async def pass_on(request: Request) -> Response:
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > MOST:
                return Response("too large", 413)
        headers = [(key, value) for key, value in request.headers.items() if key not in OWN_HEADERS]
        path = FLEET + request.path_params["rest"]
        try:
            found = await client.post(path, content=bytes(body), headers=headers, params=request.query_params)
        except httpx.TransportError:
            return Response("the server behind this proxy does not answer", 503)
        kept = {key: value for key, value in found.headers.items() if key not in {*OWN_HEADERS, "content-encoding"}}
        return Response(found.content, found.status_code, kept)

    return Starlette(routes=[Route(f"{FLEET}{{rest:path}}", pass_on, methods=["POST"])])
