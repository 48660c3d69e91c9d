"""A command that runs a configuration again is read back as that configuration."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest

from equipoise.config.loader import load
from equipoise.config.schema import Config
from equipoise.report.again import again
from equipoise.run.grid import load_grid
from equipoise.store.records import Run


def run_of(config: Config, **changes: object) -> Run:
    stored = config.model_dump(mode="json") | changes
    return Run(
        run_id=f"{config.name}-00000{config.seed}", name=config.name, method=config.method.name, seed=config.seed,
        config=stored, config_hash=config.fingerprint(), headline="accuracy/merged", version="0", status="done",
        created="", updated="", finished=None, error=None, partition=None,
    )  # fmt: skip


@pytest.mark.parametrize(
    "request_",
    [
        "fedavg",
        "fedavg method=fedprox mu=0.3 rounds=3 seed=7",
        "fafi client.epochs=4 checkpoints=4",
        "etf-align balance=uncertainty balance.sigma.lr=0.005 client.epochs=10",
        "ours method.logits=dot server.predict=null guard=heal",
        "fafi method=statistics model=filters client.epochs=1 checkpoints=1",
        "fedavg communication=one-shot client.epochs=3 checkpoints=3 server.predict=logit-ensemble",
        "fedavg data=synthetic partition=iid model=mlp client.schedule=cosine limits.lr-cut.low=0.2 guard=stop",
        "rec/feddmmr rounds=4 data.users=60 method.store.read=10 model.router=user evaluate.every=2",
        'rec/feddmmr client.stages=[{"rounds":2,"groups":["router"]}] server.personal=["router"] name=of-my-own',
    ],
)
def test_the_command_is_read_back_as_the_same_configuration(request_: str) -> None:
    preset, *overrides = shlex.split(request_.replace('"', '\\"'))
    config = load(preset, overrides).config
    program, verb, again_preset, *settings = shlex.split(again([run_of(config)]))
    assert (program, verb) == ("equipoise", "run")
    assert load(again_preset, settings).config.fingerprint() == config.fingerprint()
    assert len(settings) <= len(overrides), "no longer than what was asked for"


def test_several_seeds_are_a_sweep_over_them() -> None:
    configs = [load("fedavg", ["rounds=3", f"seed={seed}"]).config for seed in (0, 1)]
    assert again([run_of(config) for config in configs]) == "equipoise sweep fedavg rounds=3 --seeds 2"
    cells = load_grid("fedavg", ["rounds=3"], "2").cells
    assert {cell.config.fingerprint() for cell in cells} == {config.fingerprint() for config in configs}
    configs = [load("fedavg", [f"seed={seed}"]).config for seed in (7, 3)]
    assert again([run_of(config) for config in configs]) == "equipoise sweep fedavg --seeds 3,7"


def test_what_no_preset_leads_to_is_run_from_its_own_file() -> None:
    stranger = run_of(load("fedavg").config, method={"name": "not-installed-here"})
    command = "equipoise show fedavg-000000 --config > again.yaml && equipoise run again.yaml"
    assert again([stranger]) == command


def test_no_torch_is_loaded_for_it() -> None:
    code = "import sys, equipoise.report.again as again; again._presets(); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
