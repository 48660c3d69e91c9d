"""Small runs and comparisons, shared by all checks."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import rich.style  # noqa: F401  # draws from Python's generator when it is first imported, by whoever that is
import torch
from torch import Tensor

from equipoise.config.loader import load
from equipoise.config.schema import Config
from equipoise.config.traits import NEEDS_ROUNDS, PUBLIC_POOL
from equipoise.core.registry import METHODS
from equipoise.core.values import ClientState, ClientUpdate, Event, Result, State, Task
from equipoise.engine.local import Local
from equipoise.kind.site import Site
from equipoise.run.build import Federation, build, make_engine
from equipoise.run.loop import federate, first_snapshot
from equipoise.run.state import Record

TINY = ("data.limit=200", "data.test_limit=60", "partition.alpha=0.5", "partition.clients=3", "client.epochs=1")
NEEDS = {
    "fedbn": ("model=cnn", "model.width=4", "model.features=8", "model.norm=batch"),
    "fedrep": ("client.epochs=2",),
}
"""Settings that our methods need."""
Numbers = dict[tuple[int, int | None, str], float]


def tiny(*overrides: str, model: str = "mlp") -> Config:
    """180 digits over three clients, one epoch, two rounds, a perceptron with 16 units; a later override wins."""
    is_other = any(text.startswith("model=") for text in overrides)
    size = ("model.hidden=16",) if model == "mlp" and not is_other else ()
    axis = () if "communication=one-shot" in overrides else ("rounds=2",)
    given = {text.split("=")[0]: text for text in (*TINY, f"model={model}", *size, *axis, *overrides)}
    return load("fedavg", list(given.values())).config


def one_shot(*overrides: str, epochs: int = 4, checkpoints: int = 2, model: str = "mlp") -> Config:
    axis = ("communication=one-shot", f"checkpoints={checkpoints}", f"client.epochs={epochs}")
    return tiny(*axis, *overrides, model=model)


def needs(method: str) -> tuple[str, ...]:
    """Settings that a method needs beside its name."""
    return ("data.public=0.2",) if PUBLIC_POOL in METHODS.find(method).traits else NEEDS.get(method, ())


def communications(method: str) -> tuple[str, ...]:
    """Rounds, and one-shot communication unless the method depends on what goes down."""
    return ("rounds",) if NEEDS_ROUNDS in METHODS.find(method).traits else ("rounds", "one-shot")


def records(config: Config | Federation) -> list[Record]:
    """Every step of a run, without a store."""
    federation = build(config) if isinstance(config, Config) else config
    engine = make_engine(federation.site)
    try:
        return list(federate(federation, engine, first_snapshot(federation), 0, nobody))
    finally:
        engine.close()


def nobody(*_: object) -> None:
    """A progress callback that does nothing."""


def numbers(steps: Sequence[Record]) -> Numbers:
    """(step, client, name) → value, without times."""
    rows = [row for record in steps for row in record.rows if row.name != "seconds"]
    return {(row.step, row.client, row.name): row.value for row in rows}


class Backwards:
    """The local engine in reverse order: the last client answers first."""

    def __init__(self, site: Site) -> None:
        self.local = Local(site)

    def map(self, tasks: Sequence[Task]) -> Iterator[Result]:
        return reversed(list(self.local.map(tasks)))

    def take_events(self) -> list[Event]:
        return []

    def close(self) -> None:
        pass


def assert_same(ours: State, theirs: State) -> None:
    """Equal to the last bit: names, types, shapes, values."""
    assert ours.keys() == theirs.keys(), f"names differ: {sorted(ours.keys() ^ theirs.keys())}"
    for name, tensor in ours.items():
        assert tensor.dtype == theirs[name].dtype, f"{name} is {tensor.dtype}, and was {theirs[name].dtype}"
        assert torch.equal(tensor, theirs[name]), f"{name} is not the same to the last bit"


def assert_same_own(ours: ClientState, theirs: ClientState) -> None:
    """Equal in every group of the clients' states."""
    for group, state in ours.groups().items():
        assert_same(state, theirs.groups()[group])


def assert_same_update(ours: ClientUpdate, theirs: ClientUpdate) -> None:
    about = [(one.client, one.samples, list(one.counts)) for one in (ours, theirs)]
    assert about[0] == about[1], f"{about[0]} is not {about[1]}"
    assert_same(ours.model, theirs.model)
    assert_same_own(ours.own, theirs.own)
    timeless = [{k: v for k, v in one.metrics.items() if k != "seconds"} for one in (ours, theirs)]
    assert timeless[0] == timeless[1], "what the client measured is not the same"


@contextmanager
def untouched_rng() -> Iterator[None]:
    """Assert that the global generators of torch, numpy and Python are unchanged."""
    before = _global_state()
    yield
    for name, then, now in zip(("torch", "numpy", "random"), before, _global_state(), strict=True):
        is_same = torch.equal(then, now) if isinstance(then, Tensor) and isinstance(now, Tensor) else then == now
        assert is_same, f"something drew from the global generator of {name}: use equipoise.core.streams.stream"


def _global_state() -> tuple[Tensor, str, object]:
    return torch.get_rng_state(), repr(np.random.get_state(legacy=False)), random.getstate()
