"""A small backbone made here: its function, and its weights drawn and saved as a user would."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

from equipoise.core.contents import content_hash

SOURCE = '''"""Made by a test."""

import torch
from torch import nn


def cnn(width=4):
    layers = [nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.Dropout(0.5)]
    layers += [nn.Conv2d(width, 2 * width, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten()]
    return nn.Sequential(*layers)


def in_pairs():
    class Pairs(nn.Module):
        def forward(self, images):
            return images, images

    return Pairs()


def blind():
    class Blind(nn.Module):
        def forward(self, images):
            return images.new_full((len(images), 4), 0.1)

    return Blind()


def dazzled(above):
    class Dazzled(nn.Module):
        """Pixels, which are no numbers where an image is too bright."""

        def forward(self, images):
            is_bright = images.mean((1, 2, 3)) > above
            return images.flatten(1)[:, ::3] + torch.where(is_bright, torch.nan, 0.0)[:, None]

    return Dazzled()


def strict():
    return nn.Sequential(nn.Flatten(), nn.Linear(7, 4))


NOTHING = 3


def number():
    return NOTHING


def raises():
    raise RuntimeError("the disk is full")
'''


def cnn(width: int = 4) -> nn.Sequential:
    space: dict[str, object] = {}
    exec(SOURCE, space)
    made = space["cnn"](width)  # type: ignore[operator]
    assert isinstance(made, nn.Sequential)
    return made


def trained(width: int = 4, seed: int = 0) -> nn.Sequential:
    """A network with statistics that are not those it started with."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = cnn(width)
        network(3 * torch.randn(64, 3, 8, 8) + 1)
    return network.eval()


def written(folder: Path, width: int = 4) -> tuple[str, ...]:
    """The settings of a backbone whose files are in that folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mine.py").write_text(SOURCE, encoding="utf-8")
    save(trained(width), folder / "mine.safetensors")
    return settings(folder, "cnn", f"model.arguments.width={width}")


@cache
def drawn() -> dict[str, str]:
    """The options of one backbone for all tests of a process."""
    folder = Path(tempfile.mkdtemp(prefix="backbone-"))
    atexit.register(shutil.rmtree, folder)
    written(folder)
    weights = folder / "mine.safetensors"
    return {"factory": f"{folder / 'mine.py'}:cnn", "weights": str(weights), "sha256": content_hash(weights)}


def save(network: nn.Module, path: Path) -> None:
    save_file({name: tensor.contiguous() for name, tensor in network.state_dict().items()}, path)


def settings(folder: Path, function: str, *more: str) -> tuple[str, ...]:
    files = f"model.factory={folder / 'mine.py'}:{function}", f"model.weights={folder / 'mine.safetensors'}"
    return "model=backbone", *files, *more
