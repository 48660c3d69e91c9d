"""equipoise join"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def join(
    server: Annotated[str, typer.Option("--server", metavar="HOST:PORT", help="Where the federation is served.")],
    certificate: Annotated[Path, typer.Option("--certificate", help="The server's ca.crt.")],
    key: Annotated[Path, typer.Option("--key", help="This machine's private key.")],
    data: Annotated[
        Path | None, typer.Option("--data", help="The data folder, or a share of `federation split`; it stays here.")
    ] = None,
    state: Annotated[
        Path | None, typer.Option("--state", help="Where clients' states are kept. [default: beside the key]")
    ] = None,
    policy: Annotated[Path | None, typer.Option("--policy", help="What runs may do here: a YAML file.")] = None,
    poll: Annotated[float, typer.Option("--poll", min=0.05, help="Seconds between two questions for work.")] = 0.5,
    device: Annotated[str, typer.Option("--device", help="cpu, cuda, cuda:1, mps; auto: the accelerator.")] = "auto",
) -> None:
    """Let this machine take part in a federation with its own data, until Ctrl-C. The data never leaves it.

    [bold]Examples[/]

      equipoise join --server 127.0.0.1:9092 --certificate federation/ca.crt --key federation/keys/a --data shares/a
    """
    from equipoise.core.errors import DataError
    from equipoise.engine.flower.join import Post
    from equipoise.engine.flower.join import join as take_part
    from equipoise.engine.flower.machine import ClientMachine
    from equipoise.engine.flower.policy import read_policy

    if data is not None and not data.is_dir():
        raise DataError(f"there is no folder {data}", where="--data", fix="check the path")
    folder = state or key.parent / f"{key.name}.state"
    post = Post(server, certificate.resolve(), key.resolve(), folder, poll)
    machine = ClientMachine(data, folder / "clients", read_policy(policy), device)
    try:
        take_part(post, machine, lambda text: print(text, file=sys.stderr, flush=True))
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
