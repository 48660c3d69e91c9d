from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from equipoise.config.check import check
from equipoise.config.loader import load
from equipoise.core.errors import ClientError, ConfigError, DataError, PluginError
from equipoise.core.loading import LOADED
from equipoise.models.build import build_model, state_of
from equipoise.run.build import build
from tests.backbones import save, settings, trained, written
from tests.conftest import assert_same, numbers, one_shot, records, tiny

SHAPE = (3, 8, 8)


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    """What a test loads is no plugin of the next one."""
    monkeypatch.setattr(LOADED, "plugins", dict(LOADED.plugins))
    yield
    sys.modules.pop("mine", None)


@pytest.fixture
def mine(tmp_path):
    return written(tmp_path / "mine")


def built(given, *more, seed=0):
    return build_model(tiny(*given, *more).model, SHAPE, 10, seed)


def images(n=5):
    return torch.randn(n, *SHAPE, generator=torch.Generator().manual_seed(1))


def test_features_are_what_the_network_gives_in_evaluation_mode(mine):
    model = built(mine)
    expected = trained()(images())
    for mode in (True, False):
        model.train(mode)
        assert torch.allclose(model.encoder(images()), expected, atol=1e-6)
    assert model.n_features == expected.shape[1] == 32


def test_only_the_head_is_trained_and_sent(mine):
    model = built(mine)
    assert list(model.state_dict()) == [name for name, _ in model.named_parameters()] == ["head.weight", "head.bias"]
    assert model.groups == {"encoder": [], "head": ["head.weight", "head.bias"]}
    model.load_state_dict(state_of(model))


def test_the_head_does_not_depend_on_whether_the_network_was_built_before(mine):
    first, again = built(mine, seed=3), built(mine, seed=3)
    assert_same(state_of(first), state_of(again))


def test_networks_of_a_process_share_their_constants_but_not_their_place(mine):
    first, second = built(mine), built(mine)
    ours, theirs = (dict(model.encoder.named_buffers()) for model in (first, second))
    assert all(ours[name].data_ptr() == theirs[name].data_ptr() for name in ours)
    first.encoder.double()
    assert first.encoder.network[0].weight.dtype == torch.float64
    assert second.encoder.network[0].weight.dtype == torch.float32


@pytest.mark.parametrize(("layer", "width"), [("5", 8), ("6", 8), ("7", 32)])
def test_the_output_of_a_layer_is_averaged_over_height_and_width(mine, layer, width):
    model = built(mine, f"model.layer='{layer}'")
    found = trained()[: int(layer) + 1](images())
    expected = found.mean((2, 3)) if found.ndim == 4 else found
    assert model.n_features == width
    assert torch.allclose(model.eval().encoder(images()), expected, atol=1e-6)


def test_images_are_resized_and_normalised_as_the_network_wants_them(mine):
    config = tiny(*mine, "model.resize=16", "model.mean=[0.5,0.4,0.3]", "model.std=[0.2,0.2,0.1]", "rounds=1")
    federation = build(config)
    stored = federation.judge.evaluator.splits.test.inputs[:4]
    shares = torch.from_numpy(np.repeat(stored, 3, 1)) / 255
    expected = (shares - torch.tensor([0.5, 0.4, 0.3])[:, None, None]) / torch.tensor([0.2, 0.2, 0.1])[:, None, None]
    found = federation.site.inputs.prepare(stored)
    assert torch.allclose(found, expected, atol=1e-5)
    larger = nn.functional.interpolate(found, (16, 16), mode="bilinear", align_corners=False)
    model = build_model(config.model, SHAPE, 10, 0)
    assert torch.allclose(model.eval().encoder(found), trained()(larger), atol=1e-5)
    assert len(records(federation)) == 1


@pytest.mark.parametrize("method", ["analytic", "afl", "safle"])
def test_workers_make_it_again_from_its_files(mine, method):
    config = one_shot(*mine, f"method={method}", "evaluate.beside=never", checkpoints=1)
    away = config.model_copy(update={"engine": load({}, ["engine=processes", "engine.workers=1"]).config.engine})
    assert numbers(records(away)) == numbers(records(config))


def test_a_linear_probe_trains_the_head_alone(mine):
    config = tiny(*mine, "client.epochs=3", "rounds=3", "client.lr=0.1", "evaluate.beside=never")
    steps = records(config)
    losses = [np.mean([row.value for row in step.rows if row.name == "loss/base"]) for step in steps]
    assert losses[-1] < losses[0]
    head = state_of(built(mine))
    assert numbers(steps)[0, None, "bytes/down"] == 3 * 4 * sum(map(torch.numel, head.values()))
    assert set(steps[-1].snapshot.server.model) == set(head)


def test_relative_files_start_from_the_file_of_settings(tmp_path, monkeypatch):
    written(tmp_path / "mine")
    text = "preset: fedavg\nmodel: {name: backbone, factory: 'mine.py:cnn', weights: mine.safetensors}\n"
    (tmp_path / "mine" / "settings.yaml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    config = load("mine/settings.yaml").config
    assert config.model.weights == str(tmp_path / "mine" / "mine.safetensors")
    assert [plugin.name for plugin in config.plugins] == ["mine"]


def test_a_stored_configuration_means_the_same_from_any_folder(tmp_path, monkeypatch):
    written(tmp_path / "mine")
    monkeypatch.chdir(tmp_path / "mine")
    named = {"name": "backbone", "factory": "mine.py:cnn", "weights": "mine.safetensors"}
    stored = check({"model": named}).model_dump()
    monkeypatch.chdir(tmp_path)
    assert check(stored).model_dump() == stored
    build_model(check(stored).model, SHAPE, 10, 0)


def test_the_hash_knows_contents_and_not_places(tmp_path):
    here, there, other = (tiny(*written(tmp_path / name, width)) for name, width in (("a", 4), ("b", 4), ("c", 3)))
    assert here.fingerprint() == there.fingerprint() != other.fingerprint()
    assert here.model.sha256 == there.model.sha256 != other.model.sha256
    one = one_shot(*written(tmp_path / "a"))
    assert one.training_fingerprint() == one_shot(*written(tmp_path / "b")).training_fingerprint()


def test_weights_that_changed_are_refused(mine, tmp_path):
    stored = tiny(*mine).model_dump()
    build(check(stored))
    save(trained(seed=1), tmp_path / "mine" / "mine.safetensors")
    with pytest.raises(ConfigError, match=r"the weights mine\.safetensors are not what they were") as caught:
        build(check(stored))
    assert "model.sha256" in caught.value.fix


def test_code_that_changed_is_refused(mine, tmp_path):
    stored = tiny(*mine).model_dump()
    file = tmp_path / "mine" / "mine.py"
    file.write_text(file.read_text() + "\n# changed\n")
    with pytest.raises(PluginError, match="plugin 'mine' is not what it was"):
        check(stored)


@pytest.mark.parametrize(
    ("function", "says"),
    [
        ("cn", "'cn' of mine is not there"),
        ("NOTHING", "'NOTHING' of mine is no function, but int"),
        ("number", "'number' of mine returns no torch.nn.Module, but int"),
        ("raises", "RuntimeError: the disk is full"),
        ("in_pairs", "gives tuple for two images"),
        ("strict", r"cannot read images of shape \(3, 8, 8\)"),
    ],
)
def test_a_function_that_gives_no_network_is_named(function, says, mine, tmp_path):
    state = {"1.weight": torch.zeros(4, 7), "1.bias": torch.zeros(4)} if function == "strict" else {}
    save_file(state, tmp_path / "mine" / "mine.safetensors")
    with pytest.raises(PluginError, match=says) as caught:
        built(settings(tmp_path / "mine", function))
    assert caught.value.exit_code == 2


def test_a_layer_that_is_not_there_is_refused(mine):
    with pytest.raises(ConfigError, match="the network has no module '9'"):
        built(mine, "model.layer='9'")


def test_a_module_is_found_by_its_name(tmp_path, monkeypatch):
    written(tmp_path / "mine")
    monkeypatch.syspath_prepend(tmp_path / "mine")
    named = ("model=backbone", "model.factory=mine:cnn", f"model.weights={tmp_path / 'mine' / 'mine.safetensors'}")
    assert built(named).n_features == 32
    with pytest.raises(PluginError, match="there is no plugin module 'yours'"):
        tiny("model=backbone", "model.factory=yours:cnn", *named[2:])


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("model.factory=cnn", "model.weights=mine/mine.safetensors"), "expected MODULE:FUNCTION, got 'cnn'"),
        ((), "model.weights: was not named"),
        (("model.weights=none.safetensors",), "the weights none.safetensors cannot be read"),
        (("model.mean=[0.5]",), "mean and std belong together"),
        (("model.mean=[0.5]", "model.std=[0.0]"), "deviations above 0"),
    ],
)
def test_settings_that_cannot_be_are_refused(given, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "mine")
    factory = (f"model.factory={tmp_path / 'mine' / 'mine.py'}:cnn",)
    with pytest.raises((ConfigError, DataError), match=says) as caught:
        tiny("model=backbone", *(() if "MODULE" in says else factory), *given)
    assert caught.value.exit_code == 2


def test_a_backbone_without_a_function_is_refused():
    with pytest.raises(ConfigError, match=r"model\.factory: was not named"):
        tiny("model=backbone")


def test_keys_and_shapes_that_do_not_fit_are_named(mine, tmp_path):
    path = tmp_path / "mine" / "mine.safetensors"
    with pytest.raises(DataError, match=r"8 shapes differ: 0.bias is \(4,\) in the file and \(5,\) in the network"):
        built(settings(tmp_path / "mine", "cnn", "model.arguments.width=5"))
    state = load_file(path)
    state["head.weight"] = state.pop("4.weight")
    save_file(state, path)
    with pytest.raises(DataError, match=r"1 tensors of the network are not in the file: 4\.weight; 1 tensors of"):
        built(mine)


def test_weights_that_are_not_finite_or_cut_short_are_refused(mine, tmp_path):
    path = tmp_path / "mine" / "mine.safetensors"
    state = load_file(path)
    state["4.bias"][0] = torch.nan
    save_file(state, path)
    with pytest.raises(DataError, match=r"1 of 9 tensors .* not finite: 4.bias"):
        built(mine)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(DataError, match="not a whole safetensors file"):
        built(mine)


def test_a_pickled_state_is_refused_and_its_two_lines_convert_it(mine, tmp_path):
    torch.save(trained().state_dict(), tmp_path / "mine" / "old.pt")
    with pytest.raises(DataError, match="never unpickled") as caught:
        tiny(*mine[:2], f"model.weights={tmp_path / 'mine' / 'old.pt'}")
    lines = caught.value.fix.splitlines()[1:]
    assert len(lines) == 2
    subprocess.run([sys.executable, "-c", "\n".join(lines)], cwd=tmp_path / "mine", check=True)
    given = (*mine[:2], f"model.weights={tmp_path / 'mine' / 'old.safetensors'}")
    assert torch.allclose(built(given).eval().encoder(images()), trained()(images()), atol=1e-6)


@pytest.mark.parametrize("method", ["analytic", "afl", "fed3r", "fedcgs", "safle"])
def test_features_that_are_constant_are_refused_in_words(method, mine, tmp_path):
    save_file({}, tmp_path / "mine" / "mine.safetensors")
    given = settings(tmp_path / "mine", "blind")
    with pytest.raises(ClientError, match="every feature is the same for all samples"):
        records(one_shot(*given, f"method={method}", "evaluate.beside=never", checkpoints=1))


def test_features_that_are_not_finite_stop_their_client_and_not_the_federation(mine, tmp_path):
    site = build(one_shot(*mine, "method=afl", "evaluate.beside=never", checkpoints=1)).site
    save_file({}, tmp_path / "mine" / "mine.safetensors")
    brightness = site.train.inputs.astype(float).mean((1, 2, 3))
    (bright,) = np.flatnonzero(brightness == brightness.max())[:1]
    above = np.sort(site.inputs.prepare(site.train.inputs).mean((1, 2, 3)).numpy())[-2:].mean()
    given = settings(tmp_path / "mine", "dazzled", f"model.arguments.above={above}")
    (step,) = records(one_shot(*given, "method=afl", "evaluate.beside=never", checkpoints=1))
    (event,) = step.events
    assert event.kind == "client-non-finite"
    assert "features that are not finite for 1 of" in event.message
    assert bright in site.indices[event.client]
    assert numbers([step])[0, None, "accuracy/merged"] > 0.2


def test_features_that_are_not_finite_for_anybody_fail_the_run(mine, tmp_path):
    save_file({}, tmp_path / "mine" / "mine.safetensors")
    given = settings(tmp_path / "mine", "dazzled", "model.arguments.above=-100")
    with pytest.raises(ClientError, match="no client gave an update; the first of 3: the encoder gives features that"):
        records(one_shot(*given, "method=afl", "evaluate.beside=never", checkpoints=1))
