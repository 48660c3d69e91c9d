"""Recordings written by hand, for rules whose arithmetic is the point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from equipoise.diagnose.examine import examine
from equipoise.diagnose.finding import Finding
from equipoise.diagnose.recording import SERVER, Curve, Recording

Values = Sequence[float]


def run_of(
    clients: Mapping[str, Mapping[int, Values] | Values] | None = None,
    server: Mapping[str, Values] | None = None,
    **facts: Any,
) -> Recording:
    """A run from {name: values} of client 0, {name: {client: values}}, and the server's {name: values}."""
    curves: dict[str, dict[int, Curve]] = {}
    for name, given in (clients or {}).items():
        for client, values in (given if isinstance(given, Mapping) else {0: given}).items():
            curves.setdefault(name, {})[client] = curve(values, client)
    for name, values in (server or {}).items():
        curves.setdefault(name, {})[SERVER] = curve(values, None)
    return Recording("by-hand", curves, facts)


def curve(values: Values, client: int | None) -> Curve:
    return Curve(client, np.arange(len(values)), np.asarray(values, dtype=float))


def found(run: Recording, code: str) -> Finding | None:
    """What one rule says; that it was examined is part of the question."""
    verdict = examine(run)
    assert code not in verdict.not_examined, verdict.not_examined.get(code)
    return next((finding for finding in verdict.findings if finding.code == code), None)
