"""Trains or resumes one federation. The only API file that uses the code of sessions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.api.handle import RunHandle
from equipoise.api.place import StoreAt, existing, located
from equipoise.api.progress import Follows, ProgressOf, follower
from equipoise.api.request import Settings, Source, requested
from equipoise.core.errors import EquipoiseError
from equipoise.core.torch_settings import kept_torch_settings

if TYPE_CHECKING:
    from equipoise.config.loader import Request


def run(
    source: Source,
    settings: Settings = None,
    /,
    *,
    store: StoreAt = None,
    progress: ProgressOf = None,
    tensorboard: str | Path | None = None,
    **more: Any,
) -> RunHandle:
    """Train one federation to its end.

    Args:
        source: a preset such as "fafi", a YAML file, a mapping, or a Config such as `run.config` of another run.
        settings: a mapping with dotted keys, as in {"partition.alpha": 0.05}, for keys that are not Python names.
        store: a file or a postgresql:// URL; EQUIPOISE_STORE or runs/equipoise.db unless given.
        progress: None for the default, True, False, or an object that follows the run.
        tensorboard: a folder for event files, beside the store.
        more: the same keys as on the command line: names (`data="digits"`), blocks (`partition={"alpha": 0.05}`) and
            other accepted names (`alpha=0.05`, `num_clients=10`).

    Returns:
        The run: its metrics, findings, clients, figures; it renders as HTML in a notebook.

    Raises:
        ConfigError: the request is wrong; nothing was started. UnknownName is one of these.
        EquipoiseError: the run failed. The store keeps it, with everything that was recorded.
        KeyboardInterrupt: the run was stopped. `eq.resume(…)` continues from its last complete checkpoint.
    """
    return start(requested(source, settings, more), store, with_events(follower(progress), tensorboard))


def resume(
    run: RunHandle | str,
    *,
    rounds: int | str | None = None,
    device: str | None = None,
    engine: str | Mapping[str, Any] | None = None,
    path: str | Path | None = None,
    store: StoreAt = None,
    progress: ProgressOf = None,
) -> RunHandle:
    """Resume a run that was stopped, killed or failed. The numbers are those of a run that never stopped.

    Without `rounds`, a finished run is returned unchanged.

    Args:
        run: a run, its id, the beginning of one, or "latest".
        rounds: makes the run longer: the total number of rounds, or "+20" for twenty more. A finished run is resumed,
            too. From there on, schedules are counted over the new number of rounds; without schedules the numbers are
            those of a run of that length.
        device: another device than the one that the run began on; the last bits will differ, and an event says so.
        engine: another engine, by name or with its settings, as in {"name": "ray", "address": "auto"}; the numbers are
            the same, and an event says so.
        path: the data folder, if it has moved.
        store: where to look for the id.
        progress: as in `eq.run`.

    Raises:
        ConfigError: the run is one-shot, or was ended by validation, or already has that many rounds.
    """
    from equipoise.api.choose import found
    from equipoise.store.records import refuse_imported

    handle = found(run, store)
    refuse_imported(handle.record, "to resume")
    if handle.status == "done" and rounds is None:
        return handle
    from equipoise.run.placed import Elsewhere
    from equipoise.run.session import resume as go_on

    elsewhere = Elsewhere(device, {"name": engine} if isinstance(engine, str) else engine or {})
    watch = follower(progress)
    with existing(handle.store) as opened, named_in_errors(watch), kept_torch_settings():
        go_on(opened, handle.record, watch, Path(path) if path is not None else None, rounds, elsewhere)
    return handle


def start(request: Request, store: StoreAt, watch: Follows) -> RunHandle:
    """Train the requested configuration, with a follower."""
    from equipoise.run.session import begin, prepared
    from equipoise.store.database import open_store

    with kept_torch_settings():
        federation = prepared(request)
        with open_store(store) as opened, named_in_errors(watch):
            return RunHandle(begin(opened, request, federation, watch), located(store))


def with_events(watch: Follows, folder: str | Path | None) -> Follows:
    """The follower, which also writes event files for TensorBoard."""
    from equipoise.api.event_files import EventFiles

    return watch if folder is None else EventFiles(Path(folder), watch)


@contextmanager
def named_in_errors(watch: Follows) -> Iterator[None]:
    """Add a note to an error that ends a run: the run's id, and how to resume it."""
    try:
        yield
    except (KeyboardInterrupt, EquipoiseError) as error:
        if watch.run_id is not None:
            error.add_note(f"the run is {watch.run_id}; go on with: eq.resume({watch.run_id!r})")
        raise
