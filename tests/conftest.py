"""What the tests share: a seed, tiny configurations, and ways to run them to the end.

Bits are promised for the same machine, configuration and engine, and for the same order of operations: those tests use
`assert_same` and `==`. Where two orders of arithmetic meet, a sum by hand against a product by the maths library or a
whole batch against its parts, processors round differently, and the tolerance is what that rounding can come to.

EQUIPOISE_TEST_THREADS=2 runs the same tests with two threads; the default is one. EQUIPOISE_TEST_DEVICE=sim runs them
on the simulated device: that is what `engine.device=auto` means then.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NoReturn

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, settings
from torch import Tensor

from equipoise.config.blocks import EngineOptions
from equipoise.config.schema import Config
from equipoise.config.traits import HISTORIES
from equipoise.core.loading import LOADED
from equipoise.core.plugins import INSTALLED
from equipoise.core.registry import ENGINES, REGISTRIES, Registry
from equipoise.core.values import ClientState, ClientUpdate
from equipoise.run.build import Federation, build
from equipoise.server.predict import Outputs, ServerView
from equipoise.testing.small import (
    TINY,
    Numbers,
    assert_same,
    assert_same_own,
    assert_same_update,
    needs,
    nobody,
    numbers,
    one_shot,
    records,
    tiny,
    untouched_rng,
)

__all__ = [
    "TINY",
    "Numbers",
    "assert_same",
    "assert_same_own",
    "assert_same_update",
    "needs",
    "nobody",
    "numbers",
    "one_shot",
    "records",
    "tiny",
    "untouched_rng",
]

if os.environ.get("EQUIPOISE_TEST_DEVICE") == "sim":
    import tests.sim.fixtures  # noqa: F401

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

THREADS = int(os.environ.get("EQUIPOISE_TEST_THREADS", "1"))
"""How many threads torch has in the tests, and in the runs that do not set `engine.threads`."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite-golden", action="store_true", help="write tests/golden/curves anew instead of comparing"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make `engine.threads` default to THREADS, and `engine.device` to the CPU where there is a real accelerator that
    was not asked for.

    A run sets torch's threads from its configuration, here and in the workers that it starts, so the test process alone
    would change nothing. Commands that tests start as processes of their own keep the product's default.
    """
    defaults: dict[str, object] = {} if THREADS == 1 else {"threads": THREADS}
    if has_gpu() and not _wants_gpu(config):
        defaults["device"] = "cpu"
    for options in (EngineOptions, *(entry.options for entry in ENGINES)) if defaults else ():
        for key, value in defaults.items():
            options.model_fields[key].default = value
        options.model_rebuild(force=True)


ON_DEVICES = ("tests/contract/", "tests/golden/", "tests/unit/run/", "tests/e2e/")
"""The suites that a device must pass: `-m gpu` runs them on a real one, `make test-device` on the simulated one."""


def has_gpu() -> bool:
    return torch.cuda.is_available() or torch.backends.mps.is_available()


def _wants_gpu(config: pytest.Config) -> bool:
    return config.getoption("markexpr") == "gpu"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not _wants_gpu(config):
        return
    for item in items:
        if item.nodeid.startswith(ON_DEVICES):
            item.add_marker(pytest.mark.gpu)
            if not has_gpu():
                item.add_marker(pytest.mark.skip(reason="torch reports no GPU"))


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


def for_images(registry: Registry) -> list[str]:
    """The names of what reads images."""
    return [entry.name for entry in registry if HISTORIES not in entry.traits]


def update(client: int, samples: int, model: Mapping[str, Tensor], **metrics: float) -> ClientUpdate:
    return ClientUpdate(client, samples, model, ClientState(model), metrics)


def view(outputs: Outputs) -> ServerView:
    """One in which a server learns what models say of the samples to be classified, and nothing else."""

    def refused(*_: object) -> NoReturn:
        raise AssertionError("this server needs nothing but outputs")

    return ServerView(outputs, noise=refused)


def later_wins(*overrides: str) -> list[str]:
    """Each key once, as it was given last."""
    return list({text.split("=")[0]: text for text in overrides}.values())


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


def is_installed(name: str) -> bool:
    """Whether a module is Python's or an installed library's; some of these cannot be imported a second time."""
    module = sys.modules[name]
    path = getattr(module, "__path__", None)  # a namespace package, such as google, has no file
    places = [getattr(module, "__file__", None), *(path if isinstance(path, Iterable) else ())]
    return any(str(place).startswith((sys.prefix, sys.base_prefix)) for place in places)


@pytest.fixture
def own_plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a test registers, loads and imports as a plugin is gone afterwards."""
    for registry in REGISTRIES:
        registry.names()
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    monkeypatch.setattr(LOADED, "plugins", dict(LOADED.plugins))
    monkeypatch.setattr(LOADED, "cells", dict(LOADED.cells))
    monkeypatch.setattr(INSTALLED, "broken", [])
    monkeypatch.setattr(sys, "path", list(sys.path))
    known = set(sys.modules)
    yield
    for name in set(sys.modules) - known:
        if not name.startswith(("equipoise.", "torch.")) and not is_installed(name):
            del sys.modules[name]
