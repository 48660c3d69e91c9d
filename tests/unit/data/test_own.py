from __future__ import annotations

import re

import pytest

from equipoise.core.errors import DataError
from equipoise.data.own import OwnPlace, own_path

FILE, FOLDER = OwnPlace("data.file", "table"), OwnPlace("data.folder", "folder of images", is_file=False)


def test_a_name_below_the_data_folder(folder, monkeypatch):
    (folder / "a.csv").touch()
    (folder / "pets").mkdir()
    assert own_path("a.csv", folder, FILE) == folder / "a.csv"
    assert own_path("pets", folder, FOLDER) == folder / "pets"
    monkeypatch.setenv("EQUIPOISE_DATA", str(folder))
    assert own_path("a.csv", None, FILE) == folder / "a.csv"


def test_the_data_path_may_be_the_file_and_a_dot_is_the_folder_itself(folder):
    (folder / "a.csv").touch()
    assert own_path(None, folder / "a.csv", FILE) == folder / "a.csv"
    assert own_path(".", folder, FOLDER) == folder


@pytest.mark.parametrize(
    ("given", "wanted", "message", "fix"),
    [
        (None, FILE, "no table was named", "data.file=NAME"),
        (None, FOLDER, "no folder of images was named", r"data.folder=\. is the data folder itself"),
        ("/data/a.csv", FILE, "data.file=/data/a.csv is a path of this machine", "data.path"),
        ("b.csv", FILE, r"the table b\.csv was not found", "check data.file"),
        ("a.csv", FOLDER, r"the folder of images a\.csv was not found", "check data.folder"),
    ],
)
def test_what_is_refused(folder, given, wanted, message, fix):
    (folder / "a.csv").touch()
    with pytest.raises(DataError, match=message) as caught:
        own_path(given, folder, wanted)
    assert re.search(fix, caught.value.fix)


def test_without_a_data_folder():
    with pytest.raises(DataError, match=r"the table a\.csv was not found") as caught:
        own_path("a.csv", None, FILE)
    assert caught.value.where.endswith("no data folder was given and EQUIPOISE_DATA is not set")


def test_a_file_in_the_working_folder_is_found_where_the_data_folder_has_none(tmp_path, folder, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("x")
    for given in (None, folder):
        assert own_path("a.csv", given, FILE).absolute() == tmp_path / "a.csv"
    (folder / "a.csv").write_text("y")
    assert own_path("a.csv", folder, FILE) == folder / "a.csv"
