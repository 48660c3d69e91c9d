"""`equipoise --help` answers at once because nothing heavy is loaded for it."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {"torch", "numpy", "scipy", "sklearn", "kornia", "polars", "altair", "pydantic", "sqlalchemy"}


def loaded_by(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint(*(name.split('.')[0] for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_command_line_loads_nothing_heavy() -> None:
    assert not HEAVY & loaded_by("import equipoise.cli")


def test_what_reads_the_store_does_not_load_torch() -> None:
    assert "torch" not in loaded_by(
        "import equipoise.report.runs, equipoise.report.table, equipoise.store.write, equipoise.diagnose.stored;"
        "from equipoise.diagnose.rule import RULES; RULES.names()"
    )


REQUESTS = """
from equipoise.config.loader import load
from equipoise.core.errors import ConfigError
from equipoise.core import registry
wrong = [["client.epoch=2"], ["method.muu=1"], ["balance=foo"], ["data=cifra"], ["server.predict=x"], ["model.widht=1"]]
for words in wrong:
    try:
        load("etf-align", words)
    except ConfigError:
        continue
    raise SystemExit(f"{words} was accepted")
for name in ("DATASETS", "SPLITTERS", "MODELS", "BALANCES", "PREDICTS", "METHODS", "ENGINES"):
    assert all(entry.summary for entry in getattr(registry, name))
"""


def test_a_wrong_key_takes_four_seconds_because_torch_is_loaded_first() -> None:
    """Settings are checked, and everything that can be named is listed, without it."""
    assert "torch" not in loaded_by(REQUESTS)
