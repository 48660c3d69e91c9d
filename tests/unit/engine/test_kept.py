from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from equipoise.config.loader import load
from equipoise.core.errors import ClientError, ConfigError
from equipoise.core.values import ClientFailure, ClientState, ClientUpdate, Task
from equipoise.engine.kept import KEPT, StateFolder, federation_key
from equipoise.run.build import build
from tests.conftest import assert_same_own, numbers, records, tiny


def state(value: float) -> ClientState:
    return ClientState(
        model={"w": torch.full((2,), value)},
        optimiser={"momentum/w": torch.full((2,), -value)},
        policy={"s": torch.tensor(value)},
        memory={"level": torch.tensor([value])},
        report={"sums": torch.tensor([1.0])},
    )


def update(value: float, client: int = 3) -> ClientUpdate:
    own = state(value)
    return ClientUpdate(client, 5, own.model, own, {})


@pytest.mark.parametrize("personal", [None, [], ["w"]])
def test_a_result_carries_a_handle_and_the_next_task_finds_the_state(
    tmp_path: Path, personal: list[str] | None
) -> None:
    folder = StateFolder(tmp_path / "states", personal)
    sent = folder.put_down(update(2.0))
    assert isinstance(sent, ClientUpdate)
    assert sent.own.handle
    assert bool(sent.own.model) == (personal is None)
    assert not sent.own.optimiser
    assert not sent.own.policy
    assert not sent.own.memory
    assert sent.own.report.keys() == {"sums"}
    task = folder.taken_up(Task(1, 3, range(1), {}, ClientState(handle=sent.own.handle)))
    kept = {} if personal == [] else state(2.0).model
    assert_same_own(task.own, replace(state(2.0), model=kept, report={}))


def test_the_same_state_has_the_same_handle_and_another_state_another(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path, [])
    handles = [folder.put_down(update(value)).own.handle for value in (1.0, 2.0, 1.0)]
    assert handles[0] == handles[2] != handles[1]


def test_a_client_without_a_state_yet_and_one_that_failed_pass_through(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path, [])
    task, failure = Task(0, 1, range(1), {}), ClientFailure(1, "non-finite", "loss is nan")
    assert folder.taken_up(task) is task
    assert folder.put_down(failure) is failure


def test_the_newest_states_of_each_client_are_kept(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path, [])
    for value in range(KEPT + 3):
        folder.put_down(update(float(value)))
        last = folder.put_down(update(float(value), client=4))
    assert len(list(tmp_path.glob("3-*.safetensors"))) == KEPT
    assert folder.taken_up(Task(0, 4, range(1), {}, ClientState(handle=last.own.handle))).own.policy["s"] == KEPT + 2


def test_a_state_that_is_gone_is_named(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path, [])
    with pytest.raises(ClientError, match="the state that client 3 kept is gone") as caught:
        folder.taken_up(Task(0, 3, range(1), {}, ClientState(handle="none")))
    assert "none.safetensors" in caught.value.where


@pytest.mark.parametrize(
    "settings",
    [
        ("method=etf-align", "balance=decoupled", "rounds=3"),
        ("method=fafi", "communication=one-shot", "client.epochs=2", "checkpoints=2"),
        ("method=fedavg", "server.personal=[head]", "rounds=3"),
        ("method=fedrep", "client.epochs=2", "rounds=3"),
        ("method=fedbn", "rounds=3", "model=cnn", "model.width=4", "model.features=8", "model.norm=batch"),
        ("method=ditto", "balance=constant", "rounds=3"),
        ("method=scaffold", "rounds=3", "client.momentum=0"),
        ("method=fedavg", "server.personal=[head]", "rounds=3", "engine=processes", "engine.workers=2"),
    ],
)
def test_runs_whose_states_stay_with_the_node_have_the_same_numbers(tmp_path: Path, settings: tuple[str, ...]) -> None:
    travelling = records(tiny(*settings))
    staying = records(tiny(*settings, f"engine.state_folder={tmp_path}"))
    assert numbers(staying) == numbers(travelling)
    assert list(tmp_path.rglob("*.safetensors"))


def test_runs_that_share_a_folder_leave_each_others_states_alone(tmp_path: Path) -> None:
    at = f"engine.state_folder={tmp_path}"
    for seed in (0, 1):
        records(tiny("method=etf-align", "balance=decoupled", f"seed={seed}", at))
    folders = [each for each in tmp_path.iterdir() if each.is_dir()]
    assert len(folders) == 2
    assert federation_key(tiny(at)) == federation_key(tiny("rounds=9"))  # a longer run finds its states
    assert federation_key(tiny()) != federation_key(tiny("seed=1"))


def test_recommenders_are_refused_a_state_folder(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="would stay with their node"):
        build(load("rec/feddmmr", [f"engine.state_folder={tmp_path}", "data.users=20"]).config)
