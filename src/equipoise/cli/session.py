"""What `run` and `resume` share: following a run, and ending it cleanly on Ctrl-C."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from equipoise.cli.event_files import EventFiles
from equipoise.cli.progress import watcher

if TYPE_CHECKING:
    from equipoise.run.watch import Watch


def followed(work: Callable[[Watch], str], events: Path | None = None) -> str:
    """Do the work; Ctrl-C or SIGTERM ends it with everything so far kept and the way to go on printed."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    watch = watcher() if events is None else EventFiles(events, watcher())
    try:
        return work(watch)
    except KeyboardInterrupt:
        go_on = f"; go on with: equipoise resume {watch.run_id}" if watch.run_id else ""
        print(f"stopped{go_on}", file=sys.stderr)
        raise typer.Exit(130) from None
