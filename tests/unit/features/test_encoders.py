from __future__ import annotations

import shutil
import sys
import types

import numpy as np
import pytest
import torch

from equipoise.core.errors import ConfigError, DataError, MissingExtra
from equipoise.features.encoders import as_rows, image_encoder, text_encoder, weights_digest
from tests.unit.features.small_encoders import save_pictures, save_program, save_sentence_model


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    pytest.importorskip("sentence_transformers", reason="the extra `features` is not installed")
    return save_sentence_model(tmp_path_factory.mktemp("models") / "words")


def test_a_sentence_model_by_folder(model):
    encoder = text_encoder(str(model))
    rows = encoder.encode([encoder.read(text) for text in ("red ship", "red", "ship")])
    assert rows.shape == (3, 6)
    assert rows.dtype == np.float32
    assert np.allclose(rows[0], (rows[1] + rows[2]) / 2, atol=1e-6)
    assert encoder.name == "words"


def test_the_fingerprint_of_a_folder_is_that_of_its_files(model, tmp_path):
    copy = shutil.copytree(model, tmp_path / "copy")
    assert text_encoder(str(copy)).fingerprint == text_encoder(str(model)).fingerprint
    (copy / "README.md").write_text("another")
    assert text_encoder(str(copy)).fingerprint != text_encoder(str(model)).fingerprint


@pytest.mark.parametrize("name", ["./nowhere", "/nowhere", "~/nowhere"])
def test_a_folder_that_is_not_there(name):
    with pytest.raises(DataError, match="there is no sentence-transformers model in"):
        text_encoder(name)


def test_a_folder_of_something_else(tmp_path):
    with pytest.raises(DataError, match="there is no sentence-transformers model in") as caught:
        text_encoder(str(tmp_path))
    assert "modules.json" in caught.value.where


@pytest.mark.parametrize("file", ["modules.json", "model.safetensors", "tokenizer.json"])
def test_a_damaged_folder(model, tmp_path, file):
    copy = shutil.copytree(model, tmp_path / "copy")
    (copy / file).write_text("nonsense")
    with pytest.raises(DataError, match="sentence-transformers cannot load"):
        text_encoder(str(copy))


def test_a_model_by_name_is_digested_by_its_weights(model, monkeypatch):
    import sentence_transformers

    real = sentence_transformers.SentenceTransformer
    monkeypatch.setattr(
        sentence_transformers, "SentenceTransformer", lambda name, **options: real(str(model), **options)
    )
    encoder = text_encoder("words-from-far-away")
    assert encoder.name == "words-from-far-away"
    assert encoder.fingerprint == weights_digest(real(str(model), device="cpu").state_dict())


def test_a_name_that_cannot_be_loaded(model, monkeypatch):
    import sentence_transformers

    def unreachable(name, **options):
        raise OSError("no network\nmany more words")

    monkeypatch.setattr(sentence_transformers, "SentenceTransformer", unreachable)
    with pytest.raises(DataError, match=r"cannot load 'all-MiniLM-L6-v2' \(no network\)") as caught:
        text_encoder("all-MiniLM-L6-v2")
    assert "give its folder" in caught.value.fix


@pytest.mark.parametrize(
    ("make", "name", "library"),
    [
        (text_encoder, "all-MiniLM-L6-v2", "sentence_transformers"),
        (image_encoder, "open_clip:ViT-B-32/openai", "open_clip"),
    ],
)
def test_a_missing_extra_says_how_to_install_it(monkeypatch, make, name, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtra, match="cannot be imported") as caught:
        make(name)
    assert caught.value.fix == "pip install 'equipoise[features]'"
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("name", ["ViT-B-32", "encoder.pt", "open_clip:ViT-B-32", "open_clip:/openai"])
def test_encoders_of_pictures_have_two_forms(name):
    with pytest.raises(ConfigError, match="MODEL/PRETRAINED"):
        image_encoder(name)


def test_a_program(tmp_path):
    assert image_encoder(str(save_program(tmp_path / "encoder.pt2"))).name == "encoder.pt2"


class Clip(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor(2.0))

    def encode_image(self, pixels):
        return self.scale * pixels.mean(dim=(2, 3))


def stand_in(model_name, pretrained):
    if pretrained == "unknown":
        raise RuntimeError("no such weights")

    def prepare(picture):
        return torch.from_numpy(np.asarray(picture.resize((4, 4)), np.float32).transpose(2, 0, 1) / 255)

    return Clip(), None, prepare


def test_open_clip_is_called_as_documented(tmp_path, monkeypatch):
    """A stand-in: the library itself needs torchvision, which the tested versions do not have."""
    library = types.SimpleNamespace(create_model_and_transforms=stand_in)
    monkeypatch.setitem(sys.modules, "open_clip", library)
    encoder = image_encoder("open_clip:ViT-B-32/openai")
    folder = save_pictures(tmp_path / "posters", {"1.png": (255, 0, 0)})
    assert np.allclose(encoder.encode([encoder.read(folder / "1.png")]), [[2, 0, 0]])
    with pytest.raises(DataError, match="open_clip cannot load 'open_clip:ViT-B-32/unknown'"):
        image_encoder("open_clip:ViT-B-32/unknown")


def test_digests_tell_names_types_shapes_and_values_apart():
    states = [
        {"a": torch.zeros(2)},
        {"b": torch.zeros(2)},
        {"a": torch.zeros(2, dtype=torch.float64)},
        {"a": torch.zeros(1, 2)},
        {"a": torch.ones(2)},
        {"a": torch.tensor(0.0)},
        {"a": torch.zeros(2, dtype=torch.bfloat16)},
    ]
    assert len({weights_digest(state) for state in states}) == len(states)


def test_rows_of_every_float_become_float32():
    for output in (torch.ones(2, 3, dtype=torch.bfloat16), np.ones((2, 3)), torch.ones(2, 3, requires_grad=True)):
        assert as_rows(output, 2, "e").dtype == np.float32


@pytest.mark.parametrize("output", [np.ones((2, 1)), np.ones((3, 3)), torch.ones(2, 3, 4), [[1.0, 2.0]], None])
def test_what_is_no_rows(output):
    with pytest.raises(DataError, match=r"features are floats \[2, d\]"):
        as_rows(output, 2, "e")
