from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

from equipoise.config.blocks import InteractionOptions
from equipoise.core.errors import DataError
from equipoise.data.table import TableOptions
from equipoise.kind.check import examine
from tests.unit.data.writers import write_files

U_DATA = b"1\t5\t3\t10\n1\t6\t3\t10\n1\t7\t3\t12\n2\t5\t1\t9\n2\t8\t1\t8\n2\t9\t1\t8\n2\t6\t1\t20\n"


def test_counts_histories_and_files(folder):
    write_files(folder, {"ml-100k/u.data": U_DATA})
    report = examine("ml-100k", folder)
    assert (report["name"], report["kind"]) == ("movielens-100k", "interactions")
    assert report["counts"]["users"] == {"count": 2, "published": 943}
    assert report["counts"]["items"] == {"count": 5, "published": 1682}
    assert report["counts"]["interactions"] == {"count": 7, "published": 100_000}
    assert not report["is_complete"]
    assert report["lengths"] == {"min": 3, "median": 3.5, "mean": 3.5, "max": 4}
    assert report["density"] == 7 / (2 * 5)
    assert report["times"] == {"first": 8, "last": 20, "ties": 2 / 5}
    assert report["split"] == {"name": "leave-one-out", "train": 1 + 2, "validation": 2, "test": 2}
    assert report["notes"] == [
        "The reader sorted the rows of 1 user by time.",
        "The split left 1 user a single interaction: there is nothing to learn, they are scored.",
    ]
    assert report["features"] == {}
    [file] = report["files"]
    assert file["sha256"] == hashlib.sha256(U_DATA).hexdigest()
    assert file["checksum"] == "unknown"
    assert json.loads(json.dumps(report)) == report


def test_the_split_that_was_asked_for(folder):
    write_files(folder, {"ml-100k/u.data": U_DATA})
    options = InteractionOptions(name="movielens-100k", split="slices", slices=2, cut="positions")
    assert examine("ml-100k", folder, options)["split"] == {"name": "slices", "slices": [1 + 2, 2 + 2]}


def test_the_generated_set_is_complete_and_its_features_are_checked():
    report = examine("planted", None)
    assert report["is_complete"]
    assert list(report["features"]) == ["visual", "text"]
    assert report["features"]["text"]["deviations"] > 20
    assert report["files"] == []


def test_a_table_of_ones_own(folder):
    (folder / "mine.csv").write_text("user,item,time\na,x,0\na,y,1\na,z,2\n")
    report = examine("table", folder, TableOptions(file="mine.csv", clock="own"))
    assert report["counts"]["items"] == {"count": 3, "published": None}
    assert not report["is_complete"]
    assert report["times"] is None
    assert report["files"][0]["path"] == str(folder / "mine.csv")
    with pytest.raises(DataError, match="no table was named"):
        examine("table", folder)


def test_features_of_other_items_end_the_check(folder, rng):
    (folder / "mine.csv").write_text(
        "user,item,time\n" + "".join(f"{u},{i},{t}\n" for u in range(20) for t, i in enumerate(rng.permutation(30)[:8]))
    )
    np.savez(folder / "text.npz", item_id=np.arange(30), emb=rng.standard_normal((30, 4)))
    with pytest.raises(DataError, match="rows and items do not belong together"):
        examine("table", folder, TableOptions(file="mine.csv", text="text.npz"))


@pytest.mark.parametrize(("name", "users"), [("movielens-1m", 6040), ("movielens-100k", 943)])
def test_real_files_match_their_sums(real_data, name, users):
    report = examine(name, real_data)
    assert [line["checksum"] for line in report["files"]] == ["matches"]
    assert report["counts"]["users"]["count"] == users
    assert report["is_complete"] == (name == "movielens-100k")
