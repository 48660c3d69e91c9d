"""equipoise rm and equipoise gc"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from equipoise.cli.options import Json, StoreAt, print_json
from equipoise.cli.shell import offers

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only print how much would be freed.")]


def rm(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN…", help="Run ids, or the beginnings of ids.", autocompletion=offers.runs)
    ],
    yes: Yes = False,
    dry_run: DryRun = False,
    store: StoreAt = None,
    as_json: Json = False,
) -> None:
    """Remove runs: their numbers, events and findings, and the files that no other run needs.

    First prints how much would be freed. Refuses a run that a process is working on.

    [bold]Examples[/]

      equipoise rm fedavg-7k2m9x

      equipoise rm fedavg-7k2m9x fafi-1b --yes
    """
    from equipoise.store import blobs, read, tidy
    from equipoise.store.database import open_existing

    with open_existing(store) as opened:
        chosen = list(dict.fromkeys(read.find_run(opened, run).run_id for run in runs))
        freed = tidy.would_free(opened, chosen)
        what = f"{len(chosen)} run{'s' if len(chosen) > 1 else ''} ({', '.join(chosen)})"
        if go_on(f"remove {what}, and {said(freed)}?", yes, dry_run):
            tidy.remove(opened, chosen)
            blobs.gc(opened, lambda: read.referenced(opened))
    report({"runs": chosen, "bytes": freed, "removed": not dry_run}, as_json, f"{what}: {said(freed)}")


def gc(yes: Yes = False, dry_run: DryRun = False, store: StoreAt = None, as_json: Json = False) -> None:
    """Remove files that no run needs: those of older checkpoints, and leftovers of killed processes.

    [bold]Examples[/]

      equipoise gc --dry-run
    """
    from equipoise.store import blobs, read, tidy
    from equipoise.store.database import open_existing

    with open_existing(store) as opened:
        freed = tidy.left_over(opened)
        if freed and go_on(f"remove {said(freed)} that no run needs?", yes, dry_run):
            blobs.gc(opened, lambda: read.referenced(opened))
    report({"bytes": freed, "removed": not dry_run}, as_json, said(freed))


def said(freed: int) -> str:
    from equipoise.report.bytes import bytes_text

    return f"{bytes_text(freed)} of files"


def go_on(question: str, yes: bool, dry_run: bool) -> bool:
    """Whether to go ahead: given as an option, or asked on a terminal; elsewhere the option is required."""
    from equipoise.core.errors import ConfigError

    if dry_run or yes:
        return not dry_run
    if not sys.stdin.isatty():
        raise ConfigError(question.rstrip("?"), fix="say --yes, or --dry-run to see what would be freed")
    if not typer.confirm(question):
        raise typer.Exit(0)
    return True


def report(document: dict[str, object], as_json: bool, what: str) -> None:
    if as_json:
        print_json(document)
    else:
        typer.echo(f"{'removed' if document['removed'] else 'would remove'} {what}")
