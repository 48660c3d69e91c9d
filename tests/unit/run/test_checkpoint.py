from __future__ import annotations

from hashlib import sha256

import pytest
import torch

from equipoise.core.codec import decode, encode, flatten, unflatten
from equipoise.core.errors import EngineError
from equipoise.core.values import ClientState
from equipoise.run.build import build
from equipoise.run.checkpoint import Keeper, pack, pack_pictures, unpack
from equipoise.run.loop import first_snapshot
from equipoise.run.state import Best, Snapshot
from equipoise.server.merge import ServerState
from tests.conftest import assert_same, assert_same_own, one_shot, records, tiny

MODEL = {"w": torch.arange(6.0).reshape(2, 3), "n": torch.tensor(4)}
OWN = {
    2: ClientState(MODEL, {"momentum/w": torch.ones(2, 3)}, {"s": torch.tensor(0.5)}),
    10: ClientState(policy={"s": torch.tensor(0.25)}),
    11: ClientState(memory={"memory.labels": torch.tensor([4, 0])}, report={"counts": torch.tensor([3.0, 0.0])}),
}


def assert_same_snapshot(ours: Snapshot, theirs: Snapshot) -> None:
    assert_same(ours.server.model, theirs.server.model)
    assert_same(ours.server.memory, theirs.server.memory)
    assert_same(ours.broadcast, theirs.broadcast)
    assert ours.stopped == theirs.stopped
    assert ours.own.keys() == theirs.own.keys()
    for client, own in ours.own.items():
        assert_same_own(own, theirs.own[client])


@pytest.mark.parametrize(
    "snapshot",
    [
        Snapshot(ServerState(MODEL)),
        Snapshot(ServerState(MODEL, {"m/w": torch.zeros(2, 3)}), OWN, frozenset({1, 7})),
        Snapshot(ServerState(MODEL), {3: ClientState()}),
        Snapshot(ServerState(MODEL), broadcast={"means.features": torch.ones(2, 3), "means.counts": torch.ones(2)}),
    ],
)
def test_a_snapshot_comes_back(snapshot):
    assert_same_snapshot(unpack(pack(snapshot)), snapshot)


@pytest.mark.parametrize("config", [tiny("method=fedadam"), one_shot("client.optimiser=adamw")])
def test_the_snapshot_of_a_real_run_comes_back(config):
    snapshot = records(config)[-1].snapshot
    assert_same_snapshot(unpack(pack(snapshot)), snapshot)


def test_one_blob_for_the_server_and_one_for_each_client_that_keeps_something():
    assert pack(Snapshot(ServerState(MODEL), OWN)).keys() == {"server", "client/2", "client/10", "client/11"}


def test_equal_states_are_equal_bytes():
    """Files are named after their content, so what did not change is stored once."""
    again = {name: tensor.clone() for name, tensor in reversed(MODEL.items())}
    assert pack(Snapshot(ServerState(MODEL))) == pack(Snapshot(ServerState(again)))


def test_a_damaged_blob_is_an_error():
    blobs = pack(Snapshot(ServerState(MODEL), OWN))
    for name in blobs:
        with pytest.raises(EngineError):
            unpack({**blobs, name: blobs[name][:-4]})


def test_pictures_are_a_blob_of_their_own_that_the_next_step_does_not_need():
    snapshot, kept = Snapshot(ServerState(MODEL), OWN), {"labels": torch.tensor([1, 0]), "anchors": torch.eye(2).half()}
    blobs = pack(snapshot) | pack_pictures(kept)
    assert_same(decode(blobs["pictures"])[1], kept)
    assert_same_snapshot(unpack(blobs), snapshot)
    assert pack_pictures({}) == {}


def test_what_did_not_change_is_put_away_once():
    """The next snapshot has one client's new state: that, and the server's, are all that is written."""
    written: dict[str, bytes] = {}

    def put(data: bytes) -> str:
        digest = sha256(data).hexdigest()
        assert digest not in written, "made again"
        written[digest] = data
        return digest

    keeper, later = Keeper(put), {**OWN, 10: ClientState({"w": torch.ones(3)})}
    first = keeper.manifest(Snapshot(ServerState(MODEL), OWN), {})
    moved = {name: tensor + 1 for name, tensor in MODEL.items()}
    second = keeper.manifest(Snapshot(ServerState(moved), later), {"seen": torch.zeros(1)})
    assert {name for name in first if first[name] != second[name]} == {"server", "client/10"}
    blobs = {name: written[digest] for name, digest in second.items()}
    assert blobs == pack(Snapshot(ServerState(moved), later)) | pack_pictures({"seen": torch.zeros(1)})


def test_a_best_state_shares_its_clients_with_the_snapshot():
    made = []

    def put(data: bytes) -> str:
        made.append(data)
        return sha256(data).hexdigest()

    best = Best(0.5, 0, MODEL, {}, OWN)
    keeper = Keeper(put)
    manifest = keeper.manifest(Snapshot(ServerState(MODEL), OWN, best=best), {})
    assert all(manifest[f"best-client/{client}"] == manifest[f"client/{client}"] for client in OWN)
    assert len(made) == 2 + len(OWN)


def test_what_goes_down_beside_the_model_is_part_of_every_checkpoint():
    config = one_shot("method=two-stage", "data.public=0.2", "client.augment=two-view", "method.teacher_epochs=2")
    federation = build(config)
    broadcast = first_snapshot(federation).broadcast
    assert broadcast
    for record in records(federation):
        assert_same(record.snapshot.broadcast, broadcast)
        assert_same(unpack(pack(record.snapshot)).broadcast, broadcast)


def test_groups_of_earlier_versions_are_read_under_their_names_of_today():
    """`gift` was what goes down beside the model, `told` what a client reports."""
    means, counts = {"means.features": torch.ones(2, 3)}, {"counts": torch.tensor([3.0, 0.0])}
    own = {4: ClientState({"w": torch.ones(1)}, report=counts)}
    snapshot = Snapshot(ServerState(MODEL), own, broadcast=means, best=Best(0.5, 3, MODEL, means, own))

    def earlier(data: bytes) -> bytes:
        header, tensors = decode(data)
        names = {"broadcast": "gift", "report": "told"}
        groups = {names.get(name, name): group for name, group in unflatten(tensors).items()}
        assert groups.keys() & {"gift", "told"}
        return encode(header, flatten(groups))

    back = unpack({name: earlier(data) for name, data in pack(snapshot).items()})
    assert_same_snapshot(back, snapshot)
    assert_same(back.own[4].report, counts)
    assert back.best is not None
    assert_same(back.best.broadcast, means)
    assert_same_own(back.best.own[4], own[4])
    assert (back.best.value, back.best.step) == (0.5, 3)
