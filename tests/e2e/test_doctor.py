"""`equipoise doctor`: green where all that is needed works, exit code 1 and what to do where something is broken.

Each takes the seconds of importing every package; what needs no process of its own is in `tests/unit/api/doctor/`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from equipoise import __version__
from tests.e2e.conftest import Equipoise

pytestmark = pytest.mark.slow


def beside(folder: Path) -> str:
    """A search path on which that folder comes first."""
    return os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)


def found(document: dict, name: str, part: str | None = None) -> dict:
    (checkup,) = [each for each in document["checkups"] if each["name"] == name and part in (None, each["part"])]
    return checkup


def test_a_whole_installation_is_green_and_nothing_is_written(process: Equipoise, tmp_path: Path) -> None:
    document = process("doctor", "--json", code=0).json
    assert document["green"] is True
    assert document["version"] == __version__
    assert {each["state"] for each in document["checkups"]} <= {"ok", "note"}
    assert found(document, "cpu")["part"] == "devices"
    assert found(document, "torch", "devices")["says"].startswith("2.")
    assert found(document, "numpy")["state"] == "ok"
    assert "the first run makes" in found(document, "store")["says"]
    assert list(tmp_path.iterdir()) == []


def test_it_says_so_in_words(equipoise: Equipoise) -> None:
    printed = equipoise("doctor", code=0).out
    assert "all that is needed works" in printed
    headings = [line for line in printed.splitlines() if line and not line.startswith(" ")]
    assert headings[:3] == ["python", "packages", "devices"]


def test_a_package_that_ends_python_is_named_with_what_to_do(process: Equipoise, tmp_path: Path) -> None:
    (tmp_path / "altair.py").write_text("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", encoding="utf-8")
    document = process("doctor", "--json", code=1, PYTHONPATH=beside(tmp_path)).json
    altair = found(document, "altair")
    assert document["green"] is False
    assert altair["state"] == "broken"
    assert "signal 11 (SIGSEGV)" in altair["says"]
    assert altair["fix"] == "pip install --force-reinstall 'altair'"
    assert found(document, "store")["state"] == "ok"


def test_a_package_that_much_else_needs_is_damaged(process: Equipoise, tmp_path: Path) -> None:
    (tmp_path / "sqlalchemy.py").write_text("raise RuntimeError('half an upgrade')", encoding="utf-8")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "equipoise.db").touch()
    outcome = process("doctor", code=1, PYTHONPATH=beside(tmp_path))
    assert "SQLAlchemy         cannot be imported: RuntimeError: half an upgrade" in outcome.out
    assert "could not be looked at" in outcome.out
    assert outcome.out.splitlines()[-1] == "broken: SQLAlchemy, store"


def a_plugin(folder: Path, code: str) -> None:
    """An installed package that offers a plugin."""
    facts = folder / "my_things-1.2.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: my-things\nVersion: 1.2\n", encoding="utf-8")
    (facts / "entry_points.txt").write_text("[equipoise.plugins]\nmine = my_things\n", encoding="utf-8")
    (folder / "my_things.py").write_text(code, encoding="utf-8")


def test_a_plugin_that_ends_python_is_broken(process: Equipoise, tmp_path: Path) -> None:
    a_plugin(tmp_path, "import os; print('hello', flush=True); os.abort()")
    document = process("doctor", "--json", code=1, PYTHONPATH=beside(tmp_path)).json
    (broken,) = [each for each in document["checkups"] if each["state"] == "broken"]
    assert broken["part"] == "plugins"
    assert "SIGABRT" in broken["says"]
    assert broken["fix"]
