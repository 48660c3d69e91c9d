"""Reads long tables, as `diagnose` does, and event files of TensorBoard: every folder of event files is a run."""

from __future__ import annotations

from pathlib import Path

from equipoise.core.errors import DataError
from equipoise.diagnose.foreign import EVENTS, read_table
from equipoise.diagnose.tensorboard import read_events
from equipoise.track.history import MOST_RUNS, ForeignHistory, WantedRuns, cleaned, recorded, require_size


def read_long_table(path: Path, wanted: WantedRuns) -> list[ForeignHistory]:
    """The runs of a CSV, TSV, JSON lines or Parquet table."""
    require_size(path)
    found = read_table(path, {}, wanted.names)
    chosen = [run for run in found.runs if wanted.takes(run.name)]
    return [
        ForeignHistory("table", str(path), run.name, cleaned(run.name), run, repairs=found.repairs) for run in chosen
    ]


def read_event_folder(path: Path, wanted: WantedRuns) -> list[ForeignHistory]:
    """The runs of an event file, or of a folder with event files at any depth."""
    folders = [path] if path.is_file() else event_folders(path)
    histories = []
    for folder in folders:
        label = folder.name if folder == path else folder.relative_to(path).as_posix()
        label = folder.parent.name if path.is_file() else label
        if wanted.takes(label, folder.name):
            table = read_events(folder).select("step", "client", "name", "value").rows()
            numbers = [(step, client, cleaned(name), value) for step, client, name, value in table]
            recording, repairs = recorded(numbers, cleaned(label), str(folder), wanted.names)
            histories.append(
                ForeignHistory("tensorboard", str(path), label, cleaned(label), recording, repairs=repairs)
            )
    return histories


def event_folders(path: Path) -> list[Path]:
    """The folders with event files, each of them checked for its size."""
    files = sorted(file for file in path.rglob(f"*{EVENTS}*") if file.is_file() and not file.is_symlink())
    for file in files:
        require_size(file)
    folders = list(dict.fromkeys(file.parent for file in files))
    if len(folders) > MOST_RUNS:
        what = f"'{path}' has {len(folders)} folders of event files, and at most {MOST_RUNS} are read at once"
        raise DataError(what, where=str(path), fix="give a folder inside")
    return folders
