"""The table is complete, is kept, and is made again when the code or what is installed has changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest

from equipoise.cli.shell import kept
from equipoise.cli.shell.table import SECTIONS, Table, choices, computed
from equipoise.config.loader import load, preset_files
from equipoise.config.named import NAMED
from equipoise.core.errors import ConfigError


@pytest.fixture(scope="module")
def table() -> Table:
    return computed()


def test_every_named_thing_and_every_preset_is_in_it(table: Table) -> None:
    assert all(table["names"][block] == registry.names() for block, registry in NAMED.items())
    assert table["presets"].keys() == preset_files().keys()


def test_every_setting_of_every_preset_can_be_typed(table: Table) -> None:
    """A key of a resolved configuration is one of those that are offered."""
    offered = {*table["keys"], *(key for block in table["blocks"].values() for keys in block.values() for key in keys)}
    for preset, settings in table["presets"].items():
        if settings is not None:
            named = {key for key in settings if key.endswith(".name") or key == "name"}
            nested = {key for key in settings if key.split(".")[0] in {"limits", "plugins"}}
            assert settings.keys() - named - nested <= offered | {"server.aggregate"}, preset


def test_sweeps_have_no_settings_and_runs_have(table: Table) -> None:
    for preset, settings in table["presets"].items():
        try:
            load(preset)
        except ConfigError:
            assert settings is None
        else:
            assert settings is not None


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (bool, ["true", "false"]),
        (Literal["a", "b"], ["a", "b"]),
        (Literal["a"] | None, ["a", "null"]),
        (int, []),
        (int | None, []),
        (Literal["a"] | int, []),
    ],
)
def test_choices(annotation: object, expected: list[str]) -> None:
    assert choices(annotation) == expected


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """A table that is made at once, and how often it was made."""
    made: list[int] = []

    def make() -> Table:
        made.append(len(made))
        return {**{key: {} for key in SECTIONS}, "names": {"turn": len(made)}}

    monkeypatch.setattr(kept, "computed", make)
    monkeypatch.setenv("EQUIPOISE_CACHE", str(tmp_path / "cache"))
    return made


def test_a_table_is_kept(counted: list[int]) -> None:
    assert kept.table()["names"] == kept.table()["names"] == {"turn": 1}
    assert len(counted) == 1


def test_it_is_made_again_when_something_is_installed(
    counted: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    kept.table()
    (tmp_path / "a_plugin-1.0.dist-info").mkdir()
    assert kept.table()["names"] == {"turn": 2}


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"stamp": 1}'])
def test_a_damaged_file_is_replaced(counted: list[int], tmp_path: Path, damage: str) -> None:
    kept.table()
    path = tmp_path / "cache" / kept.FILE
    path.write_text(damage, encoding="utf-8")
    assert kept.table()["names"] == {"turn": 2}
    assert json.loads(path.read_text(encoding="utf-8"))["names"] == {"turn": 2}


def test_a_cache_that_cannot_be_written_is_no_error(
    counted: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("EQUIPOISE_CACHE", str(tmp_path / "file"))
    assert kept.table()["names"] == {"turn": 1}
    assert kept.table()["names"] == {"turn": 2}
