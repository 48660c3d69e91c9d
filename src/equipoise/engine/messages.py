"""Cohorts of tasks and their results as messages: a JSON header and named tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor

from equipoise.core.codec import Message, flatten, unflatten, unstacked
from equipoise.core.errors import ClientError, EquipoiseError
from equipoise.core.values import ClientFailure, ClientState, ClientUpdate, Event, Question, Result, State, Task

METRICS, COUNTS = "numbers/metrics", "numbers/counts"
"""Tables of what many clients measured, and of their samples of each class."""
SENT, ROWS = "sent", "rows"
"""What is in a result beside the client's own state: the model that it sends, and which rows of tables those are."""


def tasks_message(tasks: Sequence[Task]) -> Message:
    """The tasks without the server's broadcast, which is the same for every cohort of a step."""
    header: dict[str, Any] = {"step": tasks[0].step, "clients": [task.client for task in tasks]}
    if tasks[0].question is not None:
        header["question"] = asdict(tasks[0].question)
    header["epochs"] = [tasks[0].epochs.start, tasks[0].epochs.stop]
    return header | _handles([task.own for task in tasks]), flatten(_stacked([task.own.groups() for task in tasks]))


def tasks_of(message: Message, shared: State) -> list[Task]:
    header, tensors = message
    groups, epochs = unflatten(tensors), range(*header["epochs"])
    clients = header["clients"]
    handles = header.get("handles") or [""] * len(clients)
    states = zip(clients, _unstacked(groups, len(clients)), handles, strict=True)
    question = Question(**header["question"]) if "question" in header else None
    return [
        Task(header["step"], client, epochs, shared, ClientState.of(own, handle), question)
        for client, own, handle in states
    ]


def results_message(results: Sequence[Result], events: Sequence[Event] = ()) -> Message:
    """A model that is sent and kept alike travels once. `events` are what happened on the way."""
    names, table = _numbers(results)
    header = [_header(result, bool(table)) for result in results]
    own = [result.own if isinstance(result, ClientUpdate) else ClientState() for result in results]
    groups = [{**state.groups(), **_sent(result)} for state, result in zip(own, results, strict=True)]
    seen = {"events": [asdict(event) for event in events]} if events else {}
    return {"results": header, "names": names} | seen | _handles(own), flatten(_stacked(groups)) | table


def _numbers(results: Sequence[Result]) -> tuple[list[str], dict[str, Tensor]]:
    """What many clients measured, as tables: names, and numbers [K, names] and counts [K, classes]. Empty if they are
    few, or do not have the same names; then each header has its own."""
    updates = [result for result in results if isinstance(result, ClientUpdate)]
    first = updates[0] if len(updates) == len(results) > 1 else None
    if first is None or any(
        update.metrics.keys() != first.metrics.keys() or len(update.counts) != len(first.counts) for update in updates
    ):
        return [], {}
    measured = torch.tensor([list(update.metrics.values()) for update in updates], dtype=torch.float64)
    return list(first.metrics), {METRICS: measured, COUNTS: torch.tensor([list(update.counts) for update in updates])}


def _sent(result: Result) -> dict[str, State]:
    if isinstance(result, ClientFailure):
        return {SENT: {}, ROWS: {}}
    return {SENT: {} if result.model is result.own.model else result.model, ROWS: result.rows}


def error_message(error: EquipoiseError) -> Message:
    return {"raised": [error.what, error.where, error.fix]}, {}


def results_of(message: Message) -> list[Result]:
    """The results, or the error that the worker raised."""
    header, tensors = message
    if "raised" in header:
        what, where, fix = header["raised"]
        raise ClientError(what, where=where, fix=fix)
    headers = header["results"]
    if METRICS in tensors:
        rows = zip(headers, tensors[METRICS].tolist(), tensors[COUNTS].tolist(), strict=True)
        headers = [
            {**known, "metrics": dict(zip(header["names"], measured, strict=True)), "counts": counts}
            for known, measured, counts in rows
        ]
    states = {name: tensor for name, tensor in tensors.items() if name not in (METRICS, COUNTS)}
    groups = _unstacked(unflatten(states), len(headers))
    handles = header.get("handles") or [""] * len(headers)
    return [_result(*parts) for parts in zip(headers, groups, handles, strict=True)]


def events_of(message: Message) -> list[Event]:
    return [Event(**event) for event in message[0].get("events", ())]


def _header(result: Result, has_table: bool) -> dict[str, Any]:
    if isinstance(result, ClientFailure):
        return {"client": result.client, "failure": result.kind, "error": result.error}
    known: dict[str, Any] = {"client": result.client, "samples": result.samples}
    return known if has_table else known | {"metrics": dict(result.metrics), "counts": list(result.counts)}


def _result(header: Mapping[str, Any], groups: Mapping[str, State], handle: str) -> Result:
    if "failure" in header:
        return ClientFailure(header["client"], header["failure"], header["error"])
    own = ClientState.of(groups, handle)
    sent = groups.get(SENT) or own.model
    given = (header["client"], header["samples"], sent, own, header["metrics"], header["counts"])
    return ClientUpdate(*given, groups.get(ROWS, {}))


def _stacked(groups: Sequence[Mapping[str, State]]) -> dict[str, State]:
    """Tensors that have the same shape for all clients are stacked as "all:model"; others are named like "3:report"."""
    found: dict[str, State] = {}
    for name in groups[0] if groups else ():
        parts = [group[name] for group in groups]
        if len(parts) > 1 and _shapes(parts[0]) and all(_shapes(part) == _shapes(parts[0]) for part in parts):
            found[f"all:{name}"] = {key: torch.stack([part[key] for part in parts]) for key in parts[0]}
        else:
            found |= {f"{place}:{name}": part for place, part in enumerate(parts)}
    return found


def _shapes(state: State) -> dict[str, object]:
    return {name: (tensor.shape, tensor.dtype) for name, tensor in state.items()}


def _handles(states: Sequence[ClientState]) -> dict[str, list[str]]:
    """Empty if no node keeps any state."""
    handles = [state.handle for state in states]
    return {"handles": handles} if any(handles) else {}


def _unstacked(groups: Mapping[str, State], n: int) -> list[dict[str, State]]:
    """The groups of each of `n` clients, in order."""
    own: list[dict[str, State]] = [{} for _ in range(n)]
    for path, group in groups.items():
        place, name = path.split(":")
        if place != "all":
            own[int(place)][name] = group
            continue
        for state, tensors in zip(own, unstacked(group, n), strict=True):
            state[name] = tensors
    return own
