"""Needs the extra `onnx`; what is said without it is tested in any case."""

from __future__ import annotations

import json
from importlib.util import find_spec

import pytest
import torch

from equipoise.core.errors import EngineError, MissingExtra
from equipoise.deploy import onnx_file
from equipoise.deploy.folder import write_onnx
from equipoise.deploy.onnx_file import Distances

from .conftest import WAYS, accuracy, listed, recorded, test_samples

FEW_WAYS = {"parameter-average", "common-gate", "typicality-gate", "iffi", "recalibrated-average"}


def test_without_the_extra_it_says_what_to_install(store, servers, tmp_path, monkeypatch):
    monkeypatch.setattr(onnx_file, "find_spec", lambda name: None if name == "onnxscript" else find_spec("json"))
    with pytest.raises(MissingExtra, match=r"needs onnxscript, which is not installed[^$]*equipoise\[onnx\]"):
        write_onnx(store, servers["mlp", "common"], tmp_path / "model")
    assert listed(tmp_path) == []


def test_distances_as_a_formula_are_those_of_torch():
    a, b = torch.rand(40, 3), torch.rand(5, 3)
    with Distances():
        found = torch.cdist(a, b)
    torch.testing.assert_close(found, torch.cdist(a, b))


@pytest.mark.parametrize(
    ("trained", "predict"),
    [pytest.param(*way, marks=[] if way[1] in FEW_WAYS and way[0] == "resnet8" else pytest.mark.slow) for way in WAYS],
)
def test_onnxruntime_gives_the_recorded_accuracy_with_any_batch_size(store, servers, tmp_path, trained, predict):
    for name in onnx_file.PACKAGES:
        pytest.importorskip(name)
    run = servers[trained, predict]
    written = write_onnx(store, run, tmp_path / "model")
    assert [path.name for path in written] == ["card.json", "model.onnx"]
    samples = test_samples(run)
    found = onnx_file.run_onnx(written[1], torch.from_numpy(samples.inputs))
    assert accuracy(found.numpy(), samples) == pytest.approx(recorded(store, run), abs=1e-9)
    alone = onnx_file.run_onnx(written[1], torch.from_numpy(samples.inputs[:1]))
    torch.testing.assert_close(alone, found[:1], atol=1e-5, rtol=1e-4)
    assert "InferenceSession" in json.loads(written[0].read_text())["use"]


def test_what_the_exporter_cannot_express_is_said_and_nothing_stays(store, servers, tmp_path, monkeypatch):
    def unable(*_: object, **__: object) -> None:
        raise RuntimeError("no translation for aten::strange")

    monkeypatch.setattr(onnx_file, "find_spec", lambda name: find_spec("json"))
    monkeypatch.setattr(torch.onnx, "export", unable)
    with pytest.raises(EngineError, match=r"cannot express 'common' with 'mlp': .*strange[^$]*--to torch"):
        write_onnx(store, servers["mlp", "common"], tmp_path / "model")
    assert listed(tmp_path) == []
