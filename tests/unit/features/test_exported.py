from __future__ import annotations

import zipfile

import numpy as np
import pytest
import torch
from torch import nn

from equipoise.core.errors import DataError
from equipoise.features.exported import exported_encoder, load_program, taken_by
from tests.unit.features.small_encoders import Means, save_pictures, save_program


def test_a_program_reads_and_encodes(tmp_path):
    encoder = exported_encoder(save_program(tmp_path / "encoder.pt2", Means((1.0, 2.0, 4.0))))
    folder = save_pictures(tmp_path / "posters", {"1.png": (255, 0, 51), "2.png": (0, 255, 0)})
    ready = [encoder.read(folder / name) for name in ("1.png", "2.png")]
    assert ready[0].shape == (3, 8, 6)
    assert np.allclose(encoder.encode(ready), [[1, 0, 4 * 0.2], [0, 2, 0]], atol=1e-6)
    assert encoder.name == "encoder.pt2"


def test_a_convolution(tmp_path, seed):
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 5)).eval()
    encoder = exported_encoder(save_program(tmp_path / "encoder.pt2", net))
    pixels = torch.rand(3, 3, 8, 6)
    assert np.allclose(encoder.encode(list(pixels.numpy())), net(pixels).detach().numpy(), atol=1e-6)


@pytest.mark.parametrize(
    ("batch", "bounds"),
    [(False, (2, 2)), (torch.export.Dim("B", min=2, max=4), (2, 4)), (torch.export.Dim("B", min=1), (1, 1 << 16))],
)
def test_batches_a_program_does_not_take_are_cut_or_filled(tmp_path, batch, bounds):
    path = save_program(tmp_path / "encoder.pt2", batch=batch)
    takes = taken_by(load_program(path), path)
    assert (takes.least, takes.most) == bounds
    assert (takes.height, takes.width) == (8, 6)
    pixels = np.linspace(0, 1, 5, dtype=np.float32)[:, None, None, None] * np.ones((5, 3, 8, 6), np.float32)
    for n in (1, 2, 5):
        rows = exported_encoder(path).encode(list(pixels[:n]))
        assert np.allclose(rows, pixels[:n].mean(axis=(2, 3)), atol=1e-6)


def test_the_fingerprint_is_that_of_the_file(tmp_path):
    one, other = (
        exported_encoder(save_program(tmp_path / f"{weight}.pt2", Means((weight, 1.0, 1.0)))) for weight in (1.0, 2.0)
    )
    assert one.fingerprint != other.fingerprint


class Pair(nn.Module):
    def forward(self, pixels):
        return pixels.mean(dim=(2, 3)), pixels


class Flat(nn.Module):
    def forward(self, pixels):
        return pixels.mean(dim=(1, 2, 3))


class Whole(nn.Module):
    def forward(self, pixels):
        return (pixels.mean(dim=(2, 3)) > 0).long()


@pytest.mark.parametrize(
    ("module", "found"), [(Pair(), "a tuple"), (Flat(), r"float32 \[2\]"), (Whole(), r"int64 \[2, 3\]")]
)
def test_outputs_that_are_no_rows(tmp_path, module, found):
    encoder = exported_encoder(save_program(tmp_path / "encoder.pt2", module))
    with pytest.raises(DataError, match=f"gave {found} for 2 items"):
        encoder.encode(list(np.ones((2, 3, 8, 6), np.float32)))


@pytest.mark.parametrize(
    ("example", "found"),
    [
        (torch.rand(2, 1, 8, 6), r"takes \[2, 1, 8, 6\]"),
        (torch.rand(2, 3), r"takes \[2, 3\]"),
        (torch.rand(2, 3, 8, 6).double(), "takes torch.float64"),
    ],
)
def test_programs_that_take_something_else(tmp_path, example, found):
    with pytest.raises(DataError, match=found):
        exported_encoder(save_program(tmp_path / "encoder.pt2", nn.Tanh(), example))


class Two(nn.Module):
    def forward(self, pixels, more):
        return pixels + more


def test_a_program_of_two_inputs(tmp_path):
    program = torch.export.export(Two(), (torch.rand(2, 3, 8, 6), torch.rand(2, 3, 8, 6)))
    torch.export.save(program, tmp_path / "encoder.pt2")
    with pytest.raises(DataError, match="takes 2 inputs"):
        exported_encoder(tmp_path / "encoder.pt2")


def test_a_picture_of_the_wrong_size_fails_by_name(tmp_path):
    encoder = exported_encoder(save_program(tmp_path / "encoder.pt2"))
    with pytest.raises(DataError, match=r"encoder.pt2 failed on 1 pictures"):
        encoder.encode([np.ones((3, 9, 9), np.float32)])


def test_files_that_are_no_programs(tmp_path):
    path = tmp_path / "encoder.pt2"
    with pytest.raises(DataError, match="there is no encoder file"):
        exported_encoder(path)
    save_program(path)
    whole = path.read_bytes()
    for data in (b"", b"nothing", whole[: len(whole) // 2]):
        path.write_bytes(data)
        with pytest.raises(DataError, match=r"is not a whole file of torch\.export\.save"):
            exported_encoder(path)
    torch.save({"weights": torch.ones(2)}, path)
    with pytest.raises(DataError, match="holds more than tensors and a graph"):
        exported_encoder(path)


def rewritten(path, change):
    """The same archive with its parts changed: name, bytes → name, bytes."""
    with zipfile.ZipFile(path) as archive:
        parts = [change(name, archive.read(name)) for name in archive.namelist()]
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts:
            archive.writestr(name, data)


class Explosive:
    def __reduce__(self):
        return (print, ("this must not run",))


def test_nothing_is_unpickled(tmp_path, capsys):
    import io

    path = save_program(tmp_path / "encoder.pt2")
    rewritten(path, lambda name, data: (name, data.replace(b'"use_pickle": false', b'"use_pickle": true')))
    with pytest.raises(DataError, match="holds pickled objects"):
        exported_encoder(path)
    save_program(path)
    buffer = io.BytesIO()
    torch.save(((torch.rand(2, 3, 8, 6), Explosive()), {}), buffer)
    rewritten(path, lambda name, data: (name, buffer.getvalue() if name.endswith("model.pt") else data))
    with pytest.raises(DataError, match="not plain tensors"):
        exported_encoder(path)
    save_program(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("encoder/data/aotinductor/model/code.so", b"")
    with pytest.raises(DataError, match=r"holds more than tensors and a graph: encoder/data/aotinductor"):
        exported_encoder(path)
    assert "this must not run" not in capsys.readouterr().out
