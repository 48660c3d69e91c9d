"""Reads the history of a Flower run: a `Result` (Flower 1.21 and later) or a `History` (before), as JSON or as it is.

    evaluate_metrics_serverapp, metrics_centralized, losses_centralized       the server's: accuracy/merged, server/loss
    evaluate_metrics_clientapp, metrics_distributed, losses_distributed       means over clients: evaluate/…
    train_metrics_clientapp, metrics_distributed_fit                          means over clients: train/…

Flower's `accuracy` of the server is our `accuracy/merged`. Its round is the step; round 0 is before training. Pickled
histories are refused, because reading a pickle can run any code.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from equipoise.core.errors import DataError
from equipoise.track.history import ForeignHistory, WantedRuns, cleaned, number_of, recorded, require_size

BY_ROUND = {
    "evaluate_metrics_serverapp": "server",
    "evaluate_metrics_clientapp": "evaluate",
    "train_metrics_clientapp": "train",
}
"""Sections {round: {name: value}} of a Result."""
BY_NAME = {"metrics_centralized": "server", "metrics_distributed": "evaluate", "metrics_distributed_fit": "train"}
"""Sections {name: [(round, value)]} of a History."""
LOSSES = {"losses_centralized": "server", "losses_distributed": "evaluate"}
"""Sections [(round, loss)] of a History."""
SECTIONS = (*BY_ROUND, *BY_NAME, *LOSSES)
LARGEST_JSON = 64 * 2**20
FIX = f"a JSON object with some of: {', '.join(SECTIONS)}"
OURS = {"server/accuracy": "accuracy/merged"}


def read_flower(path: Path, wanted: WantedRuns) -> list[ForeignHistory]:
    require_size(path, LARGEST_JSON)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"'{path.name}' is not JSON: {error}", where=str(path), fix=FIX) from None
    if not isinstance(content, Mapping):
        raise DataError(f"'{path.name}' is not Flower's history", where=str(path), fix=FIX)
    return [flower_history(content, path.stem, str(path), wanted)]


def sections_of(history: Any) -> dict[str, Any]:
    """The sections of a Result, a History, or a mapping like them."""
    if isinstance(history, Mapping):
        return dict(history)
    return {name: getattr(history, name) for name in SECTIONS if hasattr(history, name)}


def flower_history(content: Mapping[str, Any], label: str, source: str, wanted: WantedRuns) -> ForeignHistory:
    if not any(section in content for section in SECTIONS):
        raise DataError("this is not Flower's history", where=source, fix=FIX)
    skipped: list[str] = []
    found = list(_numbers(content, source, skipped))
    recording, repairs = recorded(found, cleaned(label), source, wanted.names)
    if skipped:
        repairs.append(f"{len(skipped)} values that are not numbers left out, as {skipped[0]}")
    return ForeignHistory("flower", source, label, cleaned(label), recording, repairs=repairs)


def _numbers(content: Mapping[str, Any], source: str, skipped: list[str]) -> Iterator[Any]:
    for round_, name, value in _values(content, source):
        number = number_of(value)
        if number is None:
            skipped.append(name)
        else:
            yield _round(round_, source), None, OURS.get(name, name), number


def _values(content: Mapping[str, Any], source: str) -> Iterator[tuple[Any, str, Any]]:
    """(round, name, value) of every section."""
    try:
        for section, who in BY_ROUND.items():
            for round_, metrics in (content.get(section) or {}).items():
                yield from ((round_, f"{who}/{cleaned(str(name))}", value) for name, value in metrics.items())
        for section, who in BY_NAME.items():
            for name, points in (content.get(section) or {}).items():
                yield from ((round_, f"{who}/{cleaned(str(name))}", value) for round_, value in points)
        for section, who in LOSSES.items():
            yield from ((round_, f"{who}/loss", value) for round_, value in content.get(section) or [])
    except (AttributeError, TypeError, ValueError):
        raise DataError("this is not Flower's history: a section has another shape", where=source, fix=FIX) from None


def _round(round_: Any, source: str) -> float:
    try:
        return float(int(round_))
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"{cleaned(str(round_))!r} is not a round", where=source, fix=FIX) from None
