"""Folders of small pictures for the tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

SHADES = {"cat": 40, "dog": 120, "owl": 200}


def write_picture(path: Path, shade: int, size=(6, 4), mode="RGB") -> Path:
    """A picture of one shade with a bright corner; size is width and height."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.new(mode, size, shade if mode == "L" else (shade, shade // 2, 0, 255)[: len(mode)])
    image.putpixel((0, 0), 255 if mode == "L" else (255,) * len(mode))
    image.save(path)
    return path


def write_folder(place: Path, counts: dict[str, int], suffix="png", **how) -> Path:
    """{'train/cat': 3, …} → so many pictures of that class, each a little brighter than the one before."""
    for name, count in counts.items():
        for i in range(count):
            write_picture(place / name / f"{i:02d}.{suffix}", SHADES[Path(name).name] + i, **how)
    return place


def write_npz(path: Path, **arrays) -> Path:
    np.savez(path, **arrays)
    return path
