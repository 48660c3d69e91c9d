from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from equipoise.config.blocks import ImageOptions
from equipoise.core.errors import DataError, UnknownName
from equipoise.core.values import Dataset, Images
from equipoise.data.inputs import LabelledSet, PixelInputs
from equipoise.data.splits import Splits, content_of, labelled_set, load_labelled, load_splits, prepare_splits


def numbered(count: int, start: int = 0) -> Images:
    """Images that carry their own position as label, so that draws can be followed."""
    return Images(np.zeros((count, 1, 2, 2), np.uint8), np.arange(start, start + count))


READ = Dataset("toy", numbered(100), numbered(50, 1000), ("a",), (0.1,) * 3, (0.2,) * 3)
DATASET = labelled_set(READ)


def prepared(seed: int = 0, **options) -> Splits:
    return prepare_splits(DATASET, ImageOptions(**options), seed)


def test_validation_is_a_share_of_train_and_nothing_is_lost():
    splits = prepared()
    assert (len(splits.train), len(splits.validation), len(splits.test)) == (90, 10, 50)
    both = np.concatenate([splits.train.labels, splits.validation.labels])
    assert sorted(both.tolist()) == list(range(100))
    assert splits.test is DATASET.test
    assert (splits.name, splits.classes) == ("toy", ("a",))
    assert splits.inputs == PixelInputs((0.1,) * 3, (0.2,) * 3)


def test_a_public_pool_comes_out_of_train_and_is_a_share_of_the_whole():
    plain, splits = prepared(), prepared(public=0.2)
    assert len(plain.public) == 0
    assert (len(splits.train), len(splits.validation), len(splits.public)) == (100 - 10 - 20, 10, 20)
    parts = np.concatenate([splits.train.labels, splits.validation.labels, splits.public.labels])
    assert sorted(parts.tolist()) == list(range(100))
    assert splits.validation.labels.tolist() == plain.validation.labels.tolist()
    assert (np.diff(splits.public.labels) > 0).all()
    assert splits.public.labels.tolist() == prepared(public=0.2).public.labels.tolist()
    assert splits.public.labels.tolist() != prepared(seed=1, public=0.2).public.labels.tolist()


def test_a_public_pool_leaves_one_image_to_train_on():
    assert len(prepared(public=0.99).train) == 1
    assert len(prepared(limit=40, public=0.25).public) == 10  # of what the limit left


def test_limits_draw_at_random_and_keep_the_order():
    splits = prepared(limit=40, test_limit=20)
    assert (len(splits.train), len(splits.validation), len(splits.test)) == (36, 4, 20)
    for part in (splits.train, splits.validation, splits.test):
        assert (np.diff(part.labels) > 0).all()
    assert splits.test.labels.tolist() != list(range(1000, 1020))
    assert not set(splits.train.labels) & set(splits.validation.labels)


def test_draws_belong_to_the_seed():
    assert prepared(seed=1, limit=40).train.labels.tolist() == prepared(seed=1, limit=40).train.labels.tolist()
    assert prepared(seed=1).validation.labels.tolist() != prepared(seed=2).validation.labels.tolist()


def test_one_draw_never_moves_another():
    plain, limited = prepared(), prepared(test_limit=5)
    assert plain.train.labels.tolist() == limited.train.labels.tolist()
    assert prepared(test_limit=5, limit=40).test.labels.tolist() == limited.test.labels.tolist()
    few, many = (prepared(limit=40, validation=share) for share in (0.1, 0.5))
    assert set(few.train.labels) | set(few.validation.labels) == set(many.train.labels) | set(many.validation.labels)


def test_a_limit_of_everything_is_everything():
    assert prepared(limit=100).train.labels.tolist() == prepared().train.labels.tolist()
    assert prepared(test_limit=50).test.labels.tolist() == DATASET.test.labels.tolist()


@pytest.mark.parametrize(("share", "expected"), [(0.01, 1), (0.99, 3), (0.5, 2)])
def test_at_least_one_image_on_each_side(share, expected):
    splits = prepared(limit=4, validation=share)
    assert (len(splits.train), len(splits.validation)) == (4 - expected, expected)


def test_one_image_cannot_be_split():
    with pytest.raises(DataError, match="1 training sample cannot be both"):
        prepared(limit=1)


@pytest.mark.parametrize(("key", "count"), [("limit", 100), ("test_limit", 50)])
def test_asking_for_more_than_there_is_says_how_many_there_are(key, count):
    with pytest.raises(DataError, match=rf"data\.{key}=101 asks for more samples than there are: {count}") as caught:
        prepared(**{key: 101})
    assert caught.value.where == f"data.{key}"


def test_images_are_samples_with_their_pixels_as_inputs_and_the_constants_that_normalise_them():
    assert DATASET.train.inputs is READ.train.pixels
    assert DATASET.test.labels is READ.test.labels
    assert (DATASET.name, DATASET.classes, DATASET.inputs) == ("toy", ("a",), PixelInputs((0.1,) * 3, (0.2,) * 3))
    assert labelled_set(DATASET) is DATASET  # what a reader gives as a labelled set stays what it is


def test_the_content_is_of_every_sample_and_label_before_limits():
    assert prepared(limit=40).content == prepared(seed=5).content == content_of(DATASET)
    relabelled = replace(DATASET, test=replace(DATASET.test, labels=DATASET.test.labels + 1))
    repainted = replace(DATASET, train=replace(DATASET.train, inputs=DATASET.train.inputs + 1))
    flat = replace(DATASET, train=replace(DATASET.train, inputs=DATASET.train.inputs.reshape(100, 1, 4, 1)))
    assert len({content_of(one) for one in (DATASET, relabelled, repainted, flat)}) == 4


def test_the_whole_set_by_name():
    found = load_labelled(ImageOptions())
    assert isinstance(found, LabelledSet)
    assert (found.name, len(found.train), len(found.test), len(found.classes)) == ("digits", 1438, 359, 10)


def test_load_by_name_and_an_unknown_name():
    splits = load_splits(ImageOptions(limit=100), seed=0)
    assert (splits.name, len(splits.train), len(splits.test)) == ("digits", 90, 359)
    with pytest.raises(UnknownName, match="did you mean 'digits'"):
        load_splits(ImageOptions(name="digit"), seed=0)


def test_a_folder_is_passed_to_the_reader(folder):
    with pytest.raises(DataError, match=str(folder)):
        load_splits(ImageOptions(name="svhn"), 0, folder)
