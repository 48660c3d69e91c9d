"""`equipoise export --to torch`, as its users give it."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.e2e.conftest import TINY, Equipoise


def test_a_model_leaves_its_run(equipoise: Equipoise, tmp_path: Path) -> None:
    run = equipoise("run", "ensemble", *TINY, "rounds=2", "--json").json
    out = equipoise("export", "latest", "--to", "torch", "-o", "out").out
    assert out.splitlines() == [f"written: out/{name}" for name in ("card.json", "model.py", "weights.safetensors")]
    card = json.loads((tmp_path / "out" / "card.json").read_text(encoding="utf-8"))
    assert card["run"] == run["run_id"]
    assert card["recorded"]["value"] == run["metrics"]["accuracy/merged"]


def test_wrong_requests_are_named_and_leave_nothing(equipoise: Equipoise, tmp_path: Path) -> None:
    equipoise("run", "local-only", *TINY, "rounds=1", "name=mine")
    equipoise("run", "fedavg", *TINY, "rounds=1", "name=yours")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("")
    for arguments, words in (
        (["mine", "--to", "torch"], "name a client"),
        (["mine", "--to", "torch", "--client", "77"], "client 77 of run"),
        (["yours", "--to", "torch", "--client", "0"], "the merged model went back"),
        (["yours", "--to", "torch", "-o", "full"], "full is not empty"),
        (["yours", "mine", "--to", "torch"], "2 runs were named"),
        (["yours", "--to", "svg", "--client", "0"], "client is for models alone"),
        (["nobody", "--to", "torch"], "there is no run 'nobody'"),
    ):
        assert words in " ".join(equipoise("export", *arguments, code=2).err.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full", "runs"]
    equipoise("export", "mine", "--to", "torch", "--client", "1", "-o", "own")
    assert json.loads((tmp_path / "own" / "card.json").read_text(encoding="utf-8"))["client"] == 1


@pytest.mark.skipif(find_spec("onnxscript") is not None, reason="the extra is installed")
def test_onnx_without_its_extra_says_what_to_install(equipoise: Equipoise, tmp_path: Path) -> None:
    equipoise("run", "fedavg", *TINY, "rounds=1")
    said = equipoise("export", "latest", "--to", "onnx", code=2).err
    assert "equipoise[onnx]" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["runs"]
    assert "onnx" not in sys.modules
