"""One run: its verdict, how it stands now, where to find its maps and charts, its events, machines and protocol."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from equipoise.config.loader import dump_yaml
from equipoise.dashboard.changes import said
from equipoise.dashboard.listing import RunLine, lines
from equipoise.dashboard.view import Dashboard, Visitor
from equipoise.diagnose.words import healing, labels
from equipoise.report.card import card
from equipoise.report.words import words
from equipoise.store import read
from equipoise.store.metrics import has_clients, last_step, recorded_names
from equipoise.store.records import RecordedEvent, Run
from equipoise.store.watching import requested

MAPS = (
    "accuracy/test", "accuracy/personal", "accuracy/local", "lam/used", "loss/base", "loss/align", "update/norm",
    "update/cosine", "grad/cosine", "grad/norm", "accuracy/train", "surprise", "seconds",
)  # fmt: skip
"""Metrics of clients in the order of their maps; other losses follow."""
EVENTS = 200
MACHINE_EVENTS = {"machine-joined": "joined", "machine-lost": "lost", "machine-refused": "refused"}


class ShownFinding(BaseModel):
    code: str
    severity: str
    saw: str
    cause: str
    remedy: str
    override: str
    began: int | None
    """The checkpoint, counted from 1, at which it first shows."""
    clients: list[int]
    because: list[str]
    healed: str


class ShownEvent(BaseModel):
    time: str
    kind: str
    step: int | None
    client: int | None
    message: str


class Machine(BaseModel):
    name: str
    state: str
    since: str
    message: str


class Entry(BaseModel):
    """One line of the protocol."""

    name: str
    text: str


class RunPage(BaseModel):
    run: RunLine
    findings: list[ShownFinding]
    examined_until: int | None
    """The newest checkpoint, counted from 1, that the findings are about, while the run goes on."""
    is_examined: bool
    """False while the first examination is under way."""
    now: dict[str, Any] | None
    """Who is training, has answered, failed or has stopped."""
    refused: list[int]
    """Clients whose updates were refused at the newest checkpoint with such an event."""
    maps: list[str]
    events: list[ShownEvent]
    n_events: int
    machines: list[Machine]
    engine: str
    protocol: list[Entry]
    config: str
    """As YAML: a preset that gives this run again."""
    asked: list[str]
    may_stop: bool
    may_resume: bool
    fused_from: str | None


def run_page(board: Dashboard, run: Run, visitor: Visitor) -> RunPage:
    store, run_id = board.store, run.run_id
    progress = board.progress().get(run_id) if run.status == "running" else None
    [line] = lines(store, [run], {} if progress is None else {run_id: said(progress)})
    events, last = read.events(store, run_id), last_step(store, run_id)
    verdict = board.verdicts.of(run, last, visitor.language)
    asked = requested(store, run_id) if run.status == "running" else []
    return RunPage(
        run=line,
        findings=[_shown(finding, visitor) for finding in verdict.findings],
        examined_until=None if verdict.step is None else verdict.step + 1,
        is_examined=verdict.is_complete,
        now=progress,
        refused=_refused(events),
        maps=maps(board, run_id),
        events=[_event(each) for each in reversed(events[-EVENTS:])],
        n_events=len(events),
        machines=_machines(events),
        engine=_engine(run),
        protocol=_protocol(board, run, visitor),
        config=dump_yaml(run.config),
        asked=asked,
        may_stop=visitor.may_act and run.status == "running" and "stop" not in asked,
        may_resume=visitor.may_act and run.status in {"stopped", "failed", "killed"},
        fused_from=next((each.event.detail["from"] for each in events if each.event.kind == "fused"), None),
    )


def maps(board: Dashboard, run_id: str) -> list[str]:
    """The metrics that clients recorded, of which there is a map."""
    names = recorded_names(board.store, run_id)
    losses = [name for name in names if name.startswith("loss/") and name not in MAPS]
    return has_clients(board.store, run_id, [name for name in (*MAPS, *losses) if name in names])


def _shown(finding: Any, visitor: Visitor) -> ShownFinding:
    kept = ("code", "severity", "saw", "cause", "remedy", "override")
    return ShownFinding(
        **{name: getattr(finding, name) for name in kept},
        began=finding.steps[0] + 1 if finding.steps else None,
        clients=list(finding.clients),
        because=list(finding.because),
        healed=healing(finding.healed, labels(visitor.language)),
    )


def _event(recorded: RecordedEvent) -> ShownEvent:
    event = recorded.event
    step = None if event.step is None else event.step + 1
    return ShownEvent(time=recorded.time, kind=event.kind, step=step, client=event.client, message=event.message)


def _refused(events: list[RecordedEvent]) -> list[int]:
    found = [each.event for each in events if each.event.kind == "update-refused" and each.event.client is not None]
    newest = max((event.step for event in found if event.step is not None), default=None)
    return sorted({event.client for event in found if event.step == newest and event.client is not None})


def _machines(events: list[RecordedEvent]) -> list[Machine]:
    """Each machine in its newest state."""
    found: dict[str, Machine] = {}
    for at in events:
        if at.event.kind in MACHINE_EVENTS and "machine" in at.event.detail:
            name, state = str(at.event.detail["machine"]), MACHINE_EVENTS[at.event.kind]
            found[name] = Machine(name=name, state=state, since=at.time, message=at.event.message)
    return sorted(found.values(), key=lambda machine: machine.name)


def _engine(run: Run) -> str:
    engine = run.config.get("engine", {})
    parts = [f"{key} {engine[key]}" for key in ("workers", "address", "device") if engine.get(key) is not None]
    host = f"{run.environment.get('host', '')}, pid {run.environment.get('pid', '')}"
    return " · ".join([str(engine.get("name", "local")), *parts, host])


def _protocol(board: Dashboard, run: Run, visitor: Visitor) -> list[Entry]:
    say = words(visitor.language)
    return [
        Entry(name=entry.name, text=" ".join(text for _, text in entry.lines))
        for entry in card(board.store, {run.run_id: [run]}, say)
    ]
