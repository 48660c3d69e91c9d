from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from equipoise.data.interactions import Features, content_of

from .histories import of_histories

TOY = of_histories([10, 20, 30], [20, 10, 40, 10], times=[[1, 2, 3], [1, 2, 3, 4]])


def features(*values: float) -> dict[str, Features]:
    return {"text": Features("text", np.array(values, np.float32).reshape(4, 1), np.ones(4, bool))}


def test_counts_and_histories():
    assert (TOY.n_users, TOY.n_items) == (2, 4)
    assert TOY.lengths.tolist() == [3, 4]
    assert TOY.item_ids[TOY.history(1)].tolist() == [20, 10, 40, 10]


def test_the_same_content_has_the_same_hash():
    again = of_histories([10, 20, 30], [20, 10, 40, 10], times=[[1, 2, 3], [1, 2, 3, 4]])
    assert content_of(TOY, features(1, 2, 3, 4)) == content_of(again, features(1, 2, 3, 4))
    assert len(content_of(TOY, {})) == 32


@pytest.mark.parametrize(
    "other",
    [
        of_histories([20, 10, 30], [20, 10, 40, 10], times=[[1, 2, 3], [1, 2, 3, 4]]),
        of_histories([10, 20, 30, 20], [10, 40, 10], times=[[1, 2, 3, 4], [1, 2, 3]]),
        of_histories([10, 20, 30], [20, 10, 40, 10], times=[[1, 2, 3], [1, 2, 3, 5]]),
        of_histories([10, 20, 30], [20, 10, 40, 10]),
        of_histories([10, 20, 30], [20, 10, 41, 10], times=[[1, 2, 3], [1, 2, 3, 4]]),
        replace(TOY, user_ids=np.array([0, 2])),
        replace(TOY, changes=np.array([-1, 2])),
    ],
    ids=["items", "bounds", "times", "no times", "item ids", "user ids", "changes"],
)
def test_any_other_content_has_another_hash(other):
    assert content_of(other, {}) != content_of(TOY, {})


def test_features_are_part_of_the_content():
    masked = {"text": replace(features(1, 2, 3, 4)["text"], present=np.array([True, True, True, False]))}
    several = [{}, features(1, 2, 3, 4), features(1, 2, 3, 5), masked, {"visual": features(1, 2, 3, 4)["text"]}]
    assert len({content_of(TOY, one) for one in several}) == 5


def test_ids_may_be_text():
    texts = replace(TOY, item_ids=np.array(["a", "b", "c", "d"]))
    assert content_of(texts, {}) != content_of(TOY, {})
