"""Puts runs of another tool into the store as finished runs: method `imported`, with source, tool and original id."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from equipoise import __version__
from equipoise.core.errors import ConfigError
from equipoise.core.values import Event, Row
from equipoise.diagnose.examine import examine
from equipoise.diagnose.recording import SERVER, Recording
from equipoise.diagnose.stored import stored
from equipoise.store import read, write
from equipoise.store.importing import ImportedEnding, import_run
from equipoise.store.records import IMPORTED, NewRun, new_run_id
from equipoise.store.transact import Store
from equipoise.track.history import ForeignHistory, WantedRuns
from equipoise.track.settings import config_of, whole
from equipoise.track.sources import histories

ACCURACY = "accuracy/merged"


FACTS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("classes", "batch", "stage_switch", "tested"), (int,)),
    **dict.fromkeys(("lam_max", "cap", "balanced", "overlap", "alpha"), (int, float)),
    **dict.fromkeys(("scheduled", "machines", "overlap_asked"), (bool,)),
    **dict.fromkeys(("anchors", "selected_by"), (str,)),
}
"""Facts that are taken from a source, and what they must be."""


class Adopted(NamedTuple):
    """A run that the store has now; `is_new` is False if it had it already."""

    run_id: str
    original: str
    tool: str
    is_new: bool
    repairs: tuple[str, ...]


def adopt(store: Store, source: Any, wanted: WantedRuns) -> list[Adopted]:
    """Read the runs of a source, and put those into the store that it does not have."""
    return [_adopted(store, history, wanted) for history in histories(source, wanted)]


def _adopted(store: Store, history: ForeignHistory, wanted: WantedRuns) -> Adopted:
    key = _hash(history)
    about = (history.original, history.tool)
    known = read.runs(store, config_hash=key)
    if known:
        return Adopted(known[0].run_id, *about, False, ())
    name = wanted.name or history.name
    run = NewRun(
        run_id=new_run_id(name),
        name=name,
        method=IMPORTED,
        seed=whole(history.settings.get("seed")),
        config=config_of(history, name),
        config_hash=key,
        headline=headline_of(history.recording, wanted.headline),
        version=__version__,
        environment={"imported": _origin(history), "facts": {**known_facts(history.facts), **wanted.facts}},
    )
    end = ImportedEnding(history.status, history.recording.last, history.created, history.finished)
    import_run(store, run, end, _rows(history.recording), _events(history))
    _look_back(store, run.run_id)
    return Adopted(run.run_id, *about, True, tuple(history.repairs))


def known_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts that have the right type; a source may say anything."""
    return {
        name: value
        for name, value in facts.items()
        if isinstance(value, FACTS.get(name, ())) and (not isinstance(value, bool) or bool in FACTS[name])
    }


def _look_back(store: Store, run_id: str) -> None:
    verdict = examine(stored(store, read.find_run(store, run_id)))
    write.set_findings(store, run_id, [finding.to_json() for finding in verdict.findings])


def _origin(history: ForeignHistory) -> dict[str, str]:
    return {"tool": history.tool, "source": history.source, "id": history.original}


def _events(history: ForeignHistory) -> list[Event]:
    text = f"from {history.tool}: {history.original} in {history.source}"
    return [
        Event("imported", text, detail=_origin(history)),
        *(Event("import-repaired", repair) for repair in history.repairs),
    ]


def _rows(recording: Recording) -> Iterator[Row]:
    for name, curves in recording.curves.items():
        for client, curve in curves.items():
            who = None if client == SERVER else client
            for step, value in zip(curve.steps.tolist(), curve.values.tolist(), strict=True):
                yield Row(step, step, who, name, value)


def _hash(history: ForeignHistory) -> str:
    """Of the tool, the original id and all numbers: what was imported before is found again."""
    found = hashlib.sha256(f"{history.tool}\0{history.original}".encode())
    for name, curves in sorted(history.recording.curves.items()):
        for client, curve in sorted(curves.items()):
            found.update(f"{name}\0{client}\0".encode("utf-8", "backslashreplace"))
            found.update(curve.steps.tobytes() + curve.values.tobytes())
    return f"imported-{found.hexdigest()}"


def headline_of(recording: Recording, asked: str | None) -> str:
    """The metric that tables show: the one that was asked for, else the server's accuracy; empty if there is none."""
    shares = [name for name, curves in recording.curves.items() if SERVER in curves and _is_share(recording, name)]
    if asked is not None and asked not in shares:
        known = ", ".join(sorted(shares)[:8]) or "none"
        what = f"'{asked}' is not a metric of the server with values from 0 to 1"
        raise ConfigError(what, where="--headline", fix=f"one of: {known}")
    named = sorted((name for name in shares if "acc" in name.lower()), key=lambda name: (len(name), name))
    return asked or (ACCURACY if ACCURACY in shares else next(iter(named), ""))


def _is_share(recording: Recording, name: str) -> bool:
    values = recording.server(name).finite().values
    return len(values) > 0 and bool(np.all((values >= 0) & (values <= 1)))
