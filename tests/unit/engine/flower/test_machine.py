"""A machine answers parcels; nothing here needs a network."""

from __future__ import annotations

import json

import pytest

from equipoise.core.codec import decode, encode
from equipoise.core.errors import ConfigError, DataError
from equipoise.core.values import ClientUpdate, Task
from equipoise.engine.flower.homes import Homes
from equipoise.engine.flower.machine import ClientMachine, versions
from equipoise.engine.flower.parcel import Parcel
from equipoise.engine.flower.policy import Policy, read_policy
from equipoise.engine.flower.share import dealt, digest, read_share, write_share
from equipoise.engine.messages import results_of, tasks_message
from equipoise.engine.node import Node
from equipoise.models.build import state_of
from equipoise.run.build import build
from tests.conftest import assert_same, tiny

CONFIG = ("engine.together=1",)


@pytest.fixture(scope="module")
def site():
    return build(tiny(*CONFIG)).site


@pytest.fixture(scope="module")
def shares(site, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shares")
    return {name: write_share(site, clients, folder / name) for name, clients in dealt(3, ["a", "b"]).items()}


def header(*overrides: str, do: str = "hello", **more: object) -> dict[str, object]:
    config = json.loads(tiny(*CONFIG, *overrides).model_dump_json())
    return {"do": do, "versions": versions(), "config": config, **more}


def machine(data, tmp_path, **policy) -> ClientMachine:
    return ClientMachine(data, tmp_path / "state", Policy(**policy), "cpu")


def test_clients_are_dealt_out_one_after_another():
    assert dealt(5, ["a", "b"]) == {"a": [0, 2, 4], "b": [1, 3]}


def test_a_share_holds_its_clients_samples_and_no_others(site, shares):
    share = read_share(shares["a"])
    assert share.clients == [0, 2]
    assert len(share.arrays["labels"]) == site.samples(0) + site.samples(2)
    assert digest((share.arrays, share.facts)) == digest(site.only([0, 2]).shared())


def test_a_share_trains_its_clients_as_the_whole_set_does(site, shares, tmp_path):
    """Batches are drawn by the client's number and the place of a sample among its own."""
    task = Task(0, 2, range(1), state_of(site.network()))
    message = encode(*tasks_message([task]))
    parcel = Parcel(header(do="work"), {"0": message, "shared": encode({}, task.shared)})
    answer = machine(shares["a"], tmp_path).answer(parcel)
    (ours,), (local,) = results_of(decode(answer.bodies["0"])), Node(site).work([task])
    assert isinstance(ours, ClientUpdate)
    assert isinstance(local, ClientUpdate)
    assert_same(ours.model, local.model)


def test_hello_tells_clients_counts_and_a_hash(site, shares, tmp_path):
    told = machine(shares["b"], tmp_path).answer(Parcel(header())).header
    assert told["clients"] == [1]
    assert told["counts"] == {"1": site.counts(1).tolist()}
    assert told["digest"] == digest(site.only([1]).shared())


def test_counts_are_told_only_if_the_policy_says_so(shares, tmp_path):
    told = machine(shares["b"], tmp_path, tells_counts=False).answer(Parcel(header())).header
    assert "counts" not in told
    who = machine(shares["b"], tmp_path, tells_counts=False).answer(Parcel(header(do="who"))).header
    assert "samples" not in who["data"]


@pytest.mark.parametrize("name", ["equipoise", "torch", "protocol"])
def test_another_version_is_refused(shares, tmp_path, name):
    asked = header() | {"versions": versions() | {name: "0.0.1"}}
    told = machine(shares["a"], tmp_path).answer(Parcel(asked)).header
    assert told["kind"] == "version-mismatch"
    assert f"{name} 0.0.1 there" in told["refused"]


@pytest.mark.parametrize(
    ("policy", "overrides", "says"),
    [
        ({"methods": ["fafi"]}, (), "'fedavg' is not allowed here; allowed: fafi"),
        ({"models": ["cnn"]}, (), "'mlp' is not allowed here"),
        ({"most_epochs": 1}, ("client.epochs=3", "rounds=2"), "6 epochs in all; at most 1 here"),
    ],
)
def test_the_owner_s_policy_is_final(shares, tmp_path, policy, overrides, says):
    told = machine(shares["a"], tmp_path, **policy).answer(Parcel(header(*overrides))).header
    assert says in told["refused"]


def test_a_plugin_that_the_owner_did_not_list_is_not_loaded(shares, tmp_path):
    asked = header()
    asked["config"] = {**asked["config"], "plugins": [{"name": "os"}]}  # type: ignore[dict-item]
    told = machine(shares["a"], tmp_path).answer(Parcel(asked)).header
    assert "'os' is not among this machine's plugins" in told["refused"]


def test_a_listed_plugin_that_is_missing_is_named(shares, tmp_path):
    asked = header()
    asked["config"] = {**asked["config"], "plugins": [{"name": "no_such_plugin"}]}  # type: ignore[dict-item]
    told = machine(shares["a"], tmp_path, plugins=["no_such_plugin"]).answer(Parcel(asked)).header
    assert "no_such_plugin" in told["refused"]


def test_files_of_the_driver_are_refused(shares, tmp_path):
    asked = header()
    asked["config"] = {**asked["config"], "model": {"name": "backbone", "factory": "/tmp/net.py:make"}}  # type: ignore[dict-item]
    assert "names files" in machine(shares["a"], tmp_path).answer(Parcel(asked)).header["refused"]


def test_too_large_an_answer_stays(site, shares, tmp_path):
    task = Task(0, 0, range(1), state_of(site.network()))
    bodies = {"0": encode(*tasks_message([task])), "shared": encode({}, task.shared)}
    owner = machine(shares["a"], tmp_path, most_megabytes=1e-3)
    assert "may leave" in owner.answer(Parcel(header(do="work", clients={"0": [0]}), bodies)).header["refused"]


def test_a_client_of_another_machine_is_refused(site, shares, tmp_path):
    """Whatever the header says: what counts is the task."""
    task = Task(0, 1, range(1), state_of(site.network()))
    bodies = {"0": encode(*tasks_message([task])), "shared": encode({}, task.shared)}
    parcel = Parcel(header(do="work", clients={"0": [0]}), bodies)
    assert "client 1 is not on this machine" in machine(shares["a"], tmp_path).answer(parcel).header["refused"]


@pytest.mark.parametrize("asked", [{}, {"versions": versions()}, {"versions": versions(), "do": "hello", "config": 3}])
def test_a_strange_message_is_refused(shares, tmp_path, asked):
    assert "refused" in machine(shares["a"], tmp_path).answer(Parcel(asked)).header


def test_no_data_is_refused_in_words(tmp_path):
    told = machine(tmp_path, tmp_path).answer(Parcel(header("data=cifar10"))).header
    assert "refused" in told
    assert "cifar" in told["refused"].lower()


def test_homes_refuse_other_data_and_a_client_in_two_places(site):
    homes = Homes(site)
    good = {"clients": [0], "digest": digest(site.only([0]).shared())}
    assert homes.take(1, "a", good).kind == "machine-joined"
    assert "is on a already" in homes.take(2, "b", good).message
    assert "another set, split or seed" in homes.take(3, "c", {"clients": [1], "digest": "0"}).message
    assert "does not have" in homes.take(4, "d", {"clients": [7], "digest": "0"}).message
    assert list(homes.missing()) == [1, 2]


def test_clients_without_a_home_go_to_machines_with_everything(site):
    homes = Homes(site)
    whole = {"clients": None, "digest": digest(site.shared())}
    assert [homes.take(node, name, whole).kind for node, name in ((7, "b"), (5, "a"))] == ["machine-joined"] * 2
    homes.deal()
    assert homes.home == {0: 5, 1: 7, 2: 5}


def test_a_folder_of_several_shares_serves_several_studies(tmp_path):
    for seed in (0, 1):
        write_share(build(tiny(*CONFIG, f"seed={seed}")).site, [0], tmp_path / "data" / f"seed{seed}")
    told = machine(tmp_path / "data", tmp_path).answer(Parcel(header("seed=1"))).header
    assert told["digest"] == digest(build(tiny(*CONFIG, "seed=1")).site.only([0]).shared())
    told = machine(tmp_path / "data", tmp_path).answer(Parcel(header("seed=2"))).header
    assert "none of its 2 shares" in told["refused"]


def test_a_share_is_not_overwritten(site, shares):
    with pytest.raises(ConfigError, match="holds a share already"):
        write_share(site, [0], shares["a"])


def test_a_damaged_share_is_named(shares, tmp_path):
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "share.json").write_text((shares["a"] / "share.json").read_text())
    (broken / "share.npz").write_bytes(b"not an archive")
    with pytest.raises(DataError, match="the share in broken cannot be read"):
        read_share(broken)


def test_a_policy_file_with_a_strange_key_is_refused(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text("methods: [fedavg]\nmax_epochs: 3\n")
    with pytest.raises(ConfigError, match="max_epochs"):
        read_policy(path)
    path.write_text("methods: [fedavg]\nmost_epochs: 3\n")
    assert read_policy(path).most_epochs == 3
