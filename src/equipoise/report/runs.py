"""Stored runs as the commands and the comparison show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from equipoise.core.errors import ConfigError
from equipoise.core.registry import suggestion
from equipoise.evaluate.rank_metrics import Protocol, per_user
from equipoise.report.comparison import ComparedRun
from equipoise.report.statistics import HeadlineCurve, UserGains
from equipoise.report.stream import is_stream, stream
from equipoise.store import metrics, read
from equipoise.store.records import Run
from equipoise.store.transact import Store
from equipoise.store.validation import validation_metric

RANKED = ("hr@", "ndcg@", "mrr/")
SHARES = ("accuracy/", "recall/", *RANKED)
NO_FIGURE = ("/low", "/high", "/over_markov")
"""Suffixes of names that describe a share without being one."""


def curve(store: Store, run: Run, metric: str | None = None) -> HeadlineCurve:
    """A metric of the run, by default its headline, with validation, over the scored checkpoints."""
    name = metric or run.headline
    rows = metrics.rows(store, run.run_id, names=[name, validation_metric(run)], client="server")
    values = {row.step: row.value for row in rows if row.name == name}
    validation = {row.step: row.value for row in rows if row.name == validation_metric(run)}
    if not validation and (is_stream(run) or run.is_imported):  # no checkpoint is selected: the last one counts
        validation = {step: float(step) for step in values}
    steps = sorted(values.keys() & validation.keys())
    return HeadlineCurve(run.run_id, run.seed, steps, [values[s] for s in steps], [validation[s] for s in steps])


def listed(store: Store, run: Run) -> dict[str, Any]:
    """One row of `ls`."""
    final = metrics.final_metrics(store, run.run_id)
    done = max((checkpoint.step for checkpoint in read.checkpoints(store, run.run_id)), default=-1) + 1
    steps = run.config.get("rounds") or run.config.get("checkpoints")
    keys = ("run_id", "name", "status", "method", "seed", "sweep", "cell", "created", "finished", "error")
    line = {key: getattr(run, key) for key in keys}
    return {**line, "data": run.config["data"]["name"], "steps": {"done": done, "planned": steps}} | {
        "metric": run.headline,
        "value": final.get(run.headline),
    }


def predict_of(run: Run) -> str | None:
    """How a run predicts from its first checkpoint on, by its configuration or its method; None if unknown."""
    return run.config.get("server", {}).get("predict") or run.environment.get("predict")


def predictors(run: Run, findings: Sequence[Mapping[str, Any]]) -> list[str]:
    """The ways in which the run predicted: the one before a guard changed it, then the one after."""
    first = predict_of(run)
    changes = [finding["healed"]["changes"] for finding in findings if finding.get("healed")]
    healed = [change["server.predict"] for change in changes if "server.predict" in change]
    return [name for name in (first, *healed[-1:]) if name is not None]


def shown(store: Store, run: Run) -> dict[str, Any]:
    """The document of `run` and `show`: {run_id, name, status, config, metrics, findings, …}."""
    scored, findings = curve(store, run), read.findings(store, run.run_id)
    best = max(range(len(scored.values)), key=lambda i: scored.validation[i], default=None)
    return {
        "run_id": run.run_id,
        "name": run.name,
        "status": run.status,
        "error": run.error,
        "config": dict(run.config),
        "headline": run.headline,
        "predict": predictors(run, findings),
        "metrics": metrics.final_metrics(store, run.run_id),
        "best": None
        if best is None
        else {"step": scored.steps[best], "value": scored.values[best], "selected_by": validation_metric(run)},
        "curve": {"steps": list(scored.steps), "values": list(scored.values), "validation": list(scored.validation)},
        "stream": stream(store, run),
        "bytes": {way: traffic(store, run, way) for way in ("down", "up")},
        "partition": run.partition,
        "version": run.version,
        "plugins": run.environment.get("plugins", []),
        "created": run.created,
        "finished": run.finished,
        "events": [
            {"time": at.time, "kind": at.event.kind, "step": at.event.step, "client": at.event.client}
            | {"message": at.event.message}
            for at in read.events(store, run.run_id)
        ],
        "findings": findings,
    }


def traffic(store: Store, run: Run, way: str) -> float:
    """Bytes sent down or up in the whole run so far; older runs recorded the traffic of predictors separately."""
    names = [f"bytes/{way}", "bytes/asked", "bytes/told"]
    rows = metrics.rows(store, run.run_id, names=names, client="server")
    total = sum(row.value for row in rows if row.name == names[0])
    predicting = [row.value for row in rows if row.name == "bytes/told"]
    if way == "down" or any(row.name == "bytes/asked" for row in rows):
        return total
    return total + sum(predicting[-1:] if run.config.get("communication") == "one-shot" else predicting)


def compared(
    store: Store, runs: Sequence[Run], labels: Mapping[str, str] | None = None, metric: str | None = None
) -> list[ComparedRun]:
    """Runs for a comparison, by their headline or another share, under the given labels or their own.

    A run without a scored checkpoint is an error."""
    named = labels or {}
    if metric is not None:
        _require_share(store, runs, metric)
    curves = {run.run_id: curve(store, run, metric) for run in runs}
    empty = [f"{run.run_id} ({run.status})" for run in runs if not curves[run.run_id].values]
    if empty:
        raise ConfigError(f"nothing was scored in {', '.join(empty)}", fix="leave it out, or `equipoise resume` it")
    return [
        ComparedRun(
            _label(store, run, named),
            run.config,
            run.partition or "",
            metric or run.headline,
            curves[run.run_id],
            str(run.environment.get("content", "")),
            _users(store, run, metric or run.headline),
            traffic(store, run, "up"),
            traffic(store, run, "down"),
            [each["code"] for each in read.findings(store, run.run_id) if each.get("healed")],
        )
        for run in runs
    ]


def _users(store: Store, run: Run, metric: str) -> UserGains | None:
    """Each user's value of a ranking metric; None for other metrics, and if ranks were not kept."""
    if not metric.startswith(RANKED):
        return None
    protocol: Protocol = "uni100" if metric.endswith("/uni100") else "full"
    names = f"rank/{protocol}", f"rank/{protocol}/markov"
    found: dict[str, dict[int, float]] = {name: {} for name in names}
    for row in metrics.rows(store, run.run_id, names=names):
        if row.client is not None:
            found[row.name][row.client] = row.value
    ours, markov = (found[name] for name in names)
    gains = per_user(np.array(list(ours.values())), protocol).get(metric)
    return None if gains is None or not ours else UserGains(dict(zip(ours, gains.tolist(), strict=True)), markov)


def _require_share(store: Store, runs: Sequence[Run], metric: str) -> None:
    """Checks that every run has this metric on test and that it is a share, since the table shows per cent."""
    for run in runs:
        final = metrics.final_metrics(store, run.run_id)
        known = [name for name in final if name.startswith(SHARES) and not name.endswith(NO_FIGURE)]
        if metric not in known:
            raise ConfigError(f"{run.run_id} has no share '{metric}'{suggestion(metric, known)}", where="--metric")


def _label(store: Store, run: Run, labels: Mapping[str, str]) -> str:
    """The label of the row; an unfinished run adds its status."""
    label = labels.get(run.run_id) or run.cell or run.name
    if run.status == "done":
        return label
    steps = listed(store, run)["steps"]
    return f"{label} ({steps['done']}/{steps['planned']}, {run.status})"
