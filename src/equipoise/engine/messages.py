"""Tasks and results as codec messages."""

from __future__ import annotations

from equipoise.core.codec import decode, encode, flatten, unflatten
from equipoise.core.errors import ClientError, EquipoiseError
from equipoise.core.values import ClientFailure, ClientState, ClientUpdate, Task
from equipoise.engine.engine import Result


def task_bytes(task: Task) -> bytes:
    header = {"step": task.step, "client": task.client, "epochs": [task.epochs.start, task.epochs.stop]}
    return encode(header, flatten({"shared": task.shared, **task.own.groups()}))


def task_from(data: bytes) -> Task:
    header, tensors = decode(data)
    groups = unflatten(tensors)
    shared = groups.get("shared", {})
    return Task(header["step"], header["client"], range(*header["epochs"]), shared, ClientState.of(groups))


def result_bytes(result: Result) -> bytes:
    if isinstance(result, ClientFailure):
        return encode({"client": result.client, "failure": result.kind, "error": result.error}, {})
    header = {"client": result.client, "samples": result.samples, "metrics": dict(result.metrics)}
    header["counts"] = list(result.counts)
    return encode(header, flatten(result.own.groups()))


def error_bytes(error: EquipoiseError) -> bytes:
    return encode({"raised": [error.what, error.where, error.fix]}, {})


def result_from(data: bytes) -> Result:
    """The result, or the error that the worker raised."""
    header, tensors = decode(data)
    if "raised" in header:
        what, where, fix = header["raised"]
        raise ClientError(what, where=where, fix=fix)
    if "failure" in header:
        return ClientFailure(header["client"], header["failure"], header["error"])
    own = ClientState.of(unflatten(tensors))
    client, samples = header["client"], header["samples"]
    return ClientUpdate(client, samples, own.model, own, header["metrics"], header["counts"])
