"""`eq.run` and `eq.resume`: what they take, what they leave in the store, and how they fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import equipoise as eq
from equipoise.api.progress import Silent

from .conftest import TINY


def numbers(run: eq.RunHandle) -> list[tuple[Any, ...]]:
    return [row for row in run.metrics().rows() if row[3] != "seconds"]


class Stops(Silent):
    """Presses Ctrl-C in the middle of a round, after its first client."""

    def __init__(self, step: int) -> None:
        self.step = step

    def tick(self, step: int, done: int, total: int, result: Any) -> None:
        if step == self.step:
            raise KeyboardInterrupt


def test_the_same_keys_as_on_the_command_line(place: Path) -> None:
    by_name = eq.run(
        "fedavg",
        {"data.limit": 100, "client.epochs": 1},
        model={"name": "mlp", "hidden": 16},
        num_clients=3,
        partition={"alpha": 0.5},
        rounds=1,
        store=place,
    )
    config = by_name.config
    assert (config.data.limit, config.partition.clients, config.partition.alpha) == (100, 3, 0.5)
    texts = ["data.limit=100", "client.epochs=1", "model=mlp", "model.hidden=16", "K=3", "alpha=0.5", "rounds=1"]
    assert numbers(eq.run("fedavg", texts, store=place)) == numbers(by_name)
    assert numbers(eq.run(config, store=place)) == numbers(by_name)
    assert eq.run(config, store=place, seed=2).config.seed == 2


def test_a_run_that_was_interrupted_goes_on_to_the_same_numbers(place: Path, in_rounds: eq.RunHandle) -> None:
    with pytest.raises(KeyboardInterrupt) as stop:
        eq.run("fedavg", TINY, rounds=2, seed=1, store=place, progress=Stops(1))
    stopped = eq.open_run("latest", store=place)
    assert stopped.status == "stopped"
    assert any(f"eq.resume('{stopped.id}')" in note for note in stop.value.__notes__)
    assert eq.resume("latest", store=place) == stopped
    assert stopped.status == "done"
    assert numbers(stopped) == numbers(in_rounds)


def test_a_run_that_is_done_is_returned_as_it_is(in_rounds: eq.RunHandle) -> None:
    before = in_rounds.record
    assert in_rounds.resume() == in_rounds
    assert in_rounds.record == before


def test_more_rounds_make_the_longer_run(place: Path) -> None:
    short, long = (eq.run("fedavg", TINY, rounds=n, store=place) for n in (1, 2))
    assert short.resume(rounds="+1").config == long.config
    assert set(numbers(long)) <= set(numbers(short))


@pytest.mark.parametrize(
    ("source", "settings", "kind", "words"),
    [
        ("fedavgg", {}, eq.UnknownName, "did you mean 'fedavg'"),
        ("fedavg", {"client.epoch": 2}, eq.ConfigError, "did you mean 'epochs'"),
        ("fedavg", {"method": "fedprx"}, eq.ConfigError, "did you mean 'fedprox'"),
        ("fedavg", {"rounds": 0}, eq.ConfigError, "rounds"),
        ("fedavg", {"alpha": 0.1, "partition.alpha": 0.2}, eq.ConfigError, "given twice"),
        ("fedavg", "rounds=1", eq.ConfigError, "expected a mapping"),
        ("nowhere.yaml", {}, eq.ConfigError, "there is no file"),
    ],
)
def test_a_wrong_request_is_our_error_and_makes_no_store(
    place: Path, source: str, settings: Any, kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        eq.run(source, settings, store=place)
    assert not place.exists()


def test_a_key_given_both_ways_is_refused(place: Path) -> None:
    with pytest.raises(eq.ConfigError, match="seed: given twice, in the mapping and as a keyword"):
        eq.run("fedavg", {"seed": 1}, seed=2, store=place)
    with pytest.raises(eq.ConfigError, match="as texts and as keywords"):
        eq.run("fedavg", ["seed=1"], rounds=2, store=place)


def test_a_run_that_fails_says_which_it_was(place: Path) -> None:
    class Fails(Silent):
        def checkpoint(self, record: Any) -> None:
            raise eq.EngineError("the wire broke")

    with pytest.raises(eq.EngineError, match="the wire broke") as error:
        eq.run("fedavg", TINY, rounds=2, store=place, progress=Fails())
    failed = eq.open_run(store=place)
    assert failed.status == "failed"
    assert failed.id in error.value.__notes__[0]


def test_torch_has_as_many_threads_afterwards_as_before(place: Path) -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        eq.run("fedavg", TINY, rounds=1, store=place, engine={"threads": 1})
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_event_files_are_written_where_asked(place: Path, tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    run = eq.run("fedavg", TINY, rounds=1, store=place, tensorboard=tmp_path / "logs")
    assert any("tfevents" in path.name for path in (tmp_path / "logs" / run.id).iterdir())
