"""A snapshot ⇄ named blobs: one for the server and one for each client with state; the same for the best state.

After the last step there are also the tensors for pictures, and the clients' models that the last round merged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from torch import Tensor

from equipoise.core.codec import decode, encode, flatten, unflatten
from equipoise.core.values import ClientState, State
from equipoise.run.state import Best, Snapshot
from equipoise.server.merge import ServerState

CLIENT, PICTURES, UPLOAD = "client/", "pictures", "upload/"
BEST, BEST_CLIENT = "best", "best-client/"
FORMER_NAMES = {"gift": "broadcast", "told": "report"}
"""Names of tensor groups in checkpoints of earlier versions."""


NO_UPLOADS: Mapping[int, ClientState] = MappingProxyType({})
Pieces = dict[str, tuple[object, Callable[[], bytes]]]
"""Blob name → the object it stores, and the function that makes its bytes."""


def pack(snapshot: Snapshot) -> dict[str, bytes]:
    return {name: make() for name, (_, make) in _pieces(snapshot).items()}


def pack_pictures(pictures: State) -> dict[str, bytes]:
    """The blob `pictures` of a finished run; empty before the end."""
    return {PICTURES: encode({}, pictures)} if pictures else {}


class Keeper:
    """Stores one snapshot after another; objects that are unchanged since the last one are not written again."""

    def __init__(self, put: Callable[[bytes], str]) -> None:
        self.put = put
        self.kept: dict[int, tuple[object, str]] = {}

    def manifest(
        self, snapshot: Snapshot, pictures: State, uploads: Mapping[int, ClientState] = NO_UPLOADS
    ) -> dict[str, str]:
        """Blob name → digest."""
        digests: dict[str, str] = {}
        kept: dict[int, tuple[object, str]] = {}
        for name, (of, make) in _pieces(snapshot).items():
            known = kept.get(id(of)) or self.kept.get(id(of))
            digests[name] = self.put(make()) if known is None else known[1]
            kept[id(of)] = (of, digests[name])  # keeps the object alive, so that no other one gets its id
        self.kept = kept
        packed = {**pack_pictures(pictures), **{f"{UPLOAD}{client}": _own(sent) for client, sent in uploads.items()}}
        return digests | {name: self.put(data) for name, data in packed.items()}


def _pieces(snapshot: Snapshot) -> Pieces:
    pieces: Pieces = {"server": (snapshot, partial(_server, snapshot)), **_of_clients(snapshot.own, CLIENT)}
    if snapshot.best is not None:
        pieces[BEST] = (snapshot.best, partial(_chosen, snapshot.best))
        pieces |= _of_clients(snapshot.best.own, BEST_CLIENT)
    return pieces


def _server(snapshot: Snapshot) -> bytes:
    server = {"model": snapshot.server.model, "memory": snapshot.server.memory, "broadcast": snapshot.broadcast}
    return encode({"stopped": sorted(snapshot.stopped)}, flatten(server))


def _of_clients(own: Mapping[int, ClientState], prefix: str) -> Pieces:
    return {f"{prefix}{client}": (state, partial(_own, state)) for client, state in own.items()}


def _own(state: ClientState) -> bytes:
    return encode({"handle": state.handle}, flatten(state.groups()))


def _chosen(best: Best) -> bytes:
    return encode({"value": best.value, "step": best.step}, flatten({"model": best.model, "broadcast": best.broadcast}))


def unpack(blobs: Mapping[str, bytes]) -> Snapshot:
    header, tensors = decode(blobs["server"])
    groups = _groups(tensors)
    server = ServerState(groups["model"], groups.get("memory", {}))
    broadcast = groups.get("broadcast", {})
    return Snapshot(server, _clients(blobs, CLIENT), frozenset(header["stopped"]), broadcast, _best(blobs))


def unpack_uploads(blobs: Mapping[str, bytes]) -> dict[int, ClientState]:
    """Client → the model and the report that it sent in the last round; empty if they were not kept."""
    return _clients(blobs, UPLOAD)


def _groups(tensors: State) -> dict[str, dict[str, Tensor]]:
    return {FORMER_NAMES.get(name, name): group for name, group in unflatten(tensors).items()}


def _clients(blobs: Mapping[str, bytes], prefix: str) -> dict[int, ClientState]:
    found = {name.removeprefix(prefix): data for name, data in blobs.items() if name.startswith(prefix)}
    return {int(client): _client(*decode(data)) for client, data in found.items()}


def _client(header: Mapping[str, Any], tensors: State) -> ClientState:
    return ClientState.of(_groups(tensors), header.get("handle", ""))


def _best(blobs: Mapping[str, bytes]) -> Best | None:
    if BEST not in blobs:
        return None
    header, tensors = decode(blobs[BEST])
    groups = _groups(tensors)
    own = _clients(blobs, BEST_CLIENT)
    return Best(header["value"], header["step"], groups["model"], groups.get("broadcast", {}), own)
