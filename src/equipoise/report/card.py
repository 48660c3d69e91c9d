"""The protocol card: the conditions of the runs, what they share and where they differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from equipoise.core.exchanges import needs_second_exchange
from equipoise.report.again import again
from equipoise.report.bytes import bytes_text
from equipoise.report.runs import traffic
from equipoise.report.times import date_text, duration_text, seconds_of
from equipoise.report.words import Say
from equipoise.store import read
from equipoise.store.records import PartitionRecord, Run
from equipoise.store.transact import Store

SHORT = 12
"""Characters shown of a fingerprint."""
MOST_SETTINGS = 10
"""A block with more settings is shown by its name only."""
Groups = Mapping[str, Sequence[Run]]
"""Label of a configuration → its runs, which differ only in their seed."""


@dataclass(frozen=True)
class CardEntry:
    """One row of the card: a name and lines of (labels, text); the labels are empty if the text holds for all runs."""

    name: str
    lines: Sequence[tuple[str, str]]
    is_command: bool = False


def card(store: Store, groups: Groups, say: Say) -> list[CardEntry]:
    """The rows of the card for these configurations."""
    commands = _by_label({label: again(group) for label, group in groups.items()})
    return [
        *_data(store, groups, say),
        *_training(groups, say),
        *_course(store, [run for group in groups.values() for run in group], say),
        _each(groups, say("environment"), _environment),
        CardEntry(say("again"), commands, is_command=True),
    ]


def _data(store: Store, groups: Groups, say: Say) -> list[CardEntry]:
    fingerprints = {run.partition for group in groups.values() for run in group if run.partition}
    partitions = {fingerprint: read.partition(store, fingerprint) for fingerprint in fingerprints}

    def divided(key: str, text: Callable[[PartitionRecord], str]) -> CardEntry:
        return _each(groups, say(key), lambda run: text(partitions[run.partition]) if run.partition else say("none"))

    return [
        _each(groups, say("data"), lambda run: data(run.config["data"])),
        _each(groups, say("tested"), lambda run: _tested(run, say)),
        divided("partition", _partition),
        divided("fingerprint", lambda found: found.fingerprint[:SHORT]),
        divided("overlap", lambda found: found.overlap_text),
    ]


def _training(groups: Groups, say: Say) -> list[CardEntry]:
    texts: dict[str, Callable[[Run], str]] = {
        "communication": lambda run: _communication(run.config, say),
        "method": lambda run: settings(run.config["method"]),
        "balance": lambda run: settings(run.config["balance"]),
        "guard": lambda run: str(run.config.get("guard", "off")),
        "lr": lambda run: _learning_rate(run.config["client"]),
        "model": lambda run: settings(run.config["model"]),
    }
    return [_each(groups, say(key), text) for key, text in texts.items()]


def _course(store: Store, runs: Sequence[Run], say: Say) -> list[CardEntry]:
    moments = sorted(run.created for run in runs)
    texts = {
        "seeds": ", ".join(str(seed) for seed in sorted({run.seed for run in runs})),
        "date": _range(date_text(moments[0]), date_text(moments[-1])),
        "duration": _duration(store, runs, say),
        "down": _traffic(store, runs, "down"),
        "up": _traffic(store, runs, "up"),
        "selection": say("selected_by"),
    }
    return [CardEntry(say(key), [("", text)]) for key, text in texts.items()]


def _each(groups: Groups, name: str, text: Callable[[Run], str]) -> CardEntry:
    """One row of the card, with the text that each run gives."""
    return CardEntry(name, _by_label({label: _joined(map(text, group)) for label, group in groups.items()}))


def _by_label(texts: Mapping[str, str]) -> list[tuple[str, str]]:
    """Groups labels by text: one line without labels if all texts are equal, otherwise one line per text."""
    said: dict[str, list[str]] = {}
    for label, text in texts.items():
        said.setdefault(text, []).append(label)
    return [("" if len(said) == 1 else ", ".join(labels), text) for text, labels in said.items()]


def settings(block: Mapping[str, Any]) -> str:
    """One block of a configuration as a line of text.

    >>> settings({"name": "cnn", "width": 16, "norm": None, "head": {"bias": 0}})
    'cnn (width 16, head.bias 0)'
    """
    found = {key: value for key, value in _flat(block).items() if key != "name" and value is not None}
    rest = ", ".join(f"{key} {value}" for key, value in found.items())
    return f"{block['name']} ({rest})" if 0 < len(found) <= MOST_SETTINGS else str(block["name"])


def _flat(block: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in block.items():
        flat |= _flat(value, f"{above}{key}.") if isinstance(value, Mapping) else {f"{above}{key}": value}
    return flat


def data(block: Mapping[str, Any]) -> str:
    shown = ("limit", "test_limit", "validation", "subset", "users", "split", "features")
    return settings({"name": block["name"]} | {key: block[key] for key in shown if block.get(key) is not None})


def _partition(found: PartitionRecord) -> str:
    return settings(
        {"name": found.name, "clients": found.n_clients}
        | ({"α": found.options["alpha"]} if "alpha" in found.options else {})
    )


def _communication(config: Mapping[str, Any], say: Say) -> str:
    epochs = config["client"]["epochs"]
    if config["communication"] == "one-shot":
        first = say("one-shot", epochs=epochs, checkpoints=config["checkpoints"])
        return say("second", first=first) if needs_second_exchange(config["server"]["predict"]) else first
    return say("rounds", rounds=config["rounds"], epochs=epochs, fraction=config["server"]["fraction"])


def _learning_rate(client: Mapping[str, Any]) -> str:
    schedule = client.get("schedule", "none")
    changes = "" if schedule == "none" else f", schedule {schedule}"
    return f"{client['lr']:g} ({client['optimiser']}, momentum {client['momentum']:g}{changes})"


def _tested(run: Run, say: Say) -> str:
    n = run.environment.get("tested")
    return say("tested_n", n=n) if n else say("none")


def _duration(store: Store, runs: Sequence[Run], say: Say) -> str:
    """From start to end, including pauses of resumed runs; unfinished runs have no duration."""
    over = sorted(seconds for run in runs if (seconds := seconds_of(run)) is not None)
    if not over:
        return say("not_over")
    duration = _range(duration_text(over[0]), duration_text(over[-1]))
    is_resumed = any(at.event.kind == "resumed" for run in runs for at in read.events(store, run.run_id))
    return say("with_pauses", duration=duration) if is_resumed else duration


def _traffic(store: Store, runs: Sequence[Run], way: str) -> str:
    sizes = sorted(traffic(store, run, way) for run in runs)
    return _range(bytes_text(sizes[0]), bytes_text(sizes[-1]))


def _environment(run: Run) -> str:
    found = run.environment
    parts = {"python": found.get("python"), "torch": found.get("torch"), "numpy": found.get("numpy")}
    versions = ", ".join(f"{name} {version}" for name, version in parts.items() if version)
    plugins = [plugin_text(plugin) for plugin in found.get("plugins", [])]
    return ", ".join(filter(None, [f"equipoise {run.version}", versions, found.get("machine"), *plugins]))


def plugin_text(plugin: Mapping[str, Any]) -> str:
    """The package, its version, and the hash of its code.

    >>> plugin_text({"name": "m", "package": "my-plugin", "version": "0.1", "sha256": "0123456789abcdef"})
    'plugin my-plugin 0.1 (0123456789ab)'
    """
    version = f" {plugin['version']}" if plugin.get("version") else ""
    return f"plugin {plugin.get('package') or plugin['name']}{version} ({str(plugin.get('sha256'))[:SHORT]})"


def _joined(texts: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(texts))


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low} – {high}"
