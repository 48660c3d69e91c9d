"""What the tests share: a seed, tiny configurations, and ways to run them to the end.

Bits are promised for the same machine, configuration and engine, and for the same order of operations: those tests use
`assert_same` and `==`. Where two orders of arithmetic meet, a sum by hand against a product by the maths library or a
whole batch against its parts, processors round differently, and the tolerance is what that rounding can come to.

EQUIPOISE_TEST_THREADS=2 runs the same tests with two threads; the default is one.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NoReturn

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, settings
from torch import Tensor

from equipoise.config.blocks import EngineOptions
from equipoise.config.loader import load
from equipoise.config.schema import Config
from equipoise.config.traits import HISTORIES, NEEDS_ROUNDS, PUBLIC_POOL
from equipoise.core.registry import ENGINES, METHODS, Registry
from equipoise.core.values import ClientState, ClientUpdate, State
from equipoise.run.build import Federation, build, make_engine
from equipoise.run.loop import federate, first_snapshot
from equipoise.run.state import Record
from equipoise.server.predict import Outputs, ServerView

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

TINY = ("data.limit=200", "data.test_limit=60", "partition.alpha=0.5", "partition.clients=3", "client.epochs=1")
NEEDS = {
    "fedbn": ("model=cnn", "model.width=4", "model.features=8", "model.norm=batch"),
    "fedrep": ("client.epochs=2",),
}
Numbers = dict[tuple[int, int | None, str], float]
THREADS = int(os.environ.get("EQUIPOISE_TEST_THREADS", "1"))
"""How many threads torch has in the tests, and in the runs that do not set `engine.threads`."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite-golden", action="store_true", help="write tests/golden/curves anew instead of comparing"
    )


def pytest_configure() -> None:
    """Make `engine.threads` default to THREADS.

    A run sets torch's threads from its configuration, here and in the workers that it starts, so the test process alone
    would change nothing. Commands that tests start as processes of their own keep the product's default.
    """
    if THREADS == 1:
        return
    for options in (EngineOptions, *(entry.options for entry in ENGINES)):
        options.model_fields["threads"].default = THREADS
        options.model_rebuild(force=True)


@pytest.fixture(autouse=True)
def threads() -> None:
    """Whatever a test before this one set: threads of several workers on few cores wait for one another."""
    torch.set_num_threads(THREADS)


@pytest.fixture
def seed() -> int:
    return 7


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def under(balance: str) -> tuple[str, ...]:
    """Settings of a λ policy, with the moving target that belongs to one of them."""
    return (f"balance={balance}", *(("method.target=progressive",) if balance == "progressive" else ()))


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


def for_images(registry: Registry) -> list[str]:
    """The names of what reads images."""
    return [entry.name for entry in registry if HISTORIES not in entry.traits]


def communications(method: str) -> tuple[str, ...]:
    """With rounds, and with one-shot communication unless the method lives on what goes down."""
    return ("rounds",) if NEEDS_ROUNDS in METHODS.find(method).traits else ("rounds", "one-shot")


def needs(method: str) -> tuple[str, ...]:
    """What a method cannot do without, beside its name."""
    return ("data.public=0.2",) if PUBLIC_POOL in METHODS.find(method).traits else NEEDS.get(method, ())


def records(config: Config | Federation) -> list[Record]:
    """Every step of a run, without a store."""
    federation = build(config) if isinstance(config, Config) else config
    engine = make_engine(federation.site)
    try:
        return list(federate(federation, engine, first_snapshot(federation), 0, nobody))
    finally:
        engine.close()


def nobody(*_: object) -> None:
    """A tick that nobody hears."""


def numbers(steps: Sequence[Record]) -> Numbers:
    """(step, client, name) → value, without the time it took."""
    rows = [row for record in steps for row in record.rows if row.name != "seconds"]
    return {(row.step, row.client, row.name): row.value for row in rows}


def update(client: int, samples: int, model: Mapping[str, Tensor], **metrics: float) -> ClientUpdate:
    return ClientUpdate(client, samples, model, ClientState(model), metrics)


def view(asked: Outputs) -> ServerView:
    """One in which a server learns what models see in the images to be classified, and nothing else."""

    def refused(*_: object) -> NoReturn:
        raise AssertionError("this server asks for nothing but answers")

    return ServerView(asked, noise=refused, ask=refused, recalibrated=refused)


def assert_same(ours: State, theirs: State) -> None:
    """Equal to the last bit: names, types, shapes, values."""
    assert ours.keys() == theirs.keys()
    for name, tensor in ours.items():
        assert tensor.dtype == theirs[name].dtype, name
        assert torch.equal(tensor, theirs[name]), name


def assert_same_own(ours: ClientState, theirs: ClientState) -> None:
    """Every group of what a client keeps."""
    for group, state in ours.groups().items():
        assert_same(state, theirs.groups()[group])


def assert_same_update(ours: ClientUpdate, theirs: ClientUpdate) -> None:
    assert (ours.client, ours.samples, list(ours.counts)) == (theirs.client, theirs.samples, list(theirs.counts))
    assert_same(ours.model, theirs.model)
    assert_same_own(ours.own, theirs.own)
    timeless = [{k: v for k, v in one.metrics.items() if k != "seconds"} for one in (ours, theirs)]
    assert timeless[0] == timeless[1]


@contextmanager
def untouched_rng() -> Iterator[None]:
    """The global generators of torch, numpy and Python are afterwards as they were before."""
    torch_before, numpy_before, python_before = _global_state()
    yield
    torch_after, numpy_after, python_after = _global_state()
    assert torch.equal(torch_before, torch_after)
    assert numpy_before == numpy_after
    assert python_before == python_after


def _global_state() -> tuple[Tensor, str, object]:
    return torch.get_rng_state(), repr(np.random.get_state(legacy=False)), random.getstate()


@pytest.fixture(scope="session")
def federation_of() -> Callable[[Config], Federation]:
    """`build`, once per configuration for all tests."""
    known: dict[str, Federation] = {}

    def get(config: Config) -> Federation:
        key = config.model_dump_json()
        if key not in known:
            known[key] = build(config)
        return known[key]

    return get
