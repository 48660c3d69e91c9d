"""Which device a run takes, what is refused, several devices, and a device that disappears."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import torch

from equipoise.config.check import check
from equipoise.core.device import Device, device_of, devices, resolved
from equipoise.core.errors import DeviceLost
from equipoise.engine.devices import worker_devices
from equipoise.run.build import build
from equipoise.run.placed import moved, placed
from equipoise.store import read
from equipoise.store.database import open_store
from tests.commands import Equipoise, run_process
from tests.conftest import numbers, records, tiny
from tests.device.conftest import assert_close, on
from tests.e2e.conftest import TINY, asked, within_a_round
from tests.sim import environment

pytestmark = pytest.mark.slow

RUN = ("fedavg", *TINY, "rounds=2", "data.test_limit=60")


@pytest.fixture
def equipoise(tmp_path: Path) -> Equipoise:
    return asked(tmp_path)


@pytest.fixture
def process(tmp_path: Path) -> Equipoise:
    """Commands in processes of their own, which know the simulated device."""
    there = environment()

    def call(*arguments: str, **variables: str):
        return asked(tmp_path, run_process)(*arguments, **{**there, **variables})

    return call


def test_auto_is_the_accelerator_that_torch_reports() -> None:
    assert devices() == ["cpu", "sim:0", "sim:1"]
    assert (resolved("auto"), resolved("sim:1"), resolved("cpu")) == ("sim", "sim:1", "cpu")
    torch.ops.sim_device.set_device_count(0)
    assert (devices(), resolved("auto")) == (["cpu"], "cpu")


def test_tensors_travel_in_one_piece_and_keep_shape_and_type(sim) -> None:
    tree = {"a": torch.arange(6.0).view(2, 3), "b": [torch.tensor(3), torch.tensor([True, False]), None], "c": "text"}
    device = device_of("sim")
    with sim.counting() as counted:
        there = device.there(tree)
    assert (counted["to_device"], counted["waits"]) == (1, 0)
    assert there["a"].device.type == "sim"
    with sim.counting() as counted:
        back = device.home(there)
    assert (counted["to_host"], counted["waits"]) == (1, 1)
    assert torch.equal(back["a"], tree["a"])
    assert [torch.equal(x, y) for x, y in zip(back["b"][:2], tree["b"][:2], strict=True)] == [True, True]
    assert (back["b"][2], back["c"]) == (None, "text")
    assert Device("cpu").there(tree) is tree


def test_the_first_line_names_device_precision_and_memory(equipoise: Equipoise) -> None:
    started = equipoise("run", *RUN, "engine.device=sim:1", "engine.precision=bf16")
    (line,) = [line for line in started.err.splitlines() if line.startswith("run fedavg-")]
    assert "on sim:1 (" in line
    assert line.endswith("GiB), bf16")


def test_the_device_is_recorded_and_part_of_what_a_run_is(equipoise: Equipoise, tmp_path: Path) -> None:
    there = equipoise("run", *RUN, "--json").json
    here = equipoise("run", *RUN, "engine.device=cpu", "--json").json
    assert (there["config"]["engine"]["device"], here["config"]["engine"]["device"]) == ("sim", "cpu")
    with open_store(tmp_path / "runs" / "equipoise.db") as store:
        first, second = (read.find_run(store, run["run_id"]) for run in (there, here))
    assert first.config_hash != second.config_hash
    assert second.config_hash == check(second.config).fingerprint()
    assert "sim" in first.environment["device"]
    assert placed(moved(check(first.config), "sim:1")).fingerprint() == first.config_hash


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (["engine.device=cuda"], "there is no device 'cuda' here; known: cpu, sim:0, sim:1"),
        (["engine.device=sim:7"], "there is no device 'sim:7' here"),
        (["engine.device=GPU"], "engine.device"),
        (["engine.precision=tf32"], "sim cannot compute in tf32"),
        (["engine=processes", "engine.devices=sim:0,sim:0"], "'sim:0' stands there twice"),
        (["engine=processes", "engine.devices=[sim,'sim:0']"], "'sim:0' stands there twice"),
        (["engine=processes", "engine.devices=sim:0,tpu:0"], "there is no device 'tpu:0' here"),
        (["engine=processes", "engine.devices=sim:0,cpu"], "'cpu' is of another kind than engine.device=sim:0"),
        (["engine.devices=sim:0"], "engine.devices"),
        (["engine.together=100000000", "engine.device=sim"], "and sim has"),
    ],
)
def test_what_is_not_there_is_refused_before_anything_starts(tmp_path: Path, settings: list[str], said: str) -> None:
    outcome = asked(tmp_path)("run", *RUN, *settings, code=2)
    assert said in outcome.err
    assert not (tmp_path / "runs").exists()


def test_a_type_that_the_device_lacks_is_refused(sim, tmp_path: Path) -> None:
    with sim.lacking(torch.bfloat16):
        outcome = asked(tmp_path)("run", *RUN, "engine.device=sim", "engine.precision=bf16", code=2)
    assert "sim cannot compute in bf16" in outcome.err
    assert "engine.precision=fp32" in outcome.err


@pytest.mark.parametrize("together", [1, 3])
def test_lower_precision_is_near_and_what_is_kept_is_in_single_precision(together: int) -> None:
    config = tiny("model=cnn", "model.width=4", f"engine.together={together}", model="cnn")
    low = config.model_copy(update={"engine": config.engine.model_copy(update={"precision": "bf16"})})
    there, full = on("sim", low), on("sim", config)
    assert numbers(there) != numbers(full)
    assert {tensor.dtype for tensor in there[-1].snapshot.server.model.values()} == {torch.float32}
    losses = [[row.value for row in run[-1].rows if row.name == "loss/base"] for run in (there, full)]
    assert losses[0] == pytest.approx(losses[1], rel=0.05)


def test_deterministic_kernels_change_nothing_where_all_are_and_say_what_refuses() -> None:
    config = tiny("engine.deterministic=true")
    assert numbers(on("sim", config)) == numbers(on("sim", tiny()))
    assert not torch.are_deterministic_algorithms_enabled() or torch.use_deterministic_algorithms(False) is None


def test_workers_take_all_devices_of_a_kind_or_those_that_are_listed() -> None:
    def of(*settings: str) -> list[str]:
        return worker_devices(placed(tiny("engine=processes", *settings)).engine)

    assert of("engine.device=sim") == ["sim:0", "sim:1"]
    assert of("engine.device=sim:1") == ["sim:1"]
    assert of("engine.devices=sim:1,sim:0") == ["sim:1", "sim:0"]
    assert of("engine.device=cpu") == ["cpu"]


def test_a_cohort_is_divided_among_the_devices() -> None:
    def axis(*settings: str) -> int:
        return build(tiny("partition.clients=8", "data.limit=320", "partition.alpha=1000", *settings)).site.together

    assert axis("engine.device=sim") == 8
    assert axis("engine.device=sim", "engine=processes") == 4
    assert axis("engine.devices=sim:0", "engine=processes", "engine.workers=4") == 2


@pytest.mark.parametrize("settings", [("engine.precision=bf16",), ("engine=processes", "engine.devices=sim:0,sim:1")])
def test_a_run_that_is_moved_takes_what_the_other_device_has(sim, settings: tuple[str, ...]) -> None:
    config = placed(tiny("engine.device=sim", *settings))
    there = moved(config, "cpu").engine
    assert (there.device, getattr(there, "devices", None)) == ("cpu", None)
    assert there.precision == config.engine.precision
    with sim.lacking(torch.bfloat16):
        assert moved(config, "sim").engine.precision == "fp32"


def test_two_devices_give_the_numbers_of_one(process: Equipoise) -> None:
    one = process("run", *RUN, "engine.together=1", "--json").json
    two = process("run", *RUN, "engine=processes", "engine.devices=sim:0,sim:1", "engine.together=1", "--json").json
    assert two["metrics"] == one["metrics"]
    assert (one["config"]["engine"]["device"], two["config"]["engine"]["device"]) == ("sim", "sim:0")


@pytest.mark.slow
def test_a_device_that_disappears_is_left_out_and_its_clients_run_elsewhere(process: Equipoise) -> None:
    several = ("engine=processes", "engine.devices=sim:0,sim:1", "engine.together=1")
    whole = process("run", *RUN, *several, "--json").json
    lost = process("run", *RUN, *several, "--json", **environment(lose={1: 60})).json
    assert lost["metrics"] == whole["metrics"]
    kinds = [event["kind"] for event in lost["events"]]
    assert kinds.count("device-lost") == 1
    assert "worker-lost" in kinds


def test_the_only_device_disappears(sim) -> None:
    federation = build(moved(tiny(), "sim"))
    sim.lose(0, after=200)
    with pytest.raises(DeviceLost, match="sim does not answer any more"):
        records(federation)


@pytest.mark.slow
def test_killed_and_resumed_on_the_device(process: Equipoise, tmp_path: Path) -> None:
    whole = process("run", *RUN, "--json").json
    with within_a_round(tmp_path, "run", *RUN, at_round=1, **environment()) as run:
        os.kill(run.pid, signal.SIGKILL)
    resumed = process("resume", "latest", "--json").json
    assert (resumed["status"], resumed["metrics"]) == ("done", whole["metrics"])


def test_resuming_on_another_device_is_refused_unless_asked_for(equipoise: Equipoise, tmp_path: Path) -> None:
    there = equipoise("run", *RUN, "--json").json
    torch.ops.sim_device.set_device_count(0)
    refused = equipoise("resume", "latest", "--rounds", "+1", code=2)
    assert "the run began on sim, and that is not here" in refused.err
    assert "--device cpu" in refused.err
    moved_on = equipoise("resume", "latest", "--rounds", "+1", "--device", "cpu", "--json").json
    (event,) = [event for event in moved_on["events"] if event["kind"] == "device-changed"]
    assert event["message"].startswith("from sim to cpu")
    assert moved_on["run_id"] == there["run_id"]


def test_runs_of_earlier_versions_were_made_on_the_cpu(equipoise: Equipoise, tmp_path: Path) -> None:
    equipoise("run", *RUN, "engine.device=cpu")
    with closing(sqlite3.connect(tmp_path / "runs" / "equipoise.db")) as database, database:
        ((config,),) = database.execute("SELECT config FROM runs").fetchall()
        old = json.loads(config)
        del old["engine"]["device"]
        database.execute("UPDATE runs SET config = ?", (json.dumps(old),))
    resumed = equipoise("resume", "latest", "--rounds", "+1", "--json").json
    assert resumed["config"]["engine"]["device"] == "cpu"
    assert "device-changed" not in [event["kind"] for event in resumed["events"]]


def test_fusing_and_taking_a_model_elsewhere(equipoise: Equipoise, tmp_path: Path) -> None:
    """Clients that were trained on a device can be used where there is none."""
    small = [*TINY, "data.test_limit=60", "checkpoints=1"]
    trained = equipoise("run", "one-shot/fedavg", *small, "--json").json
    assert trained["config"]["engine"]["device"] == "sim"
    torch.ops.sim_device.set_device_count(0)
    equipoise("fuse", "latest", "--predict", "probability-ensemble", "--json")
    equipoise("export", trained["run_id"], "--to", "torch", "-o", "model")
    assert (tmp_path / "model" / "weights.safetensors").is_file()


def test_what_clients_keep_at_their_node_is_on_the_cpu(tmp_path: Path) -> None:
    config = tiny("method=fedrep", "client.epochs=2", f"engine.state_folder={tmp_path}", "data.local_test=0.2")
    assert_close(on("cpu", config), on("sim", config))
