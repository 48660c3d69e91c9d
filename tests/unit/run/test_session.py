from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from equipoise.config.loader import Request
from equipoise.config.schema import Config
from equipoise.core.codec import decode
from equipoise.core.errors import ClientError, ConfigError, StoreError
from equipoise.core.values import Row
from equipoise.run import announce, carry_on, session
from equipoise.run.announce import Membership
from equipoise.run.placed import placed
from equipoise.run.session import resume, start
from equipoise.run.watch import Nobody
from equipoise.store import blobs, read
from equipoise.store.database import Store
from tests.conftest import one_shot, records, tiny
from tests.unit.data.writers import random_images, write_fashion

from .conftest import Breaks

CONFIGS = {
    "rounds": tiny("rounds=3", "method=fedavgm"),
    "one-shot": one_shot("client.optimiser=adamw", "evaluate.beside=last", epochs=3, checkpoints=3),
    "kept apart": tiny("rounds=3", "method=local-only", "server.fraction=0.67"),
}


def numbers(store: Store, run_id: str) -> list[Row]:
    """Every recorded number but the time it took."""
    return [row for row in read.rows(store, run_id) if row.name != "seconds"]


def begun(store: Store, config: Config, watch: Nobody) -> str:
    """The id of a run whose watcher ended it."""
    with pytest.raises(type(watch.error)):  # type: ignore[attr-defined]
        start(store, Request(config, None), watch)
    return read.find_run(store, "latest").run_id


@pytest.fixture(scope="module")
def undisturbed():
    """The numbers of each configuration, run from its beginning to its end."""
    known = {}
    for name, config in CONFIGS.items():
        rows = [row for record in records(config) for row in record.rows if row.name != "seconds"]
        known[name] = sorted(rows, key=lambda row: (row.step, -1 if row.client is None else row.client, row.name))
    return known


def test_a_run_from_its_first_line_to_its_last(store, undisturbed):
    config = CONFIGS["rounds"]
    run_id = start(store, Request(config, None), Nobody())
    run = read.find_run(store, run_id)
    assert (run.status, run.error, run.method, run.seed) == ("done", None, "fedavgm", 0)
    assert (run.headline, run.config_hash) == ("accuracy/merged", placed(config).fingerprint())
    assert run.finished is not None
    assert numbers(store, run_id) == undisturbed["rounds"]
    assert [event.event.kind for event in read.events(store, run_id)] == ["started"]
    assert [point.step for point in read.checkpoints(store, run_id)] == [2]


def test_pictures_are_kept_of_a_run_that_is_done_and_of_no_other(store):
    run_id = start(store, Request(CONFIGS["one-shot"], None), Nobody())
    (checkpoint,) = read.checkpoints(store, run_id)
    assert checkpoint.manifest.keys() == {"server", "pictures", *(f"client/{k}" for k in range(3))}
    assert "labels" in decode(blobs.get(store, checkpoint.manifest["pictures"]))[1]
    stopped = begun(store, CONFIGS["one-shot"], Breaks(KeyboardInterrupt(), 1))
    assert all("pictures" not in checkpoint.manifest for checkpoint in read.checkpoints(store, stopped))


def test_who_owned_what_is_written_down(store, federation_of):
    config = CONFIGS["rounds"]
    run_id = start(store, Request(config, None), Nobody())
    federation = federation_of(config)
    run = read.find_run(store, run_id)
    assert run.partition == federation.partition.fingerprint
    partition = read.partition(store, run.partition)
    assert partition.counts == federation.partition.counts.tolist()
    assert (partition.name, partition.overlaps, partition.options["alpha"]) == ("dirichlet", False, 0.5)
    owned = decode(blobs.get(store, partition.owners))[1]
    parts = np.split(owned["owned"].numpy(), owned["bounds"].numpy()[1:-1])
    assert [part.tolist() for part in parts] == [index.tolist() for index in federation.partition.indices]
    clients = read.clients(store, run_id)
    assert [client.samples for client in clients] == [len(index) for index in federation.site.indices]
    assert sum(sum(client.labels) for client in clients) == 180


def test_a_centralised_run_has_one_client(store):
    run_id = start(store, Request(tiny("method=centralised", "rounds=1"), None), Nobody())
    assert [client.samples for client in read.clients(store, run_id)] == [180]


def test_a_splitter_that_overlaps_is_an_event_and_a_note(store):
    watch = Breaks(RuntimeError(), step=99)
    config = tiny("partition=fafi-overlap", "rounds=1")
    run_id = start(store, Request(config, None), watch)
    kinds = [event.event.kind for event in read.events(store, run_id)]
    assert kinds == ["started", "partition-overlap"]
    assert any("is not a partition" in note for note in watch.notes)


def test_a_member_of_a_sweep_says_so(store):
    run_id = start(store, Request(tiny("rounds=1"), None), Nobody(), Membership("my-sweep", "a cell"))
    run = read.find_run(store, run_id)
    assert (run.sweep, run.cell) == ("my-sweep", "a cell")


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (KeyboardInterrupt(), "stopped", None),
        (ClientError("it broke", fix="mend it"), "failed", "it broke\n  next:  mend it"),
        (RuntimeError("odd"), "failed", "RuntimeError('odd')"),
        (SystemExit(3), "failed", "SystemExit(3)"),
    ],
)
def test_whatever_way_a_run_ends_the_store_says_how(store, error, status, said):
    watch = Breaks(error, step=0)
    run_id = begun(store, CONFIGS["rounds"], watch)
    run = read.find_run(store, run_id)
    assert (run.status, run.error) == (status, said)
    assert [at.event.kind for at in read.events(store, run_id)] == ["started", status]
    assert watch.ended
    assert [point.step for point in read.checkpoints(store, run_id)] == [0]


def test_a_run_that_breaks_before_its_engine_is_there(store):
    class Refuses(Nobody):
        def begin(self, run_id, federation, first) -> None:
            raise RuntimeError("not now")

    with pytest.raises(RuntimeError, match="not now"):
        start(store, Request(CONFIGS["rounds"], None), Refuses())
    assert read.find_run(store, "latest").status == "failed"


def test_a_run_whose_clients_all_fail_is_a_failed_run_with_its_reason(store):
    with pytest.raises(ClientError):
        start(store, Request(tiny("client.lr=1e30"), None), Nobody())
    run = read.find_run(store, "latest")
    assert run.status == "failed"
    assert run.error is not None
    assert "loss/base is" in run.error


def test_the_first_error_is_the_one_reported(store, monkeypatch):
    def refuse(*_, **__):
        raise StoreError("the disk is full")

    monkeypatch.setattr(session.write, "finish", refuse)
    with pytest.raises(RuntimeError, match="the first"):
        start(store, Request(CONFIGS["rounds"], None), Breaks(RuntimeError("the first"), step=0))


@pytest.mark.parametrize("at", ["checkpoint", "tick"])
@pytest.mark.parametrize("step", [0, 1, 2])
@pytest.mark.parametrize("name", CONFIGS)
def test_a_run_that_broke_at_any_step_resumes_to_the_same_numbers(store, undisturbed, name, step, at):
    run_id = begun(store, CONFIGS[name], Breaks(RuntimeError("broken"), step, at))
    resume(store, read.find_run(store, run_id), Nobody())
    run = read.find_run(store, run_id)
    assert (run.status, run.error) == ("done", None)
    assert numbers(store, run_id) == undisturbed[name]


def test_a_run_may_be_stopped_again_and_again(store, undisturbed):
    run_id = begun(store, CONFIGS["one-shot"], Breaks(KeyboardInterrupt(), 0))
    with pytest.raises(KeyboardInterrupt):
        resume(store, read.find_run(store, run_id), Breaks(KeyboardInterrupt(), 1, "tick"))
    with pytest.raises(KeyboardInterrupt):
        resume(store, read.find_run(store, run_id), Breaks(KeyboardInterrupt(), 1))
    resume(store, read.find_run(store, run_id), Nobody())
    assert numbers(store, run_id) == undisturbed["one-shot"]


class Follows(Breaks):
    """Somebody who writes down where the run began."""

    def __init__(self) -> None:
        super().__init__(RuntimeError(), step=99)
        self.first = -1

    def begin(self, run_id, federation, first) -> None:
        self.first = first


@pytest.mark.parametrize("name", ["rounds", "one-shot"])
@pytest.mark.parametrize("harm", ["damage", "truncate", "delete"])
def test_a_damaged_checkpoint_falls_back_to_the_one_before_and_says_so(store, undisturbed, name, harm):
    run_id = begun(store, CONFIGS[name], Breaks(RuntimeError(), 1))
    newest, older = read.checkpoints(store, run_id)
    fresh = sorted(set(newest.manifest.values()) - set(older.manifest.values()))
    path = blobs.blob_path(store, fresh[0])
    if harm == "delete":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:50] if harm == "truncate" else b"\0" * path.stat().st_size)
    watch = Follows()
    resume(store, read.find_run(store, run_id), watch)
    assert watch.first == 1
    (event,) = [at.event for at in read.events(store, run_id) if at.event.kind == "checkpoint-damaged"]
    assert event.detail == {"step": 1}
    assert "checkpoint 2 cannot be used, going back to the one before it" in event.message
    assert watch.notes == [f"! {event.message}"]
    assert numbers(store, run_id) == undisturbed[name]


def test_when_no_checkpoint_is_whole_nothing_is_thrown_away(store):
    run_id = begun(store, CONFIGS["rounds"], Breaks(RuntimeError(), 1))
    recorded = numbers(store, run_id)
    for point in read.checkpoints(store, run_id):
        blobs.blob_path(store, point.manifest["server"]).unlink()
    with pytest.raises(StoreError, match=r"no checkpoint of run .* can be used") as caught:
        resume(store, read.find_run(store, run_id), Nobody())
    assert "bring the files back" in caught.value.fix
    assert numbers(store, run_id) == recorded


def test_a_disk_that_cannot_be_read_is_not_taken_for_damage(store, monkeypatch):
    run_id = begun(store, CONFIGS["rounds"], Breaks(RuntimeError(), 1))
    recorded = numbers(store, run_id)

    def unreadable(store, digest):
        raise StoreError("a file of the store cannot be read")

    monkeypatch.setattr(session.blobs, "get", unreadable)
    with pytest.raises(StoreError, match="cannot be read"):
        resume(store, read.find_run(store, run_id), Nobody())
    assert numbers(store, run_id) == recorded


def test_what_another_process_finished_is_left_alone(store, monkeypatch):
    run_id = begun(store, CONFIGS["rounds"], Breaks(RuntimeError(), 1))
    stale = read.find_run(store, run_id)
    resume(store, stale, Nobody())
    monkeypatch.setattr(session, "build", None)
    resume(store, stale, Nobody())


def test_a_changed_environment_is_said(store, monkeypatch):
    run_id = begun(store, CONFIGS["rounds"], Breaks(RuntimeError(), 1))
    monkeypatch.setattr(announce.platform, "python_version", lambda: "3.99")
    resume(store, read.find_run(store, run_id), Nobody())
    (event,) = [seen.event for seen in read.events(store, run_id) if seen.event.kind == "environment-changed"]
    assert "→ 3.99" in event.message


def test_a_run_that_is_done_is_not_resumed(store):
    run_id = start(store, Request(tiny("rounds=1"), None), Nobody())
    with pytest.raises(ConfigError, match="there is nothing left to resume"):
        resume(store, read.find_run(store, run_id), Nobody())


def test_a_run_of_another_version_is_not_resumed(store):
    run_id = begun(store, CONFIGS["rounds"], Breaks(RuntimeError(), 0))
    with pytest.raises(ConfigError, match=r"was started by version 0\.0\.1.*numbers may differ"):
        resume(store, replace(read.find_run(store, run_id), version="0.0.1"), Nobody())
    assert read.find_run(store, run_id).status == "failed"


@pytest.fixture
def fashion(tmp_path, monkeypatch):
    """Write a small Fashion-MNIST with the labels of that seed into a folder."""
    monkeypatch.setenv("EQUIPOISE_CACHE", str(tmp_path / "cache"))

    def write(folder: str, seed: int):
        rng = np.random.default_rng(seed)
        write_fashion(
            tmp_path / folder, random_images(rng, 120, 10, (1, 28, 28)), random_images(rng, 30, 10, (1, 28, 28))
        )
        return tmp_path / folder

    return write


def test_a_run_is_not_resumed_on_other_data(store, fashion):
    config = tiny("data=fashion-mnist", "data.limit=100", "data.test_limit=20", "rounds=2", "model.hidden=4")
    folder = fashion("data", seed=1)
    with pytest.raises(RuntimeError):
        start(store, Request(config, folder), Breaks(RuntimeError(), 0))
    run = read.find_run(store, "latest")
    assert run.environment["data_path"] == str(folder)
    other = fashion("other", seed=2)
    with pytest.raises(ConfigError, match=r"the data is not what run .* began with") as caught:
        resume(store, run, Nobody(), other)
    assert "--path" in caught.value.fix
    assert read.find_run(store, run.run_id).status == "failed"
    moved = folder.rename(folder.with_name("moved"))
    resume(store, run, Nobody(), moved)  # the same files elsewhere
    again = read.find_run(store, run.run_id)
    assert again.status == "done"
    assert again.environment["data_path"] == str(moved)


def test_the_folder_a_run_began_with_is_remembered(store, fashion):
    config = tiny("data=fashion-mnist", "data.limit=100", "data.test_limit=20", "rounds=2", "model.hidden=4")
    with pytest.raises(RuntimeError):
        start(store, Request(config, fashion("data", seed=1)), Breaks(RuntimeError(), 0))
    resume(store, read.find_run(store, "latest"), Nobody())
    assert read.find_run(store, "latest").status == "done"


def test_two_cannot_work_on_one_run(store, monkeypatch):
    run_id = begun(store, CONFIGS["rounds"], Breaks(RuntimeError(), 0))

    class Intrudes(Nobody):
        def checkpoint(self, record) -> None:
            with pytest.raises(StoreError):
                resume(store, replace(read.find_run(store, run_id), status="killed"), Nobody())

    resume(store, read.find_run(store, run_id), Intrudes())
    assert read.find_run(store, run_id).status == "done"


def test_files_nobody_refers_to_are_collected_while_a_run_goes_on(store, monkeypatch):
    monkeypatch.setattr(carry_on, "COLLECT_EVERY", 2)
    run_id = start(store, Request(tiny("rounds=5"), None), Nobody())
    assert [point.step for point in read.checkpoints(store, run_id)] == [4], "a finished run keeps its last one"
    kept = {path.stem for path in store.blobs.glob("[0-9a-f][0-9a-f]/*")}
    assert kept == read.referenced(store)
    for point in read.checkpoints(store, run_id):
        assert blobs.get(store, point.manifest["server"])


def test_a_resumed_run_keeps_what_was_broadcast_and_asks_no_teacher_again(store, monkeypatch):
    config = one_shot("method=two-stage", "data.public=0.2", "client.augment=two-view", "method.teacher_epochs=2")
    expected = [row for record in records(config) for row in record.rows if row.name != "seconds"]
    with pytest.raises(KeyboardInterrupt):
        start(store, Request(config, None), Breaks(KeyboardInterrupt(), 0))
    run = read.find_run(store, "latest")
    monkeypatch.setattr(session, "first_snapshot", None)
    resume(store, run, Nobody())
    found = [row for row in read.rows(store, run.run_id) if row.name != "seconds"]
    assert sorted(found, key=repr) == sorted(expected, key=repr)
    assert all(np.isfinite(row.value) for row in found)
