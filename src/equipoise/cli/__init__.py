"""The `equipoise` command. One file per command; here errors become exit codes.

Exit codes: 0 done, 1 the run failed, 2 the request was wrong, 3 findings with --strict, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import sys
import traceback

import typer

from equipoise import __version__
from equipoise.cli import (
    balances,
    bench,
    compare,
    data,
    demo,
    diagnose,
    doctor,
    export,
    features,
    federation,
    fuse,
    join,
    ls,
    methods,
    new,
    partition,
    presets,
    report,
    resume,
    rm,
    rules,
    run,
    serve,
    show,
    sweep,
)
from equipoise.cli.shell import bash
from equipoise.core.errors import EquipoiseError

HELP = """Federated learning that keeps its balance, and explains itself when it loses it.

A client minimises base + λ·align. The server merges. Everything that happened is written down.

[bold]First steps[/]

  equipoise demo                                       three stories on embedded data

  equipoise run fedavg partition.alpha=0.05 rounds=5   one run

  equipoise ls                                         what was run

  equipoise compare latest fedavg-7k3q9x               figures side by side

  equipoise diagnose latest                            why it failed, if it did

  equipoise report latest -o report.html               everything about it on one page
"""

app = typer.Typer(
    name="equipoise",
    help=HELP,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo.demo)
app.command("run")(run.run)
app.command("sweep")(sweep.sweep)
app.command("resume")(resume.resume)
app.command("fuse")(fuse.fuse)
app.command("ls")(ls.ls)
app.command("show")(show.show)
app.command("compare")(compare.compare)
app.command("diagnose")(diagnose.diagnose)
app.command("report")(report.report)
app.command("export")(export.export)
app.command("partition")(partition.partition)
app.add_typer(data.app, name="data")
app.add_typer(features.app, name="features")
app.add_typer(federation.app, name="federation")
app.command("join")(join.join)
app.add_typer(new.app, name="new")
app.command("serve")(serve.serve)
app.command("presets")(presets.presets)
app.command("rm")(rm.rm)
app.command("gc")(rm.gc)
app.command("methods")(methods.methods)
app.command("balances")(balances.balances)
app.command("rules")(rules.rules)
app.command("bench")(bench.bench)
app.command("doctor")(doctor.doctor)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"equipoise {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
    debug: bool = typer.Option(False, "--debug", help="Show the traceback of an error."),
) -> None:
    pass


def main() -> None:
    """Run the command; --debug may be anywhere on the command line."""
    is_debug = "--debug" in sys.argv
    sys.argv = [sys.argv[0], *(argument for argument in sys.argv[1:] if argument != "--debug")]
    try:
        command = typer.main.get_command(app)
        bash.register()
        command()
    except EquipoiseError as error:
        if is_debug:
            traceback.print_exc()
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except Exception as error:
        if is_debug:
            traceback.print_exc()
        else:
            print(f"error: {type(error).__name__}: {error}\n  next:  run it again with --debug", file=sys.stderr)
        sys.exit(1)
