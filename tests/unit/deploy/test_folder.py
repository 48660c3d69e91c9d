from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from equipoise.core.errors import ConfigError, EngineError
from equipoise.core.registry import PREDICTS
from equipoise.deploy.folder import write_torch
from tests.conftest import one_shot, tiny

from .conftest import WAYS, accuracy, listed, recorded, run_of, test_samples

pytestmark = pytest.mark.slow

ELSEWHERE = """
import importlib.abc, json, sys
from pathlib import Path

class Refused(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"equipoise", "tests", "kornia", "pydantic", "sklearn"}:
            raise ImportError(f"{name} is not here")

sys.meta_path.insert(0, Refused())
import numpy as np, torch

for folder in map(Path, sys.argv[1:]):
    sys.path.insert(0, str(folder / "model"))
    from model import load
    with torch.no_grad():
        np.save(folder / "probabilities.npy", load()(torch.from_numpy(np.load(folder / "samples.npy"))).numpy())
    del sys.modules["model"], sys.path[0]
assert "equipoise" not in sys.modules
"""
"""A process without Equipoise: it reads samples.npy of each folder, and writes what the model there says of them."""


def said_elsewhere(*folders: Path) -> list[np.ndarray]:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [sys.executable, "-I", "-c", ELSEWHERE, *map(str, folders)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [np.load(folder / "probabilities.npy") for folder in folders]


def exported(store, run, folder: Path, **of) -> Path:
    folder.mkdir()
    write_torch(store, run, folder / "model", **of)
    np.save(folder / "samples.npy", test_samples(run).inputs)
    return folder


def test_a_process_without_equipoise_gets_the_recorded_accuracy(store, servers, tmp_path):
    """Every way to predict, of a perceptron and of a ResNet with BatchNorm; rounds; one client alone."""
    runs = [servers[key] for key in WAYS]
    runs += [run_of(store, tiny("method=ensemble")), run_of(store, tiny("method=fedetf"))]
    runs += [run_of(store, one_shot("method=statistics", "checkpoints=1", model="filters")), run_of(store, tiny())]
    folders = [exported(store, run, tmp_path / f"{place}") for place, run in enumerate(runs)]
    for run, probabilities in zip(runs, said_elsewhere(*folders), strict=True):
        found = accuracy(probabilities, test_samples(run))
        assert found == pytest.approx(recorded(store, run), abs=1e-9), run.name


def test_a_cnn_and_a_clients_own_model_go_elsewhere_too(store, tmp_path):
    run = run_of(store, tiny("method=local-only", "model.width=4", model="cnn"))
    folder = exported(store, run, tmp_path / "own", client=2)
    (probabilities,) = said_elsewhere(folder)
    card = json.loads((folder / "model" / "card.json").read_text())
    assert (card["client"], card["predict"]) == (2, "parameter-average")
    assert accuracy(probabilities, test_samples(run)) == pytest.approx(card["recorded"]["value"], abs=1e-9)


def test_the_folder_holds_three_files_and_a_card_that_says_what_they_are(store, servers, tmp_path):
    run = servers["resnet8", "energy-gate"]
    written = write_torch(store, run, tmp_path / "out" / "model")
    assert [path.name for path in written] == ["card.json", "model.py", "weights.safetensors"]
    assert listed(tmp_path / "out" / "model") == ["card.json", "model.py", "weights.safetensors"]
    assert listed(tmp_path / "out") == ["model"], "nothing is left of what was written first"
    card = json.loads(written[0].read_text())
    assert card["run"] == run.run_id
    assert card["classes"] == [str(digit) for digit in range(10)]
    assert card["input"]["shape"] == ["N", 1, 8, 8]
    assert card["input"]["normalisation"] == {"mean": [0.3056] * 3, "std": [0.3759] * 3}
    assert card["recorded"]["value"] == recorded(store, run)
    assert card["models"] == ["client-0", "client-1", "client-2"]
    assert "from model import load" in card["use"]
    text = written[1].read_text()
    assert "pickle" not in text
    assert "import equipoise" not in text
    assert "from equipoise" not in text


def test_an_empty_folder_is_filled_and_another_is_refused(store, servers, tmp_path):
    run = servers["mlp", "parameter-average"]
    (tmp_path / "empty").mkdir()
    write_torch(store, run, tmp_path / "empty")
    with pytest.raises(ConfigError, match="is not empty"):
        write_torch(store, run, tmp_path / "empty")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ConfigError, match="is a file"):
        write_torch(store, run, tmp_path / "file")
    with pytest.raises(ConfigError, match="cannot write"):
        write_torch(store, run, tmp_path / "file" / "below")
    assert listed(tmp_path) == ["empty", "file"]
    assert (tmp_path / "file").read_text() == "mine"


PLUGIN = '''
"""A network, a head and a way to predict of somebody's own."""
from __future__ import annotations

import torch
from torch import nn

import numpy as np
from equipoise.core.registry import MODELS, PREDICTS
from equipoise.config.blocks import ModelOptions
from equipoise.models.classifier import Classifier
from equipoise.server.predict import ordered

SIZE = ModelOptions.model_fields and 12
calls = 0


class Squash(nn.Module):
    def forward(self, x):
        return x.tanh()


@MODELS.register("squashed", options=ModelOptions)
def squashed(options, shape, n_classes):
    return Classifier(nn.Sequential(nn.Flatten(), nn.Linear(int(np.prod(shape)), SIZE), Squash()), SIZE, n_classes)


@PREDICTS.register("soup")
def soup(view, merged):
    """The plain mean of all weights."""
    models = [client.model for client in ordered(merged)]
    mean = {name: torch.stack([model[name] for model in models]).mean(0) for name in models[0]}
    return view.outputs(mean).logits.softmax(1)


@PREDICTS.register("moody")
def moody(view, merged):
    global calls
    calls += 1
    return view.outputs(merged.model).logits.softmax(1) ** calls
'''


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    from equipoise.core.registry import MODELS

    for registry in (MODELS, PREDICTS):
        registry.names()
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    (tmp_path / "my_plugin.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield __import__("my_plugin")
    del sys.modules["my_plugin"]


def test_a_plugins_network_and_way_to_predict_are_written_down(store, plugin, tmp_path):
    run = run_of(store, one_shot("server.predict=soup", model="squashed"))
    folder = exported(store, run, tmp_path / "own")
    (probabilities,) = said_elsewhere(folder)
    assert accuracy(probabilities, test_samples(run)) == pytest.approx(recorded(store, run), abs=1e-9)
    text = (folder / "model" / "model.py").read_text()
    assert "SIZE = 12\n" in text
    assert "register" not in text.replace("register_buffer", "")
    assert "Needs numpy and safetensors and torch" in text


def test_a_way_to_predict_that_does_not_repeat_itself_is_refused(store, plugin, tmp_path):
    run = run_of(store, one_shot("server.predict=moody"))
    with pytest.raises(EngineError, match="does not predict what the server"):
        write_torch(store, run, tmp_path / "model")
    assert listed(tmp_path) == ["my_plugin.py"] or listed(tmp_path) == ["__pycache__", "my_plugin.py"]
