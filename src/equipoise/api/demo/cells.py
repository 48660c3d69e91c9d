"""Runs a study of the demo, and reads from its finished runs what the stories need."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import TYPE_CHECKING

from equipoise.api.demo.part import Seeds
from equipoise.core.errors import EquipoiseError

if TYPE_CHECKING:
    from equipoise.api.place import StoreAt
    from equipoise.api.sweep import FollowsSweep, SweepHandle


def finished(study: str, seeds: int, store: StoreAt, progress: FollowsSweep) -> SweepHandle:
    """The study with every run done. What an earlier demo has run is not run again."""
    from equipoise.api.sweep import Workers, carry_out
    from equipoise.run.grid import load_grid

    found = carry_out(load_grid(study, seeds=str(seeds)), store, Workers(), progress)
    if found.failed:
        first, n = found.failed[0], len(found.places)
        what = (
            f"{len(found.failed)} of {n} runs of '{study}' failed; the first, {first['cell']}, seed {first['seed']}: "
        )
        fix = "`equipoise demo` again runs only those that are missing"
        raise EquipoiseError(what + str(first["error"]), where=found.store, fix=fix)
    return found


def accuracies(found: SweepHandle) -> dict[str, Seeds]:
    """Label → seed → test accuracy at the end."""
    by_label: dict[str, dict[int, float]] = {}
    for place in found.places:
        assert place.value is not None, "the run is done and was scored"
        by_label.setdefault(place.cell.label, {})[place.cell.config.seed] = place.value
    return dict(by_label)


def final(found: SweepHandle, metric: str) -> dict[str, Seeds]:
    """Label → seed → the server's last value of that metric, where it was recorded."""
    from equipoise.api.place import existing
    from equipoise.store.metrics import final_metrics

    by_label: dict[str, dict[int, float]] = {}
    with existing(found.store) as opened:
        for place in found.places:
            value = final_metrics(opened, str(place.run_id)).get(metric)
            if value is not None:
                by_label.setdefault(place.cell.label, {})[place.cell.config.seed] = value
    return dict(by_label)


def uploads(found: SweepHandle) -> dict[str, float]:
    """Label → bytes that all clients of a run sent up, mean over seeds."""
    from equipoise.api.place import existing
    from equipoise.report.runs import traffic
    from equipoise.store.read import find_run

    sizes: dict[str, list[float]] = {}
    with existing(found.store) as opened:
        for run_id, label in found.labels.items():
            sizes.setdefault(label, []).append(traffic(opened, find_run(opened, run_id), "up"))
    return {label: fmean(values) for label, values in sizes.items()}


def weights(found: SweepHandle) -> Mapping[str, list[float]]:
    """Label → λ at every checkpoint, mean over clients and then over seeds; rows without λ are left out."""
    from equipoise.api.place import existing
    from equipoise.store import metrics

    courses: dict[str, list[list[float]]] = {}
    with existing(found.store) as opened:
        for run_id, label in found.labels.items():
            steps: dict[int, list[float]] = {}
            for row in metrics.rows(opened, run_id, names=["lam/used"]):
                steps.setdefault(row.step, []).append(row.value)
            courses.setdefault(label, []).append([fmean(steps[step]) for step in sorted(steps)])
    return {label: [fmean(at) for at in zip(*runs, strict=True)] for label, runs in courses.items() if runs[0]}
