from __future__ import annotations

from types import SimpleNamespace

from equipoise.api.progress import ProgressBars
from equipoise.config.blocks import EngineOptions
from equipoise.core.pulse import PULSE


def test_the_bar_of_clients_begins_anew_at_every_checkpoint() -> None:
    name = SimpleNamespace(name="any")
    things = {"method": name, "data": name, "model": name, "engine": EngineOptions()}
    config = SimpleNamespace(is_one_shot=False, steps=2, seed=0, **things)
    partition = SimpleNamespace(skew={"samples": 1.0}, name="iid", indices=[0] * 5, fingerprint="f" * 12)
    judge = SimpleNamespace(headline="accuracy/merged")
    bars = ProgressBars()
    bars.begin("r", SimpleNamespace(config=config, partition=partition, judge=judge, n_clients=5), 0)  # type: ignore[arg-type]
    assert bars.bars is not None
    try:
        for client in range(5):
            bars.tick(0, client + 1, 5, SimpleNamespace(metrics={}))  # type: ignore[arg-type]
        bars.checkpoint(SimpleNamespace(step=0, rows=[], events=[]))  # type: ignore[arg-type]
        PULSE.beat(0.5)
        list(bars.bars.get_renderables())
        (clients,) = [task for task in bars.bars.tasks if task.description == "clients"]
        assert clients.completed == 0.5
    finally:
        PULSE.beat(0.0)
        bars.end()
