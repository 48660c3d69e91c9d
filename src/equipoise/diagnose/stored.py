"""Reads a stored run for the rules: its numbers, its events, and facts from its configuration and partition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from equipoise.config.loader import flat
from equipoise.config.plugins import bring
from equipoise.core.values import Event
from equipoise.diagnose.recording import SERVER, Recording, recording
from equipoise.store import read
from equipoise.store.metrics import columns
from equipoise.store.records import PartitionRecord, Run
from equipoise.store.transact import Store

NEAR_ZERO = 1e-3
"""If L_a of the first batch is below this share of L_b, it does not predict where λ settles."""


MISSING = "plugin-missing"
"""That a plugin of the run is not here: what it would look for is not looked for."""


def stored(store: Store, run: Run) -> Recording:
    """With its plugins, which may bring rules."""
    names, which, clients, steps, values = columns(store, run.run_id, SERVER)
    events = [recorded.event for recorded in read.events(store, run.run_id)]
    events += [Event(MISSING, error.what) for error in bring(run.config)]
    facts = facts_of(run, read.partition(store, run.partition) if run.partition else None, events)
    return recording(run.run_id, names, which, clients, steps, values, facts=facts, events=events)


def facts_of(run: Run, partition: PartitionRecord | None, events: Sequence[Event]) -> dict[str, Any]:
    """The facts that rules need besides numbers; unknown facts are absent."""
    facts = {
        **(_of_import(run.config) if run.is_imported else _of_config(run.config)),
        **_of_events(events),
        **(_of_partition(partition, run) if partition is not None else {}),
        "settings": {} if run.is_imported else flat(run.config),
        "status": run.status,
        "tested": run.environment.get("tested"),
        "selected_by": "validation",
        **run.environment.get("facts", {}),
    }
    return {name: value for name, value in facts.items() if value is not None}


def _of_config(config: Mapping[str, Any]) -> dict[str, Any]:
    balance, method, client = config["balance"], config["method"], config["client"]
    is_one_shot = config["communication"] == "one-shot"
    return {
        "communication": config["communication"],
        "steps": config["checkpoints"] if is_one_shot else config["rounds"],
        "lam_max": balance.get("lam_max") or balance.get("ceiling") or balance.get("last"),
        "scheduled": balance["schedule"] != "none" if "schedule" in balance else None,
        "anchors": method.get("anchors"),
        "batch": client["batch"],
        "machines": True if config["engine"]["name"] in {"flower", "ray"} else None,
        "stage_switch": _switch(config, is_one_shot),
    }


def _of_import(config: Mapping[str, Any]) -> dict[str, Any]:
    """Of a run that another tool made: only what `import` has checked."""
    return {"communication": config["communication"], "steps": config["rounds"] or config["checkpoints"]}


def _switch(config: Mapping[str, Any], is_one_shot: bool) -> int | None:
    """The first checkpoint of the second stage; None if there is none, or if it begins between two checkpoints."""
    if stages := config["client"].get("stages"):
        return int(stages[0]["rounds"])
    first = config["method"].get("first") if config["method"]["name"] == "two-stage" else None
    if not first or not is_one_shot:
        return None
    place = first * config["checkpoints"] / config["client"]["epochs"]
    return int(place) if place.is_integer() and place >= 1 else None


def _of_partition(partition: PartitionRecord, run: Run) -> dict[str, Any]:
    if not run.headline.startswith("accuracy/"):
        return {}
    counts = np.asarray(partition.counts)
    facts: dict[str, Any] = {"classes": counts.shape[1], "labels": counts, "overlap_asked": partition.overlaps}
    if partition.name == "dirichlet":
        facts["alpha"] = partition.options["alpha"]
    return facts if partition.overlaps else facts | {"overlap": 0.0}


def _of_events(events: Sequence[Event]) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    checks = [event.detail for event in events if event.kind == "feature-check"]
    if checks:
        facts["features"] = checks
    for event in events:
        if event.kind == "lambda-cap":
            facts["cap"] = event.detail["cap"]
            base, align = event.detail["base"], event.detail["align"]
            facts["balanced"] = base / align if align > NEAR_ZERO * base else None
        if event.kind == "partition-overlap":
            facts["overlap"] = event.detail["overlap"]
    return facts
