"""equipoise federation: certificates and keys, the server, who is there, and shares of a data set."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated

import typer

from equipoise.cli.options import Json, Overrides, print_json

app = typer.Typer(no_args_is_help=True, help="Real machines: keys, the server, who is there, shares of a data set.")

FOLDER = typer.Argument(help="The federation's folder.")
MACHINES = typer.Option("--machines", metavar="A,B,C", help="Names of the machines, separated by commas.")
DRIVER_PORT = typer.Option("--driver-port", help="Where drivers connect, on this machine only.")
PORT = typer.Option("--port", help="Where machines connect.")


@app.command("init")
def init(
    machines: Annotated[str, MACHINES],
    folder: Annotated[Path, FOLDER] = Path("federation"),
    host: Annotated[
        list[str] | None, typer.Option("--host", help="A name or address by which machines reach the server.")
    ] = None,
    port: Annotated[int, PORT] = 9092,
) -> None:
    """Make certificates for the server and a key for each machine, and print what to start where.

    New names can be added later; what is there stays as it is.

    [bold]Examples[/]

      equipoise federation init --machines a,b,c

      equipoise federation init --machines clinic-1,clinic-2 --host server.example.org
    """
    from equipoise.engine.flower.authority import make_federation

    keys = make_federation(folder, _names(machines), host or [])
    typer.echo(f"{folder}: certificates, and keys of {', '.join(path.name for path in keys)}\n")
    typer.echo(f"On the server:\n  equipoise federation serve {folder} --port {port}\n")
    for path in keys:
        typer.echo(f"On machine {path.name}, with {folder / 'ca.crt'} and {path}:")
        where = f"--server {(host or ['127.0.0.1'])[0]}:{port} --certificate {folder / 'ca.crt'}"
        typer.echo(f"  equipoise join {where} --key {path} --data FOLDER\n")
    typer.echo("Keys are private: take each to its machine, and delete it here. The server needs the .pub files only.")


@app.command("serve")
def serve(
    folder: Annotated[Path, FOLDER] = Path("federation"),
    host: Annotated[str, typer.Option("--host", help="The address that machines reach.")] = "0.0.0.0",
    port: Annotated[int, PORT] = 9092,
    driver_port: Annotated[int, DRIVER_PORT] = 9093,
) -> None:
    """Start the server, until Ctrl-C. Machines reach the fleet's routes only; drivers run on this machine.

    [bold]Examples[/]

      equipoise federation serve

      equipoise federation serve federation --host 10.0.0.1 --port 9092
    """
    from equipoise.engine.flower.serve import FederationServer

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    server = FederationServer(folder, driver_port)
    try:
        typer.echo(f"machines that may join: {', '.join(server.enrol()) or 'none: there are no keys'}")
        typer.echo(f"machines connect to {host}:{port}, drivers to 127.0.0.1:{driver_port}; Ctrl-C ends the server")
        server.show(host, port)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    finally:
        server.close()


@app.command("status")
def status(
    folder: Annotated[Path, FOLDER] = Path("federation"),
    driver_port: Annotated[int, DRIVER_PORT] = 9093,
    seconds: Annotated[float, typer.Option("--wait", help="Seconds to wait for what machines say.")] = 15.0,
    as_json: Json = False,
) -> None:
    """List the machines: who is there, with which versions and data, and who is late.

    A machine says how much data it has only if its policy allows that. One that is at work answers when it is done.

    [bold]Examples[/]

      equipoise federation status
    """
    from equipoise.engine.flower.status import table_of, who_is_there

    found = who_is_there(folder, f"127.0.0.1:{driver_port}", seconds)
    if as_json:
        print_json([machine.to_json() for machine in found])
    else:
        from rich.console import Console

        Console().print(table_of(found))


@app.command("split")
def split(
    preset: Annotated[str, typer.Argument(help="A preset or a YAML file.", show_default=False)],
    overrides: Overrides = None,
    machines: Annotated[str, MACHINES] = "a,b,c",
    output: Annotated[Path, typer.Option("-o", "--output", help="A folder for each machine goes in here.")] = Path(
        "shares"
    ),
) -> None:
    """Deal the clients of a run out to machines, and write each machine's share of the data.

    A run on these shares gives the same numbers as the run on one machine.

    [bold]Examples[/]

      equipoise federation split fedavg partition.clients=6 --machines a,b,c -o shares
    """
    from equipoise.api.shares import write_shares

    for path, share in write_shares(preset, overrides or [], _names(machines), output).items():
        typer.echo(f"{path}: clients {', '.join(map(str, share))}")


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
