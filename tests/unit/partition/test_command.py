"""`equipoise partition`, from the labels on: what it prints and writes."""

import json
from io import StringIO
from types import SimpleNamespace

import numpy as np
import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from equipoise.api.partition import view_of
from equipoise.cli.partition import partition, show
from equipoise.config import loader
from equipoise.core.errors import ConfigError
from equipoise.core.registry import SPLITTERS
from equipoise.data import splits
from equipoise.partition.divide import divide

CLASSES = ("zero", "one", "two", "three")
LABELS = np.arange(400) % 4


def divided(name="dirichlet", n_classes=4, **settings):
    return divide(np.arange(400) % n_classes, n_classes, SPLITTERS.find(name).options(**settings), 0)


def printed(result, classes=CLASSES, width=80):
    out = StringIO()
    show(view_of(result, classes, None), Console(file=out, width=width))
    return out.getvalue()


def test_the_table_has_every_count_and_total():
    result = divided(clients=3)
    text = printed(result)
    for row in result.counts:
        assert str(row.sum()) in text
        assert all(str(n) in text for n in row if n)
    assert result.fingerprint in text.replace("\n", "").replace(" ", "")
    assert "thr" in text


def test_counts_become_shades_where_they_do_not_fit():
    text = printed(divided(n_classes=20, clients=3), tuple(map(str, range(20))), width=60)
    assert "██" in text
    assert "··" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(("clients", "n_classes"), [(41, 4), (3, 21)])
def test_a_large_partition_is_summed_up(clients, n_classes):
    text = printed(divided(n_classes=n_classes, clients=clients), tuple(map(str, range(n_classes))))
    assert f"{clients} clients × {n_classes} classes" in text
    assert "entropy" in text


def test_overlap_and_gaps_are_said_loudly():
    text = " ".join(printed(divided("fafi-overlap", clients=30, alpha=0.1, min_size=1)).split())
    assert "NO:" in text
    assert "is not a partition" in text
    disjoint = printed(divided(clients=3))
    assert "NO:" not in disjoint


def test_the_record_has_the_promised_keys():
    record = json.loads(json.dumps(view_of(divided(clients=3), CLASSES, None).to_json()))
    keys = "name clients samples fingerprint disjoint covering overlap skew counts"
    assert list(record) == keys.split()
    assert (record["clients"], record["samples"], record["disjoint"], record["covering"]) == (3, 400, True, True)
    assert np.sum(record["counts"]) == 400


def test_the_picture_carries_the_splitter_alpha_and_fingerprint(tmp_path):
    result = divided(clients=3, alpha=0.1)
    view_of(result, CLASSES, 0.1).save(tmp_path / "who.json")
    text = (tmp_path / "who.json").read_text()
    subtitle = json.loads(text)["title"]["subtitle"]
    assert subtitle == f"dirichlet · α = 0.1 · fingerprint {result.fingerprint[:12]} · no overlap"


@pytest.fixture
def run(monkeypatch):
    """The command with settings and data put in its hands."""
    request = loader.load("fedavg", ["seed=5", "partition=shards", "partition.clients=3"])
    given = []
    monkeypatch.setattr(loader, "load", lambda preset, overrides: given.append((preset, *overrides)) or request)
    data = SimpleNamespace(train=SimpleNamespace(labels=LABELS), classes=CLASSES)
    monkeypatch.setattr(splits, "load_splits", lambda *_: data)
    app = typer.Typer()
    app.command()(partition)
    return lambda *words: (CliRunner().invoke(app, list(words)), given)


def test_the_command_prints_json_alone_when_asked(run, tmp_path):
    result, given = run("fedavg", "seed=5", "K=3", "--json", "-o", str(tmp_path / "deep" / "who.svg"))
    assert result.exit_code == 0
    assert json.loads(result.stdout)["name"] == "shards"
    assert given == [("fedavg", "seed=5", "K=3")]
    assert (tmp_path / "deep" / "who.svg").read_text().startswith("<svg")


def test_the_command_prints_the_table_and_names_the_file(run, tmp_path):
    result, _ = run("fedavg", "-o", str(tmp_path / "who.svg"))
    assert "shards: images per client" in result.stdout
    assert "who.svg" in result.stdout.replace("\n", "")
    result, _ = run("fedavg")
    assert "written" not in result.stdout


def test_a_suffix_nobody_can_draw_is_an_error(run, tmp_path):
    result, _ = run("fedavg", "-o", str(tmp_path / "who.bmp"))
    assert isinstance(result.exception, ConfigError)
