import json
import subprocess
import sys

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.report.files import save
from equipoise.report.partition_chart import DRAWN_ROWS, NAMED_ROWS, caption, chart, drawn_rows

COUNTS = np.array([[5, 0, 1], [0, 7, 2]])
CLASSES = ("cat", "dog", "owl")


def spec(counts=COUNTS, classes=CLASSES, line=""):
    return chart(counts, "Who owns what", classes, line).to_dict()


def cells(picture):
    """The rows behind the heat map: those with both a client and a class."""
    return [row for rows in picture["datasets"].values() for row in rows if "id" in row]


def test_every_count_but_zero_is_a_cell():
    found = {(row["id"], row["class"]): row["images"] for row in cells(spec())}
    assert found == {(0, "cat"): 5, (0, "owl"): 1, (1, "dog"): 7, (1, "owl"): 2}


def test_totals_stand_beside_the_cells():
    text = json.dumps(spec())
    for total in (6, 9, 5, 7, 3):  # per client, then per class
        assert f'"images": {total}' in text


def test_few_clients_are_named_and_counted_and_many_are_not():
    many = np.ones((NAMED_ROWS + 1, 3), dtype=np.int64)
    few, lots = json.dumps(spec()), json.dumps(spec(many))
    assert '"type": "text"' in few
    assert '"type": "text"' not in lots
    assert f"{NAMED_ROWS + 1} clients, sorted by largest class" in lots
    named = json.dumps(spec(np.ones((NAMED_ROWS, 30), dtype=np.int64), tuple(map(str, range(30)))))
    assert "sorted by" not in named


def test_many_clients_are_sorted_by_their_largest_class_then_by_its_count():
    counts = np.tile([[0, 3], [9, 0], [0, 8], [4, 0]], (20, 1))
    order = drawn_rows(counts)
    assert counts[order].tolist() == [[9, 0]] * 20 + [[4, 0]] * 20 + [[0, 8]] * 20 + [[0, 3]] * 20


def test_very_many_clients_are_thinned_evenly_and_the_caption_says_so():
    counts = np.ones((5000, 2), dtype=np.int64)
    shown = drawn_rows(counts)
    assert len(shown) == len(set(shown.tolist())) == DRAWN_ROWS
    assert (shown[0], shown[-1]) == (0, 4999)
    assert spec(counts, ("a", "b"))["title"]["subtitle"] == "300 of 5000 clients drawn"
    assert spec(counts, ("a", "b"), "iid")["title"]["subtitle"] == "iid · 300 of 5000 clients drawn"


def test_classes_of_one_name_stay_two_columns():
    assert {row["class"] for row in cells(spec(classes=("cat", "cat", "owl")))} == {"cat (0)", "cat (1)", "owl"}


def test_the_caption_says_when_clients_share_samples():
    assert caption("fafi-overlap", "f" * 64, 0.749, 0.1) == (
        "fafi-overlap · α = 0.1 · fingerprint ffffffffffff · OVERLAP: 74.9% of samples on several clients"
    )
    assert caption("iid", "0" * 64, 0.0) == "iid · fingerprint 000000000000 · no overlap"


@pytest.mark.parametrize(
    ("suffix", "start"),
    [(".svg", b"<svg"), (".png", b"\x89PNG"), (".pdf", b"%PDF"), (".json", b"{"), (".html", b"<!DOCTYPE html>")],
)
def test_it_is_written_in_the_format_of_its_suffix(tmp_path, suffix, start):
    path = tmp_path / "new folder" / f"who{suffix}"
    save(chart(COUNTS, "t", CLASSES), path)
    assert path.read_bytes().lstrip().startswith(start)


def test_the_page_needs_no_network(tmp_path):
    save(chart(COUNTS, "t", CLASSES), tmp_path / "WHO.HTML")
    page = (tmp_path / "WHO.HTML").read_text(encoding="utf-8")
    assert "<script src=" not in page
    assert "https://cdn" not in page


@pytest.mark.parametrize("name", ["who.bmp", "who"])
def test_an_unknown_suffix_is_an_error_that_lists_the_known(tmp_path, name):
    with pytest.raises(ConfigError) as caught:
        save(chart(COUNTS, "t", CLASSES), tmp_path / name)
    assert ".html, .svg, .png, .pdf, .json" in caught.value.fix
    assert caught.value.exit_code == 2


def test_drawing_never_loads_torch():
    code = "import sys, equipoise.report.partition_chart, equipoise.partition.divide; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
