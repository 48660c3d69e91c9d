from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from equipoise.core.errors import ConfigError, DataError
from equipoise.data.splits import load_splits
from equipoise.data.tabular import ColumnInputs, TabularFileOptions, TabularOptions, breast_cancer, tabular, wine

ROWS = """\
age,colour,income,label
30,red,1.5,yes
40,blue,2.5,no
50,red,3.5,yes
60,green,4.5,no
20,blue,0.5,yes
10,red,9.5,no
"""


def written(folder: Path, text: str = ROWS, name: str = "people.csv") -> TabularFileOptions:
    (folder / name).write_text(text)
    return TabularFileOptions(file=name, categories=["colour"], test_share=0.4)


@pytest.mark.parametrize(("read", "classes", "columns", "rows"), [(breast_cancer, 2, 30, 569), (wine, 3, 13, 178)])
def test_embedded_sets_need_no_file_and_are_parted_the_same_for_everybody(read, classes, columns, rows):
    first, second = (read(TabularOptions(name=read.__name__), None) for _ in range(2))
    assert len(first.classes) == classes
    assert first.train.inputs.shape[1] == columns
    assert len(first.train) + len(first.test) == rows
    assert np.array_equal(first.test.inputs, second.test.inputs)
    assert set(np.unique(first.test.labels)) == set(range(classes))


def test_numbers_are_standardised_by_the_training_rows_and_categories_are_one_column_a_level(folder):
    found = tabular(written(folder), folder)
    assert found.classes == ("no", "yes")
    everything = np.concatenate([found.train.inputs, found.test.inputs])
    assert everything.shape == (6, 5)  # age; blue, green, red; income
    by_age = {row[0]: row[1:].tolist() for row in everything}
    assert by_age[30] == [0, 0, 1, 1.5]
    assert by_age[40] == [1, 0, 0, 2.5]
    assert by_age[60] == [0, 1, 0, 4.5]
    prepared = found.inputs.prepare(found.train.inputs).numpy()
    varies = found.train.inputs.std(0) > 0
    assert prepared[:, varies].mean(0) == pytest.approx(0, abs=1e-6)
    assert prepared[:, varies].std(0) == pytest.approx(1, abs=1e-5)
    assert np.isfinite(prepared).all()


def test_the_same_table_as_tsv_and_as_parquet(folder):
    plain = tabular(written(folder), folder)
    tabs = tabular(written(folder, ROWS.replace(",", "\t"), "people.tsv"), folder)
    pl.read_csv(folder / "people.csv").write_parquet(folder / "people.parquet")
    packed = tabular(TabularFileOptions(file="people.parquet", categories=["colour"], test_share=0.4), folder)
    for other in (tabs, packed):
        assert np.array_equal(other.train.inputs, plain.train.inputs)
        assert np.array_equal(other.train.labels, plain.train.labels)


def test_labels_that_are_whole_numbers_are_sorted_as_numbers(folder):
    rows = "x,label\n" + "".join(f"{i},{label}\n" for i, label in enumerate([10, 9, 10, 9, 100, 100]))
    (folder / "n.csv").write_text(rows)
    assert tabular(TabularFileOptions(file="n.csv", test_share=0.4), folder).classes == ("9", "10", "100")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (ROWS.replace("20,blue,0.5,yes", "20,blue,0.5,"), r"1 of 6 rows have no label in column 'label'; first row 5"),
        (ROWS.replace(",no", ",yes"), "column 'label' has one class only, 'yes'"),
        (ROWS.replace("0.5", "half"), r"1 of 6 rows have no number in column 'income'; row 5: 'half'"),
        (ROWS.replace("0.5", ""), r"no number in column 'income'; row 5: nothing"),
        (ROWS.replace("0.5", "inf"), r"no number in column 'income'"),
        (ROWS.replace("20,blue", "20,"), "column 'colour' has rows without a category"),
        (ROWS.replace("age,colour,income", "age,colour,age"), "1 columns of people.csv stand there twice: age"),
        (ROWS.replace("label", "answer"), "there is no column 'label' in people.csv"),
        (ROWS.replace("colour", "paint"), "there is no column 'colour' in people.csv"),
        ("age,colour,income,label\n", "the table has no rows"),
    ],
)
def test_what_is_wrong_with_a_table_is_named(folder, text, says):
    with pytest.raises(DataError, match=says) as caught:
        tabular(written(folder, text), folder)
    assert "people.csv" in caught.value.where
    assert caught.value.fix


def test_labels_alone_are_nothing_to_learn_from(folder):
    (folder / "only.csv").write_text("label\na\nb\n")
    with pytest.raises(DataError, match="no column to learn from"):
        tabular(TabularFileOptions(file="only.csv"), folder)


def test_rows_have_no_augmented_views_and_noise_lies_within_the_columns(rng):
    inputs, rows = ColumnInputs((0.0, 0.0), (1.0, 1.0)), np.array([[0.0, 5.0], [1.0, 9.0]], dtype=np.float32)
    with pytest.raises(ConfigError, match="no augmented views"):
        inputs.two_views(rows, 0)
    noise = inputs.without_content(rng, 50, rows)
    assert noise.shape == (50, 2)
    assert (noise >= rows.min(0)).all()
    assert (noise <= rows.max(0)).all()
    assert ColumnInputs(**inputs.facts()) == inputs


def test_it_is_split_as_every_labelled_set():
    splits = load_splits(TabularOptions(name="wine", limit=100), seed=3)
    assert len(splits.train) + len(splits.validation) == 100
    assert splits.inputs.shape(splits.train.inputs) == (13,)
