"""What every method promises that lets its clients train along one axis: the numbers of training them one by one."""

from __future__ import annotations

import pytest
import torch

from equipoise.config.schema import Config
from equipoise.config.traits import OPEN_LAMBDA
from equipoise.core.errors import ConfigError
from equipoise.core.registry import BALANCES, METHODS
from equipoise.core.values import ClientUpdate
from equipoise.method.resolve import resolve
from equipoise.run.advance import plan
from equipoise.run.build import build, make_engine
from equipoise.run.loop import first_snapshot
from tests.conftest import for_images, needs, numbers, one_shot, records, tiny, under

UNEVEN = ("partition.clients=5", "client.epochs=3", "client.batch=8", "client.lr=0.02", "seed=3")
"""Clients of very different size: batches are filled up, and some are done long before others."""


ONE_WORKER = ("engine=processes", "engine.workers=1")


def made(*overrides: str, together: int, model: str = "mlp") -> Config:
    return tiny(*UNEVEN, f"engine.together={together}", *overrides, model=model)


def trained(config: Config) -> list[ClientUpdate]:
    federation = build(config)
    results = list(make_engine(federation.site).map(plan(federation, first_snapshot(federation), 0)))
    assert all(isinstance(result, ClientUpdate) for result in results)
    return sorted((r for r in results if isinstance(r, ClientUpdate)), key=lambda update: update.client)


def assert_alike(*overrides: str, model: str = "mlp", near: float = 1e-5) -> None:
    alone, together = (trained(made(*overrides, together=k, model=model)) for k in (1, 5))
    assert len({update.samples for update in alone}) > 2
    for one, other in zip(alone, together, strict=True):
        assert one.client == other.client
        assert one.metrics.keys() == other.metrics.keys()
        for name in one.metrics.keys() - {"seconds"}:
            # two answers may be as near as rounding: one image of a batch, of which the smallest has two
            closest = 0.5 / one.metrics["steps"] if name == "accuracy/train" else 1e-4
            assert other.metrics[name] == pytest.approx(one.metrics[name], rel=1e-3, abs=closest), name
        for group, state in one.own.groups().items():
            theirs = other.own.groups()[group]
            assert state.keys() == theirs.keys()
            for name, tensor in state.items():
                assert torch.allclose(theirs[name].float(), tensor.float(), rtol=1e-3, atol=near), (group, name)


def claims(method: str) -> bool:
    config = tiny(f"method={method}", *needs(method))
    answers = resolve(config)
    has_batch_norm = getattr(config.model, "norm", "none") == "batch"
    return not has_batch_norm and answers.stacks and answers.trains and not answers.pools_data


def keeps(method: str) -> bool:
    return resolve(tiny(f"method={method}", *needs(method))).exchange.keep is not None


def is_open(method: str) -> bool:
    return OPEN_LAMBDA in METHODS.find(method).traits


@pytest.mark.parametrize("method", [name for name in for_images(METHODS) if claims(name)])
def test_every_method_that_claims_it(method):
    assert_alike(f"method={method}", *needs(method))


@pytest.mark.parametrize("method", [name for name in for_images(METHODS) if claims(name) and keeps(name)])
def test_what_clients_keep_is_each_clients_own(method):
    """The second round, which begins with what the first one left."""
    settings = (f"method={method}", *needs(method), *(("balance=constant", "balance.lam=1") if is_open(method) else ()))
    alone, together = (records(made(*settings, together=k))[-1].snapshot.own for k in (1, 5))
    for client, state in alone.items():
        for name, tensor in state.memory.items():
            assert torch.allclose(together[client].memory[name], tensor, rtol=1e-3, atol=1e-4), name


@pytest.mark.parametrize("balance", BALANCES.names())
def test_every_policy(balance):
    once = ("communication=one-shot", "checkpoints=1") if balance == "progressive" else ()
    assert_alike("method=etf-align", *under(balance), *once, "client.clip=1.0")


@pytest.mark.parametrize(
    "settings",
    [
        ("client.optimiser=adamw", "client.momentum=0.9", "client.lr=0.002"),
        ("client.schedule=cosine", "client.weight_decay=0.01", "client.clip=0.5"),
        ("method=fafi", "client.augment=two-view"),
        ("method=etf-align", "method.classes=owned", "balance=equilibrium"),
    ],
    ids=["adamw", "schedule, decay and clip", "two views", "owned classes"],
)
def test_optimisers_schedules_views_and_counts_are_each_clients_own(settings):
    assert_alike(*settings, near=1e-5 if "client.optimiser=adamw" not in settings else 1e-3)


@pytest.mark.parametrize("model", [("mlp", "model.layers=0"), ("cnn", "model.width=4", "model.features=8")], ids=str)
def test_other_networks(model):
    assert_alike(*model[1:], model=model[0])


def test_a_whole_run_comes_to_the_same_model():
    ours, theirs = (records(made("rounds=3", together=k))[-1].snapshot.server.model for k in (5, 1))
    for name, tensor in theirs.items():
        assert torch.allclose(ours[name], tensor, rtol=1e-3, atol=1e-5), name


def test_one_shot_clients_go_on_from_where_they_stopped():
    ours, theirs = (
        records(one_shot("partition.clients=5", f"engine.together={k}", "client.optimiser=adamw", "client.lr=0.002"))
        for k in (5, 1)
    )
    for client, state in theirs[-1].snapshot.own.items():
        for name, tensor in state.model.items():
            assert torch.allclose(ours[-1].snapshot.own[client].model[name], tensor, rtol=1e-2, atol=1e-3), name


@pytest.mark.slow
def test_workers_give_the_numbers_of_this_process():
    ours, local = (records(made(*engine, together=2)) for engine in (ONE_WORKER, ()))
    assert numbers(ours) == numbers(local)


@pytest.mark.parametrize(("model", "method"), [("resnet8", "fedavg"), ("mlp", "memory-bank")])
def test_who_cannot_is_told_so(model, method):
    with pytest.raises(ConfigError, match="along one axis") as caught:
        build(made(f"method={method}", together=5, model=model))
    assert caught.value.where == "engine.together"


def test_a_client_that_fails_stops_and_the_others_go_on():
    config = made("method=fedavg", "client.lr=0.02", together=5)
    federation = build(config)
    tasks = plan(federation, first_snapshot(federation), 0)
    poisoned = {name: tensor * float("nan") for name, tensor in tasks[1].shared.items()}
    tasks[1] = type(tasks[1])(tasks[1].step, 1, tasks[1].epochs, tasks[1].shared, type(tasks[1].own)(model=poisoned))
    results = {result.client: result for result in make_engine(federation.site).map(tasks)}
    assert getattr(results[1], "kind", None) == "non-finite"
    healthy = trained(config)
    for client in (0, 2, 3, 4):
        assert isinstance(results[client], ClientUpdate)
        ours, theirs = (update.model["head.weight"] for update in (results[client], healthy[client]))
        assert torch.allclose(ours, theirs, rtol=1e-3, atol=1e-5), "four beside one that stopped, and five"
