"""Read one picture per item: files named by id in a folder, or a table with a column of ids and one of paths."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from equipoise.core.errors import ConfigError, DataError, Problem
from equipoise.data.columns import ids_of
from equipoise.features.items import Items, ItemSource, gathered, table_of
from equipoise.features.lift import Matrix

if TYPE_CHECKING:
    from PIL import Image

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
FORMATS = ("PNG", "JPEG", "WEBP")
FIX = "name the columns with --id and --path"
UNREADABLE = "replace the file, or leave such items out with --skip-damaged"


def read_pictures(place: Path, item: str | None, path: str | None) -> Items[Path]:
    """The pictures of a folder, or those that a table names; `item` and `path` are the columns of the table."""
    if not place.is_dir():
        return _of_table(place, item or "item_id", path or "path")
    if item or path:
        raise ConfigError([Problem("--id or --path", f"{place} is a folder, which has no columns")])
    return _of_folder(place)


def _of_folder(folder: Path) -> Items[Path]:
    import polars as pl

    files = sorted(file for file in folder.iterdir() if file.suffix.lower() in SUFFIXES and file.is_file())
    if not files:
        what = f"there is no picture in {folder}"
        raise DataError(what, where=str(folder), fix=f"name pictures by item, as in 42.png: {', '.join(SUFFIXES)}")
    ids = ids_of(pl.Series("file name", [file.stem for file in files]), str(folder))
    return gathered(ItemSource("picture", str(folder), {"columns": []}), ids, files, _mark)


def _of_table(table_path: Path, item: str, path: str) -> Items[Path]:
    """Paths are relative to the folder of the table; an empty cell is an item without a picture."""
    import polars as pl

    table = table_of(table_path, [item, path], FIX)
    if table[path].dtype != pl.String:
        what = f"column '{path}' holds {table[path].dtype}, which is no path"
        raise DataError(what, where=str(table_path), fix="name the column of paths with --path")
    cells = table[path].fill_null("").str.strip_chars().to_list()
    files = [table_path.parent / cell if cell else None for cell in cells]
    source = ItemSource("picture", str(table_path), {"columns": [path]})
    return gathered(source, ids_of(table[item], str(table_path)), files, _mark)


def _mark(file: Path) -> str:
    """Name, size and time of a file: cheaper than reading all pictures twice for their content."""
    try:
        about = file.stat()
    except OSError:
        return f"{file.name} missing"
    return f"{file.name} {about.st_size} {about.st_mtime_ns}"


def open_picture(file: Path) -> Image.Image:
    """RGB, turned upright by its EXIF tag, transparent parts on white; an unreadable picture is a DataError."""
    from PIL import Image, ImageOps

    try:
        with Image.open(file, formats=FORMATS) as opened:
            upright = ImageOps.exif_transpose(opened)
            if upright.mode.startswith(("I", "F")):
                raise ValueError(f"its pixels have more than 8 bits, mode {upright.mode}")
            if upright.has_transparency_data:
                ground = Image.new("RGBA", upright.size, "white")
                upright = Image.alpha_composite(ground, upright.convert("RGBA"))
            return upright.convert("RGB")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        what = f"the picture {file.name} cannot be read ({error})"
        raise DataError(what, where=str(file), fix=UNREADABLE) from error


def pixels_of(file: Path, height: int, width: int) -> Matrix:
    """float32 [3, H, W] in [0, 1]: the whole picture, stretched to the size."""
    from PIL import Image

    resized = open_picture(file).resize((width, height), Image.Resampling.BICUBIC)
    return np.asarray(resized, np.float32).transpose(2, 0, 1) / np.float32(255)
