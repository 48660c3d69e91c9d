from __future__ import annotations

import json

import numpy as np
import pytest

from equipoise import __version__
from equipoise.core.errors import ConfigError, DataError
from equipoise.features import encode as module
from equipoise.features.encode import EncodingJob, encode, require_free
from equipoise.features.encoders import Encoder
from equipoise.features.items import Items, ItemSource, gathered
from equipoise.features.load import matched
from equipoise.features.partial import partial_of
from equipoise.features.tables import read_features

SOURCE = ItemSource("text", "movies.csv", {"columns": ["title"], "format": None})


def numbers(text: str) -> list[float]:
    if text == "damaged":
        raise DataError("cannot be read")
    return [float(part) for part in text.split()]


def encoder(name: str = "e", fingerprint: str = "f", seen: list[int] | None = None) -> Encoder[str]:
    """Texts are rows of numbers already."""

    def rows(ready):
        if seen is not None:
            seen.append(len(ready))
        return np.array(ready, np.float32)

    return Encoder(name, fingerprint, numbers, rows)


def items_of(*texts: str | None, ids: list[int] | None = None) -> Items[str]:
    return gathered(SOURCE, np.array(ids or range(10, 10 + len(texts))), texts, str)


def test_the_table_is_read_by_the_recommender(tmp_path):
    done = encode(items_of("3 4", None, "0 -2"), encoder(), EncodingJob(tmp_path / "text.npz"))
    assert (done.items, done.width, done.skipped, done.encoder) == (2, 2, 1, "e")
    assert {reason: ids.tolist() for reason, ids in done.left_out.items()} == {"without text": [11]}
    table = read_features("text.npz", tmp_path)
    assert table.ids.tolist() == [10, 12]
    assert np.allclose(table.rows, [[3 / 5, 4 / 5], [0, -1]])
    rows, present = matched(table, np.array([12, 11, 10]))
    assert present.tolist() == [True, False, True]
    assert rows[1].tolist() == [0, 0]
    assert [path.name for path in tmp_path.iterdir()] == ["text.npz"]


def test_facts_travel_with_the_table(tmp_path):
    encode(items_of("3 4", None), encoder(), EncodingJob(tmp_path / "text.npz"))
    with np.load(tmp_path / "text.npz", allow_pickle=False) as content:
        assert content["features"].dtype == np.float32
        facts = json.loads(str(content["facts"]))
    assert facts == {
        "encoder": "e",
        "fingerprint": "f",
        "columns": ["title"],
        "format": None,
        "count": 1,
        "left_out": {"without text": 1},
        "version": __version__,
    }


def test_half_precision_and_ids_of_text(tmp_path):
    items = gathered(SOURCE, np.array(["a", "b"]), ["3 4", "1 0"], str)
    encode(items, encoder(), EncodingJob(tmp_path / "text.npz", half=True))
    with np.load(tmp_path / "text.npz", allow_pickle=False) as content:
        assert content["features"].dtype == np.float16
    table = read_features("text.npz", tmp_path)
    assert table.ids.tolist() == ["a", "b"]
    assert np.allclose(np.linalg.norm(table.rows, axis=1), 1, atol=1e-3)


def test_rows_of_zeros_and_damaged_items_are_left_out(tmp_path):
    items = items_of("0 0", "damaged", "1 0", "damaged")
    with pytest.raises(DataError, match="cannot be read"):
        encode(items, encoder(), EncodingJob(tmp_path / "a.npz"))
    done = encode(items, encoder(), EncodingJob(tmp_path / "a.npz", batch=2, skip_damaged=True))
    assert {reason: ids.tolist() for reason, ids in done.left_out.items()} == {
        "damaged": [11, 13],
        "with a row of zeros": [10],
    }
    assert done.skipped == 3
    assert read_features("a.npz", tmp_path).ids.tolist() == [12]


def test_a_batch_without_anything_to_encode(tmp_path):
    items = items_of("damaged", "damaged", "1 0")
    assert encode(items, encoder(), EncodingJob(tmp_path / "a.npz", batch=2, skip_damaged=True)).items == 1


def test_nothing_left(tmp_path):
    with pytest.raises(DataError, match="none of 2 items has a row"):
        encode(items_of("0 0", "0 0"), encoder(), EncodingJob(tmp_path / "a.npz"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("bad", ["nan 1", "inf 1"])
def test_numbers_that_are_not_finite_end_the_work(tmp_path, bad):
    with pytest.raises(DataError, match=r"not finite for 1 of 2 items: 12"):
        encode(items_of("1 0", "damaged", bad), encoder(), EncodingJob(tmp_path / "a.npz", skip_damaged=True))
    assert not (tmp_path / "a.npz").exists()


def test_an_interrupted_command_goes_on_where_its_last_group_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BATCHES", 2)
    items = items_of(*(f"{i} 1" for i in range(11)))
    whole = encode(items, encoder(), EncodingJob(tmp_path / "whole.npz", batch=2))

    def stop_at(done: int, total: int) -> None:
        if done == 10:
            raise KeyboardInterrupt

    job, seen, told = EncodingJob(tmp_path / "text.npz", batch=2), [], []
    with pytest.raises(KeyboardInterrupt):
        encode(items, encoder(), job, stop_at)
    assert not job.out.exists()
    assert partial_of(job.out).is_dir()
    done = encode(items, encoder(seen=seen), job, lambda *args: told.append(args))
    assert seen == [2, 1]
    assert told == [(8, 11), (10, 11), (11, 11)]
    assert done.items == whole.items == 11
    assert job.out.read_bytes() == whole.path.read_bytes()
    assert not partial_of(job.out).exists()


def test_all_is_encoded_and_only_the_table_is_missing(tmp_path, monkeypatch):
    items, job, seen = items_of("1 0", "0 1"), EncodingJob(tmp_path / "text.npz"), []

    def full(*_):
        raise DataError("no space")

    with monkeypatch.context() as patch:
        patch.setattr(module, "save_arrays", full)
        with pytest.raises(DataError, match="no space"):
            encode(items, encoder(), job)
    assert encode(items, encoder(seen=seen), job).items == 2
    assert seen == []


@pytest.mark.parametrize(
    ("items", "with_", "words"),
    [
        (items_of("1 0", "nan 1"), encoder("other"), "another encoder: e, and now it is other"),
        (items_of("1 0", "nan 1"), encoder("e", "other"), "other weights"),
        (items_of("1 0", "nan 1", ids=[10, 12]), encoder(), "another list of ids"),
        (items_of("1 0", "2 1"), encoder(), "other texts"),
    ],
)
def test_another_encoder_or_other_items_are_refused(tmp_path, items, with_, words):
    job = EncodingJob(tmp_path / "text.npz", batch=1)
    with pytest.raises(DataError, match="not finite"):
        encode(items_of("1 0", "nan 1"), encoder(), job)
    with pytest.raises(DataError, match=words):
        encode(items, with_, job)


def test_outputs_that_are_in_the_way(tmp_path):
    out = tmp_path / "text.npz"
    require_free(out, force=False)
    out.write_bytes(b"")
    with pytest.raises(DataError, match="is there already") as caught:
        require_free(out, force=False)
    assert "--force" in caught.value.fix
    require_free(out, force=True)
    with pytest.raises(ConfigError, match="is an npz file"):
        require_free(tmp_path / "text.csv", force=False)
    with pytest.raises(DataError, match="there is no folder"):
        require_free(tmp_path / "nowhere" / "text.npz", force=False)
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(DataError, match="is there already"):
        require_free(tmp_path / "folder.npz", force=True)
