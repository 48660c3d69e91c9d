"""Cohorts of tasks and their results as messages: a JSON header and named tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import torch

from equipoise.core.codec import Message, flatten, unflatten
from equipoise.core.errors import ClientError, EquipoiseError
from equipoise.core.values import ClientFailure, ClientState, ClientUpdate, Question, Result, State, Task


def tasks_message(tasks: Sequence[Task]) -> Message:
    """The tasks without the server's broadcast, which is the same for every cohort of a step."""
    header: dict[str, Any] = {"step": tasks[0].step, "clients": [task.client for task in tasks]}
    if tasks[0].question is not None:
        header["question"] = asdict(tasks[0].question)
    header["epochs"] = [tasks[0].epochs.start, tasks[0].epochs.stop]
    return header | _handles([task.own for task in tasks]), flatten(_own([task.own for task in tasks]))


def tasks_of(message: Message, shared: State) -> list[Task]:
    header, tensors = message
    groups, epochs = unflatten(tensors), range(*header["epochs"])
    clients = header["clients"]
    states = zip(clients, _states(groups, header.get("handles") or [""] * len(clients)), strict=True)
    question = Question(**header["question"]) if "question" in header else None
    return [Task(header["step"], client, epochs, shared, own, question) for client, own in states]


def results_message(results: Sequence[Result]) -> Message:
    header = [_header(result) for result in results]
    own = [result.own if isinstance(result, ClientUpdate) else ClientState() for result in results]
    updates = {k: result for k, result in enumerate(results) if isinstance(result, ClientUpdate)}
    rows = {f"{k}:rows": update.rows for k, update in updates.items()}
    rows |= {f"{k}:update": update.model for k, update in updates.items() if not update.own.model}
    return {"results": header} | _handles(own), flatten({**_own(own), **rows})


def error_message(error: EquipoiseError) -> Message:
    return {"raised": [error.what, error.where, error.fix]}, {}


def results_of(message: Message) -> list[Result]:
    """The results, or the error that the worker raised."""
    header, tensors = message
    if "raised" in header:
        what, where, fix = header["raised"]
        raise ClientError(what, where=where, fix=fix)
    groups, headers = unflatten(tensors), header["results"]
    rows, models = ([groups.pop(f"{k}:{name}", {}) for k in range(len(headers))] for name in ("rows", "update"))
    states = _states(groups, header.get("handles") or [""] * len(headers))
    return [_result(*parts) for parts in zip(headers, states, rows, models, strict=True)]


def _header(result: Result) -> dict[str, Any]:
    if isinstance(result, ClientFailure):
        return {"client": result.client, "failure": result.kind, "error": result.error}
    known = {"client": result.client, "samples": result.samples, "metrics": dict(result.metrics)}
    return known | {"counts": list(result.counts)}


def _result(header: Mapping[str, Any], own: ClientState, rows: State, model: State) -> Result:
    """`model` is what was sent up, if the client's own model stays with its node."""
    if "failure" in header:
        return ClientFailure(header["client"], header["failure"], header["error"])
    given = (header["client"], header["samples"], own.model or model, own, header["metrics"], header["counts"])
    return ClientUpdate(*given, rows)


def _own(states: Sequence[ClientState]) -> dict[str, State]:
    """Tensors that have the same shape for all clients are stacked as "all:model"; others are named like "3:report"."""
    found: dict[str, State] = {}
    groups = [own.groups() for own in states]
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


def _states(groups: Mapping[str, State], handles: Sequence[str]) -> list[ClientState]:
    """The states of all clients, in order."""
    own: list[dict[str, State]] = [{} for _ in handles]
    for path, group in groups.items():
        place, name = path.split(":")
        if place != "all":
            own[int(place)][name] = group
            continue
        for key, tensor in group.items():
            for state, part in zip(own, tensor.unbind(), strict=True):
                state[name] = {**state.get(name, {}), key: part}
    return [ClientState.of(state, handle) for state, handle in zip(own, handles, strict=True)]
