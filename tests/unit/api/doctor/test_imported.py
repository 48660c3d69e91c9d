"""What is imported, in this process: damaged packages that raise, plugins that load and do not load."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from equipoise.api.doctor.imported import devices, package, plugins, report
from equipoise.core.plugins import INSTALLED


def test_a_package_that_can_be_imported_has_nothing_to_say() -> None:
    assert list(package("numpy")) == []


def test_a_package_that_cannot_be_imported_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "altair.py").write_text("raise ImportError('libGL.so.1 is not there')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "altair", raising=False)
    (checkup,) = package("altair")
    assert (checkup.part, checkup.name, checkup.state) == ("packages", "altair", "broken")
    assert "ImportError: libGL.so.1 is not there" in checkup.says
    assert checkup.fix == "pip install --force-reinstall 'altair'"


def test_the_cpu_is_a_device_that_computes() -> None:
    found = {each.name: each for each in devices()}
    assert found["cpu"].state == found["torch"].state == "ok"


def a_plugin(folder: Path, name: str, code: str) -> None:
    facts = folder / f"{name}-1.2.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n", encoding="utf-8")
    (facts / "entry_points.txt").write_text(f"[equipoise.plugins]\n{name} = {name}\n", encoding="utf-8")
    (folder / f"{name}.py").write_text(code, encoding="utf-8")


@pytest.mark.usefixtures("own_plugins")
def test_plugins_that_load_and_do_not_load_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_plugin(tmp_path, "whole_thing", "FINE = True")
    a_plugin(tmp_path, "broken_thing", "import nothing_like_it")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(INSTALLED, "is_read", False)
    found = {each.name: each for each in plugins()}
    assert found["whole_thing 1.2"].state == "ok"
    assert found["broken_thing 1.2"].state == "broken"
    assert "nothing_like_it" in found["broken_thing 1.2"].says
    assert found["broken_thing 1.2"].fix


def test_a_look_that_raises_is_a_finding() -> None:
    def raises() -> list:
        raise RuntimeError("half an upgrade")

    (checkup,) = report(raises, "devices")
    assert (checkup.state, checkup.part) == ("broken", "devices")
    assert "half an upgrade" in checkup.says
