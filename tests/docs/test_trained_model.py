"""The how-to on trained models: its Python block works where its shell block left a folder, without Equipoise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.commands import PATIENCE, run_lines
from tests.docs.documents import DOCS, blocks

PAGE = DOCS / "howto" / "use-a-trained-model.md"
WITHOUT = "import sys\nsys.modules['equipoise'] = None\n"
SMALL = " model=mlp data.limit=200"


def test_the_exported_folder_is_used_as_the_page_says(tmp_path: Path) -> None:
    (shell,), (python,) = blocks(PAGE, "sh"), blocks(PAGE, "python")
    run, *others = shell.text.splitlines()
    run_lines(tmp_path, "\n".join([run + SMALL, *others]))
    command = [sys.executable, "-I", "-c", WITHOUT + python.text]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("'") == 10
