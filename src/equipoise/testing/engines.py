"""What every engine promises: `engine`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from equipoise.config.schema import Config
from equipoise.core.values import ClientUpdate, Result, Task
from equipoise.engine.engine import Engine
from equipoise.engine.local import Local
from equipoise.engine.node import FIRST_LOSSES
from equipoise.run.advance import plan
from equipoise.run.build import build, make_engine
from equipoise.run.loop import first_snapshot
from equipoise.testing.small import assert_same, assert_same_update, numbers, one_shot, records, tiny, untouched_rng

NETWORK = ("data=synthetic", "data.train=90", "data.test=40", "data.limit=90", "data.test_limit=40", "model.width=4")
"""Images of three channels for a network with BatchNorm."""


def check_engine(name: str, *overrides: str) -> None:
    """Check that it gives the results of `engine=local` to the last bit; `overrides` are settings that it needs."""
    engine = (f"engine={name}", *overrides)
    for make in (tiny, one_shot):
        config = make("method=etf-align", "balance=decoupled-hinge", *engine)
        every_task_has_its_result(config)
        numbers_are_those_of_local(config)
    numbers_are_those_of_local(tiny(*NETWORK, "client.optimiser=adamw", *engine, model="resnet8"))
    clients_that_train_together_are_carried(tiny("engine.together=2", "method=fedprox", *engine))


def every_task_has_its_result(config: Config) -> None:
    """Tasks and questions have one result each; the engine works again after it, and draws nothing here."""
    federation = build(config)
    tasks = plan(federation, first_snapshot(federation), 0)
    questions = [replace(task, question=FIRST_LOSSES) for task in tasks]
    with untouched_rng():
        engine = make_engine(federation.site)
        try:
            for asked in (tasks, questions, tasks[:1]):
                _same_results(engine, Local(federation.site), asked)
            assert list(engine.map([])) == [], "there are results where nothing was asked"
            assert engine.take_events() == [], "something went wrong"
        finally:
            engine.close()


def _same_results(engine: Engine, local: Engine, tasks: Sequence[Task]) -> None:
    ours, theirs = (sorted(each.map(tasks), key=_client) for each in (engine, local))
    clients = [result.client for result in ours]
    assert clients == [task.client for task in tasks], f"results of clients {clients}, not one for each task"
    for one, other in zip(ours, theirs, strict=True):
        assert isinstance(one, ClientUpdate), f"a client failed: {one}"
        assert isinstance(other, ClientUpdate)
        assert_same_update(one, other)


def _client(result: Result) -> int:
    return result.client


def numbers_are_those_of_local(config: Config) -> None:
    local = config.model_copy(update={"engine": tiny("engine=local").engine})
    ours, theirs = (records(each) for each in (config, local))
    assert numbers(ours) == numbers(theirs), "a run has other numbers than with engine=local"
    assert_same(ours[-1].snapshot.server.model, theirs[-1].snapshot.server.model)


def clients_that_train_together_are_carried(config: Config) -> None:
    steps = records(config)
    clients = {row.client for row in steps[-1].rows if row.client is not None}
    assert clients == set(range(config.partition.clients)), f"numbers of clients {sorted(clients)} only"
