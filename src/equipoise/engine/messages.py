"""Cohorts of tasks and their results as messages: a header that JSON takes, and named tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.core.codec import Message, flatten, unflatten
from equipoise.core.errors import ClientError, EquipoiseError
from equipoise.core.values import ClientFailure, ClientState, ClientUpdate, Result, State, Task


def tasks_message(tasks: Sequence[Task]) -> Message:
    """All but what the server sent, which is the same for every cohort of a step."""
    header = {"step": tasks[0].step, "clients": [task.client for task in tasks]}
    header["epochs"] = [tasks[0].epochs.start, tasks[0].epochs.stop]
    return header, flatten(_own([task.own for task in tasks]))


def tasks_of(message: Message, shared: State) -> list[Task]:
    header, tensors = message
    groups, epochs = unflatten(tensors), range(*header["epochs"])
    clients = enumerate(header["clients"])
    return [Task(header["step"], client, epochs, shared, _state(groups, place)) for place, client in clients]


def results_message(results: Sequence[Result]) -> Message:
    header = [_header(result) for result in results]
    own = [result.own if isinstance(result, ClientUpdate) else ClientState() for result in results]
    rows = {f"{k}:rows": result.rows for k, result in enumerate(results) if isinstance(result, ClientUpdate)}
    return {"results": header}, flatten({**_own(own), **rows})


def error_message(error: EquipoiseError) -> Message:
    return {"raised": [error.what, error.where, error.fix]}, {}


def results_of(message: Message) -> list[Result]:
    """The results, or the error that the worker raised."""
    header, tensors = message
    if "raised" in header:
        what, where, fix = header["raised"]
        raise ClientError(what, where=where, fix=fix)
    groups = unflatten(tensors)
    found = enumerate(header["results"])
    return [_result(each, _state(groups, place), groups.get(f"{place}:rows", {})) for place, each in found]


def _header(result: Result) -> dict[str, Any]:
    if isinstance(result, ClientFailure):
        return {"client": result.client, "failure": result.kind, "error": result.error}
    known = {"client": result.client, "samples": result.samples, "metrics": dict(result.metrics)}
    return known | {"counts": list(result.counts)}


def _result(header: Mapping[str, Any], own: ClientState, rows: State) -> Result:
    if "failure" in header:
        return ClientFailure(header["client"], header["failure"], header["error"])
    given = (header["client"], header["samples"], own.model, own, header["metrics"], header["counts"])
    return ClientUpdate(*given, rows)


def _own(states: Sequence[ClientState]) -> dict[str, State]:
    """Every client's groups, under its place in the cohort."""
    return {f"{place}:{name}": group for place, own in enumerate(states) for name, group in own.groups().items()}


def _state(groups: Mapping[str, State], place: int) -> ClientState:
    prefix = f"{place}:"
    own = {name.removeprefix(prefix): group for name, group in groups.items() if name.startswith(prefix)}
    return ClientState.of(own)
