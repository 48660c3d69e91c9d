"""Shared by commands that train: following a run, ending it cleanly on Ctrl-C, and printing it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from equipoise.api.progress import watcher
from equipoise.cli.options import print_json
from equipoise.core.errors import StoppedOnRequest

if TYPE_CHECKING:
    from equipoise.api.handle import RunHandle
    from equipoise.api.progress import Follows


def followed(work: Callable[[Follows], RunHandle], events: Path | None = None) -> RunHandle:
    """Do the work; on Ctrl-C or SIGTERM everything so far is kept, and the command to resume is printed."""
    from equipoise.api.train import with_events

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    watch = with_events(watcher(), events)
    try:
        return work(watch)
    except KeyboardInterrupt:
        go_on = f"; go on with: equipoise resume {watch.run_id}" if watch.run_id else ""
        print(f"stopped{go_on}", file=sys.stderr)
        raise typer.Exit(130) from None
    except StoppedOnRequest as asked:
        print(f"{asked.what}; go on with: equipoise resume {watch.run_id}", file=sys.stderr)
        raise typer.Exit(asked.exit_code) from None


def print_run(run: RunHandle, store: str | None, as_json: bool) -> None:
    """The run as text or as one JSON document; the store is named as on the command line."""
    from equipoise.api.summary import print_run as print_text
    from equipoise.store.database import default_location

    place = store or default_location()
    if as_json:
        print_json(run.summary())
    else:
        print_text(run, None if "://" in place else place)
