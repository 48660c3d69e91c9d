"""equipoise serve"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from equipoise.cli.options import StoreAt


def serve(
    host: Annotated[
        str,
        typer.Option("--host", help="The address to listen on; any but a loopback address needs the token to read."),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="0 takes a free one.")] = 8642,
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", help="A file with a token of your own, readable by you only.", show_default=False),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option("--name", help="A further host name under which browsers reach it.", show_default=False),
    ] = None,
    store: StoreAt = None,
) -> None:
    """Watch runs in a browser while they go on.

    Pages only read the store. With the token of the second printed address a run can be stopped, resumed or started.
    Ctrl-C ends the dashboard; runs go on.

    [bold]Examples[/]

      equipoise serve

      equipoise serve --store runs/study.db --port 9000
    """
    from equipoise.api.serve import serve as run
    from equipoise.dashboard.access import is_loopback

    def ready(page: str, sign_in: str) -> None:
        if not is_loopback(host):
            print(
                f"open to the network on {host}: reading and acting need the token; it travels without TLS",
                file=sys.stderr,
            )
        print(f"watch:  {page}", flush=True)
        print(f"act:    {sign_in}", flush=True)

    run(store, host=host, port=port, token_file=token_file, names=name or (), ready=ready)
