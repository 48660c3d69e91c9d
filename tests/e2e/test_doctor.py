"""`equipoise doctor`: green where all that is needed works, exit code 1 and what to do where something is broken."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from equipoise import __version__
from equipoise.store.database import open_store
from tests.e2e.conftest import Equipoise


def beside(folder: Path) -> str:
    """A search path on which that folder comes first."""
    return os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)


def found(document: dict, name: str, part: str | None = None) -> dict:
    (checkup,) = [each for each in document["checkups"] if each["name"] == name and part in (None, each["part"])]
    return checkup


def test_a_whole_installation_is_green(equipoise: Equipoise) -> None:
    document = equipoise("doctor", "--json", code=0).json
    assert document["green"] is True
    assert document["version"] == __version__
    assert {each["state"] for each in document["checkups"]} <= {"ok", "note"}
    assert found(document, "cpu")["part"] == "devices"
    assert found(document, "torch", "devices")["says"].startswith("2.")
    assert found(document, "numpy")["state"] == "ok"


def test_what_is_missing_and_optional_is_a_note_with_the_command_that_brings_it(equipoise: Equipoise) -> None:
    for each in equipoise("doctor", "--json", code=0).json["checkups"]:
        if each["part"] == "extras" and each["state"] == "note":
            assert each["says"].startswith("missing: ")
            assert each["fix"] == f"pip install 'equipoise[{each['name']}]'"


def test_it_says_so_in_words(equipoise: Equipoise) -> None:
    printed = equipoise("doctor", code=0).out
    assert "all that is needed works" in printed
    assert [line for line in printed.splitlines() if line and not line.startswith(" ")][:3] == [
        "python",
        "packages",
        "devices",
    ]


def test_nothing_is_written(equipoise: Equipoise, tmp_path: Path) -> None:
    assert "the first run makes" in found(equipoise("doctor", "--json", code=0).json, "store")["says"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("raise ImportError('libGL.so.1: cannot open shared object file')", "ImportError: libGL.so.1"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "signal 11 (SIGSEGV)"),
        ("raise SystemExit(3)", "exit code 3"),
    ],
)
def test_a_damaged_package_is_named_with_what_to_do(process: Equipoise, tmp_path: Path, damage: str, said: str) -> None:
    (tmp_path / "altair.py").write_text(damage, encoding="utf-8")
    document = process("doctor", "--json", code=1, PYTHONPATH=beside(tmp_path)).json
    altair = found(document, "altair")
    assert document["green"] is False
    assert altair["state"] == "broken"
    assert said in altair["says"]
    assert altair["fix"] == "pip install --force-reinstall 'altair'"
    assert found(document, "store")["state"] == "ok"


def test_a_package_that_everything_else_needs_is_damaged(process: Equipoise, tmp_path: Path) -> None:
    (tmp_path / "sqlalchemy.py").write_text("raise RuntimeError('half an upgrade')", encoding="utf-8")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "equipoise.db").touch()
    document = process("doctor", "--json", code=1, PYTHONPATH=beside(tmp_path)).json
    assert "half an upgrade" in found(document, "SQLAlchemy")["says"]
    assert "could not be looked at" in found(document, "store")["says"]
    assert found(document, "cpu")["state"] == "ok"


def a_plugin(folder: Path, code: str) -> None:
    """An installed package that offers a plugin."""
    facts = folder / "my_things-1.2.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: my-things\nVersion: 1.2\n", encoding="utf-8")
    (facts / "entry_points.txt").write_text("[equipoise.plugins]\nmine = my_things\n", encoding="utf-8")
    (folder / "my_things.py").write_text(code, encoding="utf-8")


def test_a_plugin_that_loads_is_named(process: Equipoise, tmp_path: Path) -> None:
    a_plugin(tmp_path, "print('hello from the plugin')")
    document = process("doctor", "--json", code=0, PYTHONPATH=beside(tmp_path)).json
    assert found(document, "my-things 1.2")["says"] == "loads"


@pytest.mark.parametrize(
    ("code", "said"), [("import nothing_like_it", "nothing_like_it"), ("import os; os.abort()", "SIGABRT")]
)
def test_a_plugin_that_does_not_load_is_broken(process: Equipoise, tmp_path: Path, code: str, said: str) -> None:
    a_plugin(tmp_path, code)
    document = process("doctor", "--json", code=1, PYTHONPATH=beside(tmp_path)).json
    (broken,) = [each for each in document["checkups"] if each["state"] == "broken"]
    assert broken["part"] == "plugins"
    assert said in broken["says"]
    assert broken["fix"]


def test_a_store_of_this_version_is_counted(equipoise: Equipoise, tmp_path: Path) -> None:
    open_store(tmp_path / "mine.db").close()
    document = equipoise("doctor", "--json", "--store", "mine.db", code=0).json
    assert "0 runs" in found(document, "store")["says"]


def test_an_older_store_is_a_note_and_stays_as_it_is(equipoise: Equipoise, tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    open_store(path).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TABLE sweeps")
        connection.execute("DELETE FROM migrations WHERE name = '0003-named-sweeps'")
    before = path.read_bytes()
    checkup = found(equipoise("doctor", "--json", "--store", "old.db", code=0).json, "store")
    assert checkup["state"] == "note"
    assert "0003-named-sweeps" in checkup["says"]
    assert path.read_bytes() == before


def test_a_store_of_a_newer_version_is_broken(equipoise: Equipoise, tmp_path: Path) -> None:
    open_store(tmp_path / "new.db").close()
    with closing(sqlite3.connect(tmp_path / "new.db")) as connection, connection:
        connection.execute("INSERT INTO migrations VALUES ('9999-later', 'now')")
    checkup = found(equipoise("doctor", "--json", "--store", "new.db", code=1).json, "store")
    assert "newer version" in checkup["says"]
    assert "pip install --upgrade equipoise" in checkup["fix"]


def test_what_is_no_store_is_broken(equipoise: Equipoise, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no database " * 100, encoding="utf-8")
    (tmp_path / "folder").mkdir()
    for place in ("notes.txt", "folder"):
        checkup = found(equipoise("doctor", "--json", "--store", place, code=1).json, "store")
        assert checkup["state"] == "broken"
        assert checkup["fix"]


def test_a_server_that_does_not_answer_is_broken_and_its_password_is_not_printed(equipoise: Equipoise) -> None:
    url = "postgresql://me:geheim@127.0.0.1:1/none"
    outcome = equipoise("doctor", "--json", code=1, EQUIPOISE_STORE=url)
    checkup = found(outcome.json, "store")
    assert "cannot be reached" in checkup["says"]
    assert "geheim" not in outcome.out + outcome.err


def test_the_data_folder_is_read(equipoise: Equipoise, tmp_path: Path) -> None:
    document = equipoise("doctor", "--json", code=1, EQUIPOISE_DATA=str(tmp_path / "none")).json
    assert "which is no folder" in found(document, "EQUIPOISE_DATA")["says"]
    (tmp_path / "data").mkdir()
    document = equipoise("doctor", "--json", code=0, EQUIPOISE_DATA=str(tmp_path / "data")).json
    assert found(document, "EQUIPOISE_DATA")["says"].endswith("data: none of the known sets")
