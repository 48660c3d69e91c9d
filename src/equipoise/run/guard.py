"""Diagnoses a run while it goes on, and reacts to findings as the configuration says.

    off    nothing
    warn   every finding is an event, once
    stop   an error-level finding ends the run and is recorded
    heal   the rule's own remedy, if it has a safe one, is applied to the following steps and recorded

It examines the run about ten times, at evenly spaced checkpoints, by the same rules as the final diagnosis. With more
than twenty clients it watches the first twenty that take part, so that it stays cheap in large federations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from equipoise.config.check import check
from equipoise.config.schema import Config
from equipoise.core.errors import Halted
from equipoise.core.values import Event, Row
from equipoise.diagnose.examine import HEALED, live
from equipoise.diagnose.finding import Finding
from equipoise.diagnose.recording import SERVER, Curve, Recording
from equipoise.diagnose.rule import RULES
from equipoise.run.state import Record

LOOKS, WATCHED = 10, 20
WARNED, HALTED = "guard-warned", "guard-stopped"


@dataclass(frozen=True)
class Reaction:
    """What happened, and the configuration to continue with if it changed."""

    events: Sequence[Event] = ()
    config: Config | None = None
    halt: Halted | None = None


class Guard:
    def __init__(self, config: Config, start: Recording) -> None:
        """`start` is the recording so far: facts, events, and after a resume the numbers."""
        self.config, self.facts, self.events = config, dict(start.facts), list(start.events)
        self.seen = {event.detail["code"] for event in start.events if event.kind in {WARNED, HEALED, HALTED}}
        self.curves: defaultdict[str, defaultdict[int, Series]] = defaultdict(lambda: defaultdict(Series))
        self.watched: set[int] = set()
        known = [(curve, name) for name, by in start.curves.items() for curve in by.values() if len(curve)]
        self._watch(curve.client for curve, _ in sorted(known, key=lambda each: _first(each[0])))
        for curve, name in known:
            if self._is_watched(curve.client):
                client = SERVER if curve.client is None else curve.client
                self.curves[name][client] = Series(curve.steps.tolist(), curve.values.tolist())

    def see(self, record: Record) -> Reaction:
        """Add one step, and examine the run if it is time."""
        if self.config.guard != "off":
            self._take(record.rows, record.events)
        return self.look(record.step)

    def look(self, step: int) -> Reaction:
        """The reaction after that step, if it is time to examine the run. Findings are not repeated."""
        steps = self.config.steps
        is_time = (step + 1) % max(1, steps // LOOKS) == 0 and 0 <= step < steps - 1
        if self.config.guard == "off" or not is_time:
            return Reaction()
        run = self._recording()
        new = [finding for finding in live(run, self.config.limits) if finding.code not in self.seen]
        self.seen |= {finding.code for finding in new}
        return self._react(run, [finding for finding in new if finding.severity != "note"], step)

    def _react(self, run: Recording, found: Sequence[Finding], step: int) -> Reaction:
        errors = [finding for finding in found if finding.severity == "error"]
        if self.config.guard == "stop" and errors:
            events = [_event(HALTED, finding, step) for finding in errors]
            first = errors[0]
            fix = f"{first.remedy} ({first.override})" if first.override else first.remedy
            return Reaction(events, halt=Halted(f"{first.code}: {first.saw}", fix=fix))
        events, config = [], self.config
        for finding in found:
            heal = RULES.find(finding.code).make.heal
            changes = heal(run, config.model_dump()) if heal is not None and self.config.guard == "heal" else {}
            events.append(_event(HEALED if changes else WARNED, finding, step, changes))
            config = changed(config, changes)
        is_healed = config is not self.config
        self.config = config
        return Reaction(events, config if is_healed else None)

    def _take(self, rows: Sequence[Row], events: Iterable[Event]) -> None:
        self._watch(sorted({row.client for row in rows if row.client is not None}))
        for row in rows:
            if self._is_watched(row.client):
                self.curves[row.name][SERVER if row.client is None else row.client].add(row)
        self.events.extend(events)

    def _watch(self, clients: Iterable[int | None]) -> None:
        for client in clients:
            if client is not None and len(self.watched) < WATCHED:
                self.watched.add(client)

    def _is_watched(self, client: int | None) -> bool:
        return client is None or client in self.watched

    def _recording(self) -> Recording:
        curves = {
            name: {client: series.curve(client) for client, series in sorted(by.items())}
            for name, by in self.curves.items()
        }
        return Recording("live", curves, self.facts, self.events)


def _first(curve: Curve) -> tuple[int, int]:
    """Sort key: clients that took part earlier come first, then those with smaller numbers."""
    return int(curve.steps[0]), SERVER if curve.client is None else curve.client


@dataclass
class Series:
    """The known values of one metric of one client."""

    steps: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    made: Curve | None = None

    def add(self, row: Row) -> None:
        self.steps.append(row.step)
        self.values.append(row.value)
        self.made = None

    def curve(self, client: int) -> Curve:
        """The client's curve, cached until it gets new numbers."""
        if self.made is None:
            self.made = Curve(None if client == SERVER else client, np.array(self.steps), np.array(self.values))
        return self.made


def changed(config: Config, changes: Mapping[str, Any]) -> Config:
    """The configuration with some dotted keys set."""
    if not changes:
        return config
    content = config.model_dump()
    for key, value in changes.items():
        *path, last = key.split(".")
        block = content
        for part in path:
            block = block[part]
        block[last] = value
    return check(content)


def healed(config: Config, events: Iterable[Event]) -> Config:
    """The configuration that a healed run continues with."""
    for event in events:
        if event.kind == HEALED:
            config = changed(config, event.detail["changes"])
    return config


def _event(kind: str, finding: Finding, step: int, changes: Mapping[str, Any] | None = None) -> Event:
    done = (
        "; from here on "
        + ", ".join(
            f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}" for key, value in changes.items()
        )
        if changes
        else ""
    )
    detail = {"code": finding.code, "finding": finding.to_json(), "changes": dict(changes or {})}
    return Event(kind, f"{finding.severity} {finding.code}: {finding.saw}{done}", step, detail=detail)
