from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from safetensors.numpy import save_file

from equipoise.core.errors import DataError
from equipoise.features.tables import find_table, read_features

IDS = np.array([30, 10, 20])
ROWS = np.array([[3.0, 4.0], [1.0, 0.0], [0.0, 2.0]])


def write(folder, kind, **arrays):
    path = folder / f"feats.{kind}"
    if kind == "npz":
        np.savez(path, **arrays)
    elif kind == "safetensors":
        save_file(arrays, path)
    else:
        pl.DataFrame({key: array.tolist() for key, array in arrays.items()}).write_parquet(path)
    return path.name


@pytest.mark.parametrize("kind", ["npz", "safetensors", "parquet"])
@pytest.mark.parametrize("ids", ["movie_id", "item_id"])
def test_every_kind_of_file(folder, kind, ids):
    name = write(folder, kind, **{ids: IDS, "emb": ROWS})
    for setting in (name, f"{name}/emb"):
        table = read_features(setting, folder)
        assert table.rows.dtype == np.float32
        assert table.rows.tolist() == ROWS.tolist()
        assert table.ids.tolist() == [30, 10, 20]
        assert table.where == f"{folder / name}, emb"


def test_half_precision_and_text_ids(folder):
    write(folder, "npz", item_id=np.array(["a", "b", "c"]), emb=ROWS.astype(np.float16))
    table = read_features("feats.npz", folder)
    assert table.ids.tolist() == ["a", "b", "c"]
    assert table.rows[0].tolist() == [3, 4]


def test_lists_of_fixed_length_in_parquet(folder):
    table = pl.DataFrame({"id": IDS, "emb": ROWS.tolist()}, schema_overrides={"emb": pl.Array(pl.Float32, 2)})
    table.write_parquet(folder / "a.parquet")
    assert read_features("a.parquet", folder).rows.tolist() == ROWS.tolist()


def test_a_matrix_alone_is_numbered_by_its_rows(folder):
    write(folder, "npz", emb=ROWS)
    assert read_features("feats.npz", folder).ids is None


def test_a_file_in_a_folder_below_and_beside_a_table(folder):
    (folder / "deep").mkdir()
    write(folder / "deep", "npz", emb=ROWS, other=ROWS)
    assert find_table("deep/feats.npz/emb", folder) == (folder / "deep" / "feats.npz", "emb")
    (folder / "clicks.csv").touch()
    assert find_table("deep/feats.npz", folder / "clicks.csv") == (folder / "deep" / "feats.npz", None)


def test_not_found(folder):
    with pytest.raises(DataError, match=r"table a/b\.npz was not found; nothing takes its place") as caught:
        read_features("a/b.npz", folder)
    assert caught.value.where == f"looked for {folder / 'a/b.npz'} and {folder / 'a'}"
    with pytest.raises(DataError, match="EQUIPOISE_DATA is not set"):
        read_features("b.npz", None)
    with pytest.raises(DataError, match="is a path of this machine"):
        read_features(str(folder / "b.npz"), folder)
    (folder / "b.pt").touch()
    with pytest.raises(DataError, match=r"b\.pt is none of \.npz, \.safetensors, \.parquet, \.pq"):
        read_features("b.pt", folder)


def refused(folder, setting="feats.npz", **arrays):
    write(folder, "npz", **arrays)
    with pytest.raises(DataError) as caught:
        read_features(setting, folder)
    assert caught.value.where == str(folder / "feats.npz")
    assert caught.value.fix
    return caught.value.what


def test_which_matrix(folder):
    two = {"item_id": IDS, "small": ROWS, "large": ROWS}
    assert refused(folder, **two) == "feats.npz holds 2 matrices: small, large"
    assert refused(folder, "feats.npz/smal", **two) == "feats.npz holds no matrix 'smal'; did you mean 'small'?"
    assert refused(folder, item_id=IDS) == "feats.npz holds 0 matrices: none"
    assert refused(folder, item_id=IDS, emb=ROWS[:, :1]).startswith("'emb' of feats.npz has 1 column")


def test_wrong_row_counts_and_repeated_ids(folder):
    assert refused(folder, item_id=IDS[:2], emb=ROWS) == "'item_id' of feats.npz names 2 rows, and there are 3"
    twice = np.array([1, 1, 1])
    assert refused(folder, item_id=twice, emb=ROWS) == "2 of 3 ids in 'item_id' of feats.npz stand there twice"


def test_ids_under_another_name_are_not_taken_for_none(folder):
    assert "has no ids called item_id or movie_id" in refused(folder, asin=IDS, emb=ROWS)
    assert "but item_id" in refused(folder, item_id=IDS / 2, emb=ROWS)
    pl.DataFrame({"asin": IDS, "emb": ROWS.tolist()}).write_parquet(folder / "a.parquet")
    with pytest.raises(DataError, match=r"a\.parquet has no ids called item_id or .*, but asin, emb"):
        read_features("a.parquet", folder)


@pytest.mark.parametrize(
    "lists", [[[1.0, 2.0], [3.0]], [[1.0, 2.0], None], [[1.0, 2.0], [1.0, None]]], ids=["ragged", "none", "gap"]
)
def test_lists_with_gaps(folder, lists):
    pl.DataFrame({"item_id": [1, 2], "emb": lists}).write_parquet(folder / "a.parquet")
    with pytest.raises(DataError, match="column 'emb' has empty cells, or lists of"):
        read_features("a.parquet", folder)


@pytest.mark.parametrize("kind", ["npz", "safetensors", "parquet"])
@pytest.mark.parametrize("keep", [0, 5, 60])
def test_truncated_files_name_themselves(folder, kind, keep):
    path = folder / write(folder, kind, item_id=IDS, emb=ROWS)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(DataError, match=rf"cannot use feats\.{kind}: it is not a whole {kind} file"):
        read_features(path.name, folder)


def test_a_pickle_is_not_opened(folder):
    np.savez(folder / "a.npz", emb=ROWS, item_id=np.array([1, "x", None], dtype=object))
    with pytest.raises(DataError, match=r"'item_id' of a\.npz holds Python objects, which are not read") as caught:
        read_features("a.npz", folder)
    assert "dtype=str" in caught.value.fix


def test_numbers_too_large_become_infinite_and_are_refused_later(folder):
    write(folder, "npz", item_id=IDS, emb=ROWS * 1e300)
    assert np.isinf(read_features("feats.npz", folder).rows).any()
