"""A device that runs out of memory: fewer clients on one axis, an event, and the same result but for rounding."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from equipoise.client import stored
from equipoise.client.together import client_bytes
from equipoise.config.check import check
from equipoise.core.device import device_of
from equipoise.core.errors import ClientError, ConfigError
from equipoise.core.values import Event
from equipoise.run.build import build
from equipoise.run.placed import HALVED, moved, repeated
from equipoise.store import read
from equipoise.store.database import open_store
from tests.conftest import numbers, tiny
from tests.device.conftest import assert_close, on
from tests.e2e.conftest import asked

pytestmark = pytest.mark.slow

ALIKE = ("partition.clients=8", "partition.alpha=1000", "data.limit=320", "model.hidden=256")
"""Eight clients of about equal size; the weights of one take 200 kB."""
EIGHT = (*ALIKE, "engine.together=8")


def peak(sim, config) -> int:
    """Bytes that a run takes on the device."""
    before = sim.memory_allocated(0)
    sim.reset_peak_memory_stats(0)
    on("sim", config)
    return int(sim.max_memory_allocated(0)) - before


@contextmanager
def crowded(sim, config, share: float = 0.6) -> Iterator[None]:
    """Somebody else uses the device: what is free is a share of what that run takes."""
    free, total = int(share * peak(sim, config)), 2**28
    with sim.limited(total):
        taken = torch.empty(total - sim.memory_allocated(0) - free, dtype=torch.uint8, device="sim:0")
        yield
        del taken


def test_the_axis_is_halved_until_it_fits_and_an_event_says_so(sim) -> None:
    config, before = tiny(*EIGHT), sim.memory_allocated(0)
    with crowded(sim, config):
        limited = on("sim", config)
    events = [event for step in limited for event in step.events]
    assert [event.kind for event in events] == [HALVED]
    assert events[0].detail == {"together": 4}
    assert "no memory for 8 clients on one axis: 4 from now on" in events[0].message
    assert_close(on("sim", config), limited)
    assert sim.memory_allocated(0) < before + 4096  # constants are kept


def test_halved_clients_have_the_bits_of_a_run_with_the_shorter_axis(sim) -> None:
    config = tiny(*EIGHT)
    with crowded(sim, config):
        limited = on("sim", config)
    shorter = on("sim", repeated(config, [event for step in limited for event in step.events]))
    assert numbers(limited) == numbers(shorter)


def test_one_client_for_which_there_is_no_memory(sim) -> None:
    config = tiny("model.hidden=256", "engine.together=1")
    site = build(config).site
    estimated = client_bytes(site.network(), torch.zeros(1, *site.shape), site.batch)
    with sim.limited(estimated + 1), pytest.raises(ClientError, match="no memory for client 0, alone") as raised:
        on("sim", config)
    assert "client.batch" in raised.value.fix


def test_more_than_there_is_is_refused_before_anything_starts(sim) -> None:
    with sim.limited(2**20):
        with pytest.raises(ConfigError, match="8 clients on one axis take about 8 MiB, and sim has 1") as raised:
            build(moved(tiny(*EIGHT), "sim"))
        assert raised.value.where == "engine.together"
        with pytest.raises(ConfigError, match="one client takes about 16 MiB, and sim has 1"):
            build(moved(tiny("model.hidden=4096"), "sim"))


def test_without_a_setting_the_memory_of_the_device_decides(sim) -> None:
    config = moved(tiny(*ALIKE), "sim")
    assert build(config).site.together == 8
    with sim.limited(8 * 2**20):
        assert 1 < build(config).site.together < 8
    assert build(moved(config, "cpu")).site.together == 1


def test_a_resumed_run_repeats_the_axis(sim, tmp_path: Path) -> None:
    config = tiny(*EIGHT)
    settings = [*EIGHT, "data.test_limit=60", "client.epochs=1", "model=mlp", "rounds=2", "engine.device=sim"]
    equipoise = asked(tmp_path)
    with crowded(sim, config):
        shown = equipoise("run", "fedavg", *settings, "--json").json
    equipoise("resume", "latest", "--rounds", "+1")
    with open_store(tmp_path / "runs" / "equipoise.db") as store:
        run = read.find_run(store, shown["run_id"])
        events = [recorded.event for recorded in read.events(store, run.run_id)]
    assert [event.detail["together"] for event in events if event.kind == HALVED] == [4]
    assert repeated(check(run.config), events).engine.together == 4
    assert run.environment["together"] == 4  # as the resumed run recorded it


def test_the_shortest_axis_counts() -> None:
    halved = [Event(HALVED, "", 0, detail={"together": n}) for n in (8, 4)]
    assert repeated(tiny("engine.together=16"), halved).engine.together == 4
    assert repeated(tiny(), []).engine.together is None


def test_images_that_do_not_fit_are_copied_batch_by_batch(sim, monkeypatch) -> None:
    config = tiny("engine.together=1")
    with sim.counting() as resident:
        on("sim", config)
    monkeypatch.setattr(stored, "SHARE", 2**40)
    with sim.counting() as copied:
        few = on("sim", config)
    assert copied["bytes_to_device"] > resident["bytes_to_device"]
    assert copied["waits"] == resident["waits"]
    assert_close(on("cpu", config), few)


def test_results_come_home_one_by_one_where_there_is_no_room_to_pack_them(sim) -> None:
    device, tensors = device_of("sim"), [torch.arange(1000.0) + k for k in range(4)]
    there = device.there(tensors)
    with sim.limited(sim.memory_allocated(0) + 100):
        back = device.home(there)
    assert all(torch.equal(one, other) for one, other in zip(back, tensors, strict=True))


def test_a_full_device_is_not_a_lost_one(sim) -> None:
    device = device_of("sim")
    taken = torch.empty(2**16, device="sim")
    with sim.limited(sim.memory_allocated(0)):
        assert device.is_there()
    sim.lose(0)
    assert not device.is_there()
    sim.restore(0)
    assert len(taken) == 2**16
