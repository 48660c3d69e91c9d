"""A snapshot ⇄ named blobs: one for the server, one for each client that keeps something."""

from __future__ import annotations

from collections.abc import Mapping

from equipoise.core.codec import decode, encode, flatten, unflatten
from equipoise.core.values import ClientState, State
from equipoise.run.loop import Snapshot
from equipoise.server.merge import ServerState

CLIENT, PICTURES = "client/", "pictures"


def pack(snapshot: Snapshot) -> dict[str, bytes]:
    server = flatten({"model": snapshot.server.model, "memory": snapshot.server.memory, "gift": snapshot.gift})
    blobs = {"server": encode({"stopped": sorted(snapshot.stopped)}, server)}
    for client, own in snapshot.own.items():
        blobs[f"{CLIENT}{client}"] = encode({}, flatten(own.groups()))
    return blobs


def pack_pictures(pictures: State) -> dict[str, bytes]:
    """The blob `pictures` of a finished run; nothing before that."""
    return {PICTURES: encode({}, pictures)} if pictures else {}


def unpack(blobs: Mapping[str, bytes]) -> Snapshot:
    header, tensors = decode(blobs["server"])
    groups = unflatten(tensors)
    clients = {name.removeprefix(CLIENT): data for name, data in blobs.items() if name.startswith(CLIENT)}
    own = {int(client): ClientState.of(unflatten(decode(data)[1])) for client, data in clients.items()}
    server = ServerState(groups["model"], groups.get("memory", {}))
    return Snapshot(server, own, frozenset(header["stopped"]), groups.get("gift", {}))
