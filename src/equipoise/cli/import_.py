"""equipoise import"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from equipoise.cli.options import Json, StoreAt, print_json

SOURCE = typer.Argument(
    metavar="FILE|FOLDER|URL", help="A history of another tool, or the address of an MLflow server.", show_default=False
)


def import_(
    source: Annotated[str, SOURCE],
    name: Annotated[
        str | None,
        typer.Option("--name", help="What the runs are called here; otherwise as there.", show_default=False),
    ] = None,
    run: Annotated[
        str | None, typer.Option("--run", help="Only the run of this id or name.", show_default=False)
    ] = None,
    experiment: Annotated[
        str | None, typer.Option("--experiment", help="Of MLflow: only this experiment.", show_default=False)
    ] = None,
    headline: Annotated[
        str | None,
        typer.Option("--headline", help="The metric that tables show; otherwise the accuracy.", show_default=False),
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="A fact that `diagnose` needs (classes=10); may be repeated.")
    ] = None,
    names: Annotated[
        Path | None, typer.Option("--map", help="YAML file that renames metrics: theirs: ours.", show_default=False)
    ] = None,
    store: StoreAt = None,
    as_json: Json = False,
) -> None:
    """Take runs of another tool into the store, as finished runs that are marked as imported.

    A source is a long table (CSV, TSV, JSON lines, Parquet), Flower's history as JSON, a TensorBoard event file or a
    folder of them, or MLflow: a folder `mlruns`, an SQLite file, or the address of a server. `ls`, `show`, `diagnose`,
    `compare` and `report` take these runs like any other; there is nothing to resume. A run that the store has
    already is not taken twice.

    [bold]Examples[/]

      equipoise import history.json --name flower-baseline

      equipoise import http://127.0.0.1:5000 --experiment equipoise

      equipoise import telemetry.csv --set classes=10
    """
    from equipoise.api.trackers import adopted
    from equipoise.diagnose.foreign import parse_facts, read_names
    from equipoise.track.history import WantedRuns

    facts, limits = parse_facts(settings or [])
    if limits:
        from equipoise.core.errors import ConfigError

        what = f"'{next(iter(limits))}' looks like a limit of a rule, and only facts are kept with a run"
        raise ConfigError(what, where="--set", fix="as in --set classes=10; limits belong to `diagnose`")
    renames = read_names(names) if names is not None else {}
    found = adopted(source, WantedRuns(name, run, experiment, headline, facts, renames), store)
    if as_json:
        print_json([each._asdict() for each in found])
        return
    for repair in dict.fromkeys(repair for each in found for repair in each.repairs):
        typer.echo(f"! {repair}")
    for each in found:
        typer.echo(f"{each.run_id}  {'imported from' if each.is_new else 'was imported already from'} {each.tool}")
