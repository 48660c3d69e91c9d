"""A snapshot ⇄ named blobs: one for the server, one for each client that keeps something."""

from __future__ import annotations

from collections.abc import Mapping

from equipoise.core.codec import decode, encode, flatten, unflatten
from equipoise.core.values import ClientState
from equipoise.run.loop import Snapshot
from equipoise.server.merge import ServerState


def pack(snapshot: Snapshot) -> dict[str, bytes]:
    server = flatten({"model": snapshot.server.model, "memory": snapshot.server.memory})
    blobs = {"server": encode({"stopped": sorted(snapshot.stopped)}, server)}
    for client, own in snapshot.own.items():
        state = flatten({"model": own.model, "optimiser": own.optimiser, "policy": own.policy})
        blobs[f"client/{client}"] = encode({}, state)
    return blobs


def unpack(blobs: Mapping[str, bytes]) -> Snapshot:
    header, tensors = decode(blobs["server"])
    groups = unflatten(tensors)
    own = {int(name.split("/")[1]): _client(data) for name, data in blobs.items() if name != "server"}
    server = ServerState(groups["model"], groups.get("memory", {}))
    return Snapshot(server, own, frozenset(header["stopped"]))


def _client(data: bytes) -> ClientState:
    groups = unflatten(decode(data)[1])
    return ClientState(groups.get("model", {}), groups.get("optimiser", {}), groups.get("policy", {}))
