"""A compiled network: the same numbers but for rounding, kept on disk, and told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from equipoise.client.recipe import Recipe
from equipoise.config.loader import load
from equipoise.core.errors import ConfigError
from equipoise.core.stopwatch import WATCH
from equipoise.core.values import Task
from equipoise.run.build import build
from equipoise.run.profile import advice
from tests.conftest import numbers, records, tiny

NETWORK = ("model=cnn", "model.width=4", "model.norm=batch", "rounds=1", "partition.clients=2", "partition.alpha=100")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of torch's own compiler
def test_the_numbers_are_those_of_the_network_but_for_rounding(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    WATCH.start()
    ours = numbers(records(tiny(*NETWORK, "engine.compile=true")))
    laps = WATCH.stop()
    plain = numbers(records(tiny(*NETWORK)))
    assert ours.keys() == plain.keys()
    for key, value in plain.items():
        if not key[2].startswith("hash/"):
            assert ours[key] == pytest.approx(value, rel=1e-3, abs=0.02 if "accuracy" in key[2] else 1e-5), key
    assert laps["compile"] > 0
    assert list(tmp_path.rglob("*.so"))


def test_it_is_part_of_what_a_run_is_and_clients_train_alone() -> None:
    config = tiny("engine.compile=true", "partition.clients=40", "data.limit=400", "partition.alpha=100")
    assert config.fingerprint() != tiny("partition.clients=40", "data.limit=400", "partition.alpha=100").fingerprint()
    assert build(config).site.together == 1
    with pytest.raises(ConfigError, match="only the network of clients that train alone is compiled"):
        build(tiny("engine.compile=true", "engine.together=2"))
    with pytest.raises(ConfigError, match="recommenders train along one axis, and are not compiled"):
        build(load("rec/sasrec", ["engine.compile=true"]).config)


def test_the_first_step_of_a_size_compiles() -> None:
    site = build(tiny("engine.compile=true")).site
    recipe = site.recipe()
    assert isinstance(recipe, Recipe)
    batches = [steps.batch for steps in recipe.work.steps([recipe.feed(Task(0, 0, range(1), {}))], 0)]
    seen = [recipe.is_compiling(batch) for batch in [*batches, *batches]]
    assert seen[0]
    assert not any(seen[len(batches) :])


def test_advice_where_compiling_does_not_pay() -> None:
    (text,) = [
        text for text in advice({"compile": 8.0, "forward": 2.0}, tiny("engine=processes"), 3) if "compile" in text
    ]
    assert text.startswith("engine.compile=false: compiling takes 80%")
