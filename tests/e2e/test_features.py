"""`equipoise features` as a user gives it: made, read by the recommender's check, interrupted, continued, refused."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from equipoise.cli import app
from equipoise.cli.features import Tenths, shown_progress
from equipoise.core.errors import DataError, MissingExtra
from equipoise.features.tables import read_features
from tests.commands import PATIENCE, waiting
from tests.docs.documents import DOCS, blocks
from tests.e2e.conftest import Equipoise
from tests.unit.features.small_encoders import Means, save_pictures, save_program, save_sentence_model

TABLE = "item_id,title,genres\n7,red ship,blue\n3,green tree,\n5,,\n9,zero,\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return tmp_path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("sentence_transformers", reason="the extra `features` is not installed")
    return str(save_sentence_model(tmp_path_factory.mktemp("models") / "words"))


@pytest.fixture
def posters(tmp_path: Path) -> Path:
    """Forty pictures between red and green, and an encoder beside them."""
    save_program(tmp_path / "encoder.pt2", Means((1.0, 2.0, 3.0)))
    return save_pictures(tmp_path / "posters", {f"{i}.png": (255 - 6 * i, 6 * i, 30) for i in range(40)})


def run(*arguments: str):
    return CliRunner().invoke(app, ["features", *arguments], catch_exceptions=False)


def test_text_for_programs(folder, model):
    (folder / "movies.csv").write_text(TABLE)
    given = ("text", "movies.csv", "--column", "title", "--column", "genres", "--encoder", model, "-o", "text.npz")
    done = run(*given, "--json")
    assert done.exit_code == 0
    answer = json.loads(done.stdout)
    assert answer.pop("seconds") >= 0
    assert answer == {"path": "text.npz", "items": 2, "skipped": 2, "width": 6, "encoder": "words"}
    assert "encoded 100 %, 3 of 3 items" in done.stderr
    assert "! left out: 1 item without text: 5" in done.stderr
    assert "! left out: 1 item with a row of zeros: 9" in done.stderr
    table = read_features("text.npz", folder)
    assert table.ids.tolist() == [7, 3]
    assert np.allclose(np.linalg.norm(table.rows, axis=1), 1, atol=1e-6)


def test_text_in_a_format_for_people(folder, model):
    (folder / "movies.csv").write_text(TABLE)
    given = ("--format", "{title} {genres}", "--encoder", model, "-o", "text.npz", "--half")
    done = run("text", "movies.csv", *given)
    assert "text.npz: 2 items × 6, encoder words" in done.stdout
    with np.load("text.npz", allow_pickle=False) as content:
        assert content["features"].dtype == np.float16
        assert json.loads(str(content["facts"]))["format"] == "{title} {genres}"
    with pytest.raises(DataError, match="is there already"):
        run("text", "movies.csv", *given)
    assert run("text", "movies.csv", *given, "--force").exit_code == 0


def test_images_of_a_folder_and_of_a_table_are_the_same(folder, posters):
    assert run("images", "posters", "--encoder", "encoder.pt2", "-o", "a.npz").exit_code == 0
    lines = [f"{path.stem},posters/{path.name}" for path in sorted(posters.iterdir())]
    (folder / "items.csv").write_text("\n".join(["movie,file", *lines]))
    columns = ("--id", "movie", "--path", "file")
    assert run("images", "items.csv", *columns, "--encoder", "encoder.pt2", "-o", "b.npz").exit_code == 0
    ours, theirs = read_features("a.npz", folder), read_features("b.npz", folder)
    assert ours.ids.tolist() == theirs.ids.tolist()
    assert np.array_equal(ours.rows, theirs.rows)
    at = ours.ids.tolist().index(10)
    expected = np.array([255 - 60, 2 * 60, 3 * 30]) / np.linalg.norm([255 - 60, 2 * 60, 3 * 30])
    assert np.allclose(ours.rows[at], expected, atol=1e-5)


def test_a_damaged_picture_is_named_then_left_out_and_the_work_continues(folder, posters, monkeypatch):
    monkeypatch.setattr("equipoise.features.encode.BATCHES", 1)
    (posters / "9.png").write_bytes(b"no picture")
    given = ("images", "posters", "--encoder", "encoder.pt2", "-o", "images.npz", "--batch", "8")
    with pytest.raises(DataError, match=r"the picture 9\.png cannot be read"):
        run(*given)
    assert (folder / "images.npz.partial").is_dir()
    done = run(*given, "--skip-damaged", "--json")
    assert "going on from 32 of 40 items" in done.stderr
    assert "! left out: 1 item damaged: 9" in done.stderr
    assert (json.loads(done.stdout)["items"], json.loads(done.stdout)["skipped"]) == (39, 1)
    assert not (folder / "images.npz.partial").exists()


def test_a_beginning_with_another_encoder_is_refused(folder, posters):
    (posters / "9.png").write_bytes(b"no picture")
    given = ("images", "posters", "-o", "images.npz", "--batch", "1", "--encoder")
    with pytest.raises(DataError, match="cannot be read"):
        run(*given, "encoder.pt2")
    save_program(folder / "other.pt2")
    with pytest.raises(
        DataError, match=r"begun with another encoder: encoder\.pt2, and now it is other\.pt2"
    ) as caught:
        run(*given, "other.pt2")
    assert "delete images.npz.partial" in caught.value.fix


def test_the_how_to_makes_an_encoder_and_reads_its_table(folder, posters, capsys):
    export, look = (block.text for block in blocks(DOCS / "howto" / "features.md", "python"))
    (folder / "encoder.pt2").unlink()
    exec(compile(export, "export", "exec", dont_inherit=True), {"__name__": "how_to"})
    assert run("images", "posters", "--encoder", "encoder.pt2", "-o", "images.npz").exit_code == 0
    exec(compile(look, "look", "exec", dont_inherit=True), {"__name__": "how_to"})
    assert "(40, 64) {'encoder': 'encoder.pt2'" in capsys.readouterr().out


def test_open_clip_is_an_extra(posters, monkeypatch):
    monkeypatch.setitem(sys.modules, "open_clip", None)
    with pytest.raises(MissingExtra, match="needs open_clip") as caught:
        run("images", "posters", "--encoder", "open_clip:ViT-B-32/openai", "-o", "images.npz")
    assert "pip install 'equipoise[features]'" in caught.value.fix


def test_ctrl_c_then_the_same_command(folder, posters, equipoise: Equipoise):
    """A process is stopped after its first group and given again: the table is that of one go, to the last byte."""
    save_pictures(posters, {f"{i}.png": (i % 256, 100, 30) for i in range(40, 150)})
    given = ("features", "images", "posters", "--encoder", "encoder.pt2", "--batch", "1")
    code = """
from pathlib import Path
from equipoise.cli import features

class Tenths(features.Tenths):
    def __call__(self, done, total):
        super().__call__(done, total)
        if any(Path("a.npz.partial").glob("*.npz")):
            wait()

features.Tenths = Tenths
"""
    with waiting(folder, code, *given, "-o", "a.npz") as started:
        started.send_signal(signal.SIGINT)
        _, said = started.communicate(timeout=PATIENCE)
    assert started.returncode == 130, said
    assert "stopped; give the same command again to continue" in said
    assert not (folder / "a.npz").exists()
    assert "going on from" in equipoise(*given, "-o", "a.npz").err
    equipoise(*given, "-o", "b.npz")
    assert (folder / "a.npz").read_bytes() == (folder / "b.npz").read_bytes()
    assert not list(folder.glob("*.partial"))


WRONG = {
    ("text", "gone.csv", "--column", "title"): "there is no table gone.csv",
    ("text", "movies.csv", "--column", "titel"): "there is no column 'titel' in movies.csv; did you mean 'title'?",
    ("text", "movies.csv", "--id", "item", "--column", "title"): "did you mean 'item_id'?",
    ("text", "movies.csv"): "--column: no column of text is named",
    ("text", "movies.csv", "--column", "empty"): "none of 4 items has a text",
    ("text", "twice.csv", "--column", "title"): "1 of 1 ids stand there more than once: 7",
    ("text", "movies.csv", "--column", "title", "--encoder", "./gone"): "there is no sentence-transformers model in",
    ("images", "posters", "--encoder", "gone.pt2"): "there is no encoder file gone.pt2",
    ("images", "posters", "--encoder", "gone"): "is neither a file ENCODER.pt2 nor open_clip:MODEL/PRETRAINED",
    ("images", "nowhere", "--encoder", "encoder.pt2"): "there is no table nowhere",
}


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_a_wrong_request_is_explained(arguments, folder, monkeypatch, capsys):
    from equipoise.cli import main

    (folder / "movies.csv").write_text("item_id,title,empty\n" + "".join(f"{i},red,\n" for i in range(4)))
    (folder / "twice.csv").write_text("item_id,title\n7,red\n7,green\n")
    save_pictures(folder / "posters", {"1.png": (1, 2, 3)})
    encoder = () if "--encoder" in arguments else ("--encoder", "all-MiniLM-L6-v2")
    monkeypatch.setattr(sys, "argv", ["equipoise", "features", *arguments, *encoder, "-o", "out.npz"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert WRONG[arguments] in said.err
    assert said.out == ""
    assert not (folder / "out.npz").exists()


def test_a_line_for_every_tenth(capsys):
    tell = Tenths()
    for done in range(0, 41):
        tell(done, 40)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert (lines[0], lines[-1]) == ("encoded 10 %, 4 of 40 items", "encoded 100 %, 40 of 40 items")


def test_a_bar_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with shown_progress() as tell:
        tell(0, 40)
        tell(40, 40)
    assert "40/40" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["text"], ["images"]])
def test_help_teaches(arguments):
    shown = run(*arguments, "--help")
    assert shown.exit_code == 0
    assert "Usage" in shown.stdout
