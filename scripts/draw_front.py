"""Draws the picture on the front page: the top of the report of a policy that runs away, and of the same runs healed.

    python -m scripts.draw_front        trains six runs of the demo (half a minute), then docs/images/report.png

The page is the one that `equipoise report` writes; headless Chromium takes its picture (`scripts/get-chromium`).
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

from PIL import Image

from equipoise.api.demo.healing import POLICY
from equipoise.api.demo.policies import GUARDED, STUDY
from equipoise.api.demo.stories import report
from equipoise.api.sweep import Workers, carry_out
from equipoise.run.grid import load_grid

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "images" / "report.png"
NAME = "a λ policy that runs away"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTH, HEIGHT, SCALE = 1180, 1245, 1.5
COLOURS = 256
"""Of the palette: the page has few, and the file is much smaller."""


def written(folder: Path) -> Path:
    """The report of the two rows."""
    grid = load_grid(STUDY)
    cells = [cell for cell in grid.cells if cell.label in {POLICY, POLICY + GUARDED}]
    found = carry_out(replace(grid, name=NAME, cells=cells), folder / "runs.db", Workers(), True)
    page = folder / "report.html"
    report(found, page)
    return page


def photographed(page: Path, picture: Path) -> None:
    """The top of the page, in light colours."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise SystemExit("there is no Chromium on this machine; scripts/get-chromium installs it")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=10000"]
    size = [f"--window-size={WIDTH},{HEIGHT}", f"--force-device-scale-factor={SCALE}"]
    command = [browser, *flags, *size, f"--screenshot={picture}", page.as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=300)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "page.png"
        photographed(written(Path(folder)), raw)
        with Image.open(raw) as image:
            image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(PICTURE, optimize=True)
    print(f"written: {PICTURE} ({PICTURE.stat().st_size / 1000:.0f} kB)")


if __name__ == "__main__":
    main()
