"""The protocol card: under which conditions figures were made, what runs have in common and where they differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from equipoise.core.exchanges import SECOND_EXCHANGE
from equipoise.report.bytes import bytes_text
from equipoise.report.runs import traffic
from equipoise.report.words import Say
from equipoise.store import read
from equipoise.store.records import Partition, Run
from equipoise.store.transact import Store

SHORT = 12
"""Characters of a fingerprint that are shown."""


def card(store: Store, runs: Sequence[Run], say: Say) -> dict[str, str]:
    """What to know before reading a figure, by name."""
    partitions = {run.partition: read.partition(store, run.partition) for run in runs if run.partition}

    def each(tell: Callable[[Run], str]) -> str:
        return _joined(tell(run) for run in runs)

    return {
        say("data"): each(lambda run: data(run.config["data"])),
        say("tested"): each(lambda run: _tested(run, say)),
        say("partition"): _joined(_partition(found) for found in partitions.values()) or say("none"),
        say("fingerprint"): _joined(found.fingerprint[:SHORT] for found in partitions.values()) or say("none"),
        say("overlap"): _joined(found.overlap_text for found in partitions.values()) or say("none"),
        say("communication"): each(lambda run: _communication(run.config, say)),
        say("method"): each(lambda run: str(run.config["method"]["name"])),
        say("model"): each(lambda run: settings(run.config["model"])),
        say("seeds"): ", ".join(str(seed) for seed in sorted({run.seed for run in runs})),
        say("down"): _range([traffic(store, run, "down") for run in runs]),
        say("up"): _range([traffic(store, run, "up") for run in runs]),
        say("selection"): say("selected_by"),
        say("environment"): each(_environment),
    }


def settings(block: Mapping[str, Any]) -> str:
    """A block of a configuration on one line.

    >>> settings({"name": "cnn", "width": 16, "norm": None})
    'cnn (width 16)'
    """
    rest = ", ".join(f"{key} {value}" for key, value in block.items() if key != "name" and value is not None)
    return f"{block['name']} ({rest})" if rest else str(block["name"])


def data(block: Mapping[str, Any]) -> str:
    shown = ("limit", "test_limit", "validation", "subset", "users", "split", "features")
    return settings({"name": block["name"]} | {key: block[key] for key in shown if block.get(key) is not None})


def _partition(found: Partition) -> str:
    return settings(
        {"name": found.name, "clients": found.n_clients}
        | ({"α": found.options["alpha"]} if "alpha" in found.options else {})
    )


def _communication(config: Mapping[str, Any], say: Say) -> str:
    epochs = config["client"]["epochs"]
    if config["communication"] == "one-shot":
        told = say("one-shot", epochs=epochs, checkpoints=config["checkpoints"])
        return say("second", told=told) if config["server"]["predict"] in SECOND_EXCHANGE else told
    return say("rounds", rounds=config["rounds"], epochs=epochs, fraction=config["server"]["fraction"])


def _tested(run: Run, say: Say) -> str:
    n = run.environment.get("tested")
    return say("tested_n", n=n) if n else say("none")


def _environment(run: Run) -> str:
    found = run.environment
    parts = {"python": found.get("python"), "torch": found.get("torch"), "numpy": found.get("numpy")}
    versions = ", ".join(f"{name} {version}" for name, version in parts.items() if version)
    return ", ".join(filter(None, [f"equipoise {run.version}", versions, found.get("machine")]))


def _joined(told: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(told))


def _range(sizes: Sequence[float]) -> str:
    low, high = bytes_text(min(sizes)), bytes_text(max(sizes))
    return low if low == high else f"{low} – {high}"
