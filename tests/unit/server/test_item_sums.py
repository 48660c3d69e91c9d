from __future__ import annotations

import numpy as np
import pytest
import torch

from equipoise.evaluate.markov import UNIT, count_transitions
from equipoise.server.item_settings import ItemSumsOptions
from equipoise.server.item_sums import add, sums_of, unit

V = 7
OPTIONS = ItemSumsOptions()


def history(*items: int) -> np.ndarray:
    return np.array(items, dtype=np.int64)


def dense(report, name: str, n_items: int = V) -> np.ndarray:
    found = np.zeros(n_items**2)
    found[report[f"{name}.at"].numpy()] = report[f"{name}.value"].numpy()
    return found.reshape(n_items, n_items)


def windows(items: np.ndarray, window: int, decay: float, n_items: int = V) -> tuple[np.ndarray, np.ndarray]:
    """x_t and y_t as the formula says, one row for every target."""
    x, y = np.zeros((len(items) - 1, n_items)), np.zeros((len(items) - 1, n_items))
    for t in range(1, len(items)):
        y[t - 1, items[t]] = 1
        for p in range(1, min(window, t) + 1):
            x[t - 1, items[t - p]] += decay ** (p - 1)
    return x, y


def whole(upper: np.ndarray) -> np.ndarray:
    return upper + np.triu(upper, 1).T


def test_sums_by_hand():
    report = sums_of([history(0, 1, 0)], 3, ItemSumsOptions(window=2, decay=0.5, gaps=2))
    # targets: 1 after (0); 0 after (1, 0), the older at half weight
    assert dense(report, "next", 3) == pytest.approx(np.array([[0.5, 1, 0], [1, 0, 0], [0, 0, 0]]))
    assert dense(report, "gram", 3) == pytest.approx(np.array([[1 + 0.25, 0.5, 0], [0, 1, 0], [0, 0, 0]]))
    assert unit(2) == 2
    assert dense(report, "transitions", 3) == pytest.approx(np.array([[1, 2, 0], [2, 0, 0], [0, 0, 0]]))


@pytest.mark.parametrize("decay", [0.5, 0.8, 1.0])
@pytest.mark.parametrize("window", [1, 3, 16])
@pytest.mark.parametrize("size", [2, 3, 9, 40])
def test_sparse_sums_are_the_products_of_dense_windows(window, decay, size, rng):
    items = rng.integers(0, V, size)  # many items several times
    report = sums_of([items], V, ItemSumsOptions(window=window, decay=decay))
    x, y = windows(items, window, decay)
    assert whole(dense(report, "gram")) == pytest.approx(x.T @ x, rel=1e-5)
    assert dense(report, "next") == pytest.approx(x.T @ y, rel=1e-5)
    assert not np.tril(dense(report, "gram"), -1).any(), "one half is enough"


def test_transitions_are_those_of_the_reference_table(rng):
    items = rng.integers(0, V, 30)
    reference = count_transitions(items, np.array([0, 30]), np.array([30]), V)
    assert unit(OPTIONS.gaps) == UNIT
    assert (dense(sums_of([items], V, OPTIONS), "transitions") == reference.toarray()).all()


def test_only_what_is_needed_is_sent():
    sent = {score: set(sums_of([history(0, 1)], V, ItemSumsOptions(score=score))) for score in ("markov", "ridge")}
    assert sent["markov"] == {"items", "transitions.at", "transitions.value"}
    assert sent["ridge"] == {"items", "gram.at", "gram.value", "next.at", "next.value"}


def test_what_is_sent_grows_with_the_history_and_not_with_the_catalogue(rng):
    items = rng.integers(0, 50, 40)
    few, many = (sums_of([items], n, OPTIONS) for n in (50, 40_000))
    assert {name: len(tensor) for name, tensor in few.items()} == {name: len(t) for name, t in many.items()}
    assert len(few["transitions.at"]) <= 40 * OPTIONS.gaps
    assert max(len(few["gram.at"]), len(few["next.at"])) <= 40 * OPTIONS.window
    assert few["gram.at"].dtype == torch.int32
    assert sums_of([items], 50_000, OPTIONS)["gram.at"].dtype == torch.int64, "places beyond 2³¹"


@pytest.mark.parametrize("items", [history(), history(3)], ids=["none", "one"])
def test_a_history_too_short_for_anything_is_an_empty_report(items):
    report = sums_of([items], V, OPTIONS)
    assert all(len(tensor) == 0 for name, tensor in report.items() if name != "items")
    total: dict[str, torch.Tensor] = {}
    assert add(total, report) is None
    assert not total["gram"].any()


def test_two_histories_of_one_client_do_not_follow_each_other(rng):
    one, two = rng.integers(0, V, 5), rng.integers(0, V, 6)
    together, apart = sums_of([one, two], V, OPTIONS), [sums_of([each], V, OPTIONS) for each in (one, two)]
    for name in ("transitions", "gram", "next"):
        assert dense(together, name) == pytest.approx(dense(apart[0], name) + dense(apart[1], name), rel=1e-5)


def test_the_total_is_the_sum_in_double_precision():
    total: dict[str, torch.Tensor] = {}
    for _ in range(3):
        assert add(total, sums_of([history(0, 1)], V, OPTIONS)) is None
    assert total["next"].view(V, V)[0, 1] == 3
    assert total["next"].dtype == torch.float64
    assert total["next"].sum() == 3


BAD = {
    "another catalogue": ({"items": torch.tensor([9])}, "of 9 items, expected 7"),
    "no catalogue": ({"items": None}, "does not say how many items"),
    "a place outside": ({"next.at": torch.tensor([V * V], dtype=torch.int32)}, "next of its report has places outside"),
    "a place below": ({"next.at": torch.tensor([-1], dtype=torch.int32)}, "next of its report has places outside"),
    "values missing": ({"gram.value": None}, "gram of its report has 1 places and no values"),
    "fewer values": ({"gram.value": torch.zeros(0)}, "gram of its report has 1 places and 0 values"),
    "other sums": ({"next.at": None, "next.value": None}, "has sums of gram, transitions, expected gram, next, tran"),
}


@pytest.mark.parametrize(("change", "reason"), BAD.values(), ids=BAD)
def test_a_report_that_does_not_fit_is_refused_in_words_and_adds_nothing(change, reason):
    total: dict[str, torch.Tensor] = {}
    good = sums_of([history(0, 1)], V, OPTIONS)
    add(total, good)
    bad = {name: tensor for name, tensor in {**good, **change}.items() if tensor is not None}
    assert reason in str(add(total, bad))
    assert total["transitions"].sum() == unit(OPTIONS.gaps)
    assert total["gram"].sum() == 1
