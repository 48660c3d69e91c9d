"""`equipoise data` as a user gives it."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from equipoise.cli.data import app
from equipoise.core.errors import ConfigError, DataError, UnknownName
from equipoise.data import fetch
from equipoise.data.known import Download, KnownImages


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EQUIPOISE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("EQUIPOISE_DATA", raising=False)


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_list_for_people_and_for_programs(tmp_path):
    shown = run("list", "--path", str(tmp_path))
    assert "digits" in shown
    assert "embedded" in shown
    lines = {line["name"]: line for line in json.loads(run("list", "--json"))}
    assert lines["digits"]["found"]
    assert lines["tiny-imagenet"]["classes"] == 200
    assert not lines["svhn"]["found"]


def test_check_digits():
    assert "1438" in run("check", "digits")
    report = json.loads(run("check", "digits", "--json"))
    assert report["splits"]["test"]["count"] == 359


def test_check_shows_files(tmp_path):
    from sklearn.datasets import load_digits

    content = load_digits()
    for part in ("train", "t10k"):
        pixels = np.kron(content.images[:50], np.ones((4, 4)))[:, 2:30, 2:30].astype(np.uint8)
        sizes = b"".join(size.to_bytes(4, "big") for size in pixels.shape)
        (tmp_path / f"{part}-images-idx3-ubyte").write_bytes(b"\0\0\x08\x03" + sizes + pixels.tobytes())
        labels = content.target[:50].astype(np.uint8).tobytes()
        (tmp_path / f"{part}-labels-idx1-ubyte").write_bytes(b"\0\0\x08\x01" + (50).to_bytes(4, "big") + labels)
    shown = run("check", "fashion-mnist", "--path", str(tmp_path))
    assert "unknown" in shown
    assert "60000" in shown


def test_list_shows_interactions_beside_images(tmp_path):
    shown = run("list", "--path", str(tmp_path))
    assert "943 users, 1682 items" in shown
    assert "100000 interactions" in shown
    assert "as many as the file has" in shown
    lines = {line["name"]: line for line in json.loads(run("list", "--json"))}
    assert (lines["planted"]["kind"], lines["planted"]["users"]) == ("interactions", 200)


def test_check_the_generated_histories():
    shown = run("check", "planted")
    assert "11720" in shown
    assert "split: leave-one-out, train 11320, validation 200, test 200" in shown
    assert "visual (as-given): 100.0% of 400 items" in shown
    report = json.loads(run("check", "planted", "data.signal=0", "data.text=null", "--json"))
    assert list(report["features"]) == ["visual"]
    assert abs(report["features"]["visual"]["deviations"]) < 5


def test_check_a_table_with_settings(tmp_path):
    lines = [f"{user},{item},{item}" for user in "abc" for item in range(4)] + ["d,9,1"]
    (tmp_path / "clicks.csv").write_text("\n".join(["who,item,time", *lines]))
    given = ("check", "table", "data.file=clicks.csv", "data.user=who", "--path", str(tmp_path))
    with pytest.raises(DataError, match="1 of 4 users have fewer than 3 interactions"):
        run(*given)
    shown = run(*given, "data.short=drop", "data.subset=top", "data.users=2")
    assert "note: The reader dropped 1 user with fewer than 3 interactions." in shown
    assert "moments: 0 to 3, 0.0% of neighbours equal; density 100.00%" in shown


@pytest.mark.parametrize("setting", ["rounds=3", "users=3", "data.path=elsewhere"])
def test_check_takes_only_settings_of_the_set(setting):
    with pytest.raises(ConfigError, match="expected a setting of the set") as caught:
        run("check", "planted", setting)
    assert caught.value.exit_code == 2


def test_check_refuses_settings_the_set_does_not_have():
    with pytest.raises(ConfigError, match="not a setting of data 'planted'"):
        run("check", "planted", "data.signall=1")


def test_problems_reach_the_caller_with_exit_code_2(tmp_path):
    with pytest.raises(DataError, match="were not found") as caught:
        run("check", "cifar10", "--path", str(tmp_path))
    assert caught.value.exit_code == 2
    with pytest.raises(UnknownName, match="did you mean"):
        run("check", "cifar11")
    with pytest.raises(DataError, match="no folder to put"):
        run("fetch", "svhn")


def test_fetch_of_an_embedded_set_has_nothing_to_do():
    assert "nothing to fetch" in run("fetch", "digits")
    assert "nothing to fetch" in run("fetch", "planted")
    assert json.loads(run("fetch", "digits", "--json")) == {"name": "digits", "files": [], "terms": ""}


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server of this machine that holds one small file in place of CIFAR-10."""
    served = tmp_path / "served"
    served.mkdir()
    (served / "cifar.bin").write_bytes(b"images" * 1000)
    item = Download("http://example.invalid/cifar.bin", hashlib.md5(b"images" * 1000).hexdigest())
    monkeypatch.setattr(
        fetch,
        "KNOWN",
        fetch.KNOWN | {"cifar10": KnownImages(10, (3, 32, 32), 1, 1, downloads=(item,), terms="ask first")},
    )
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(served))) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_fetch_then_again(tmp_path, mirror):
    arguments = ("fetch", "cifar10", "--path", str(tmp_path / "data"), "--mirror", mirror)
    shown = run(*arguments)
    assert "6000 bytes  fetched, md5 matches" in shown
    assert "terms: ask first" in shown
    assert "already there" in run(*arguments)
    answer = json.loads(run(*arguments, "--json"))
    assert answer["terms"] == "ask first"
    assert answer["files"] == [{"path": str(tmp_path / "data" / "cifar.bin"), "bytes": 6000, "is_new": False}]


def test_fetch_from_a_mirror_that_is_down(tmp_path):
    with pytest.raises(DataError, match="broke off"):
        run("fetch", "cifar10", "--path", str(tmp_path), "--mirror", "http://127.0.0.1:9")


@pytest.mark.parametrize("command", [[], ["list"], ["check"], ["fetch"]])
def test_help_teaches(command):
    shown = CliRunner().invoke(app, [*command, "--help"], catch_exceptions=False)
    assert shown.exit_code == 0
    assert "Usage" in shown.stdout
