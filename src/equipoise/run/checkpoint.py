"""A snapshot ⇄ named blobs: one for the server, one for each client that keeps something; the same for the best."""

from __future__ import annotations

from collections.abc import Mapping

from equipoise.core.codec import decode, encode, flatten, unflatten
from equipoise.core.values import ClientState, State
from equipoise.run.loop import Best, Snapshot
from equipoise.server.merge import ServerState

CLIENT, PICTURES = "client/", "pictures"
BEST, BEST_CLIENT = "best", "best-client/"


def pack(snapshot: Snapshot) -> dict[str, bytes]:
    server = flatten({"model": snapshot.server.model, "memory": snapshot.server.memory, "gift": snapshot.gift})
    blobs = {"server": encode({"stopped": sorted(snapshot.stopped)}, server)}
    blobs |= {f"{CLIENT}{client}": encode({}, flatten(own.groups())) for client, own in snapshot.own.items()}
    best = snapshot.best
    if best is not None:
        state = flatten({"model": best.model, "gift": best.gift})
        blobs[BEST] = encode({"value": best.value, "step": best.step}, state)
        blobs |= {f"{BEST_CLIENT}{client}": encode({}, flatten(own.groups())) for client, own in best.own.items()}
    return blobs


def pack_pictures(pictures: State) -> dict[str, bytes]:
    """The blob `pictures` of a finished run; nothing before that."""
    return {PICTURES: encode({}, pictures)} if pictures else {}


def unpack(blobs: Mapping[str, bytes]) -> Snapshot:
    header, tensors = decode(blobs["server"])
    groups = unflatten(tensors)
    server = ServerState(groups["model"], groups.get("memory", {}))
    gift = groups.get("gift", {})
    return Snapshot(server, _clients(blobs, CLIENT), frozenset(header["stopped"]), gift, _best(blobs))


def _clients(blobs: Mapping[str, bytes], prefix: str) -> dict[int, ClientState]:
    found = {name.removeprefix(prefix): data for name, data in blobs.items() if name.startswith(prefix)}
    return {int(client): ClientState.of(unflatten(decode(data)[1])) for client, data in found.items()}


def _best(blobs: Mapping[str, bytes]) -> Best | None:
    if BEST not in blobs:
        return None
    header, tensors = decode(blobs[BEST])
    groups = unflatten(tensors)
    own = _clients(blobs, BEST_CLIENT)
    return Best(header["value"], header["step"], groups["model"], groups.get("gift", {}), own)
