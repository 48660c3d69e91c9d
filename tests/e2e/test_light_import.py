"""`equipoise --help` answers at once because nothing heavy is loaded for it."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {"torch", "numpy", "scipy", "sklearn", "kornia", "polars", "altair", "pydantic", "sqlalchemy"}


def loaded_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*(name.split('.')[0] for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_command_line_loads_nothing_heavy() -> None:
    assert not HEAVY & loaded_by("import equipoise.cli")


def test_what_reads_the_store_does_not_load_torch() -> None:
    assert "torch" not in loaded_by(
        "import equipoise.report.runs, equipoise.report.table, equipoise.store.write, equipoise.diagnose.stored;"
        "from equipoise.diagnose.rule import RULES; RULES.names()"
    )
