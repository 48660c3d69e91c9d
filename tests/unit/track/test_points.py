from __future__ import annotations

import math

import pytest

from equipoise.core.values import Row
from equipoise.store import write
from equipoise.store.database import Store
from equipoise.store.sent import StepNumbers, step_numbers
from equipoise.track.points import Point, in_batches, points_of, tagged

from .conftest import RUN, commit, points

NAMES = ["accuracy", "loss", "rank/full"]


def means(found: list[Point]) -> dict[str, float]:
    return {point.tag: point.value for point in found if point.tag.startswith("clients/")}


@pytest.mark.parametrize("own", [None, 3, 20])
def test_few_clients_have_curves_of_their_own_and_no_mean(store: Store, own: int | None) -> None:
    commit(store, 0, clients=3)
    assert sorted(points_of(store, RUN, 0, NAMES, own)) == sorted(points(0, clients=3))


def test_of_many_clients_the_first_have_curves_and_all_have_a_mean(store: Store) -> None:
    commit(store, 2, clients=4)
    found = points_of(store, RUN, 2, NAMES, 2)
    assert means(found) == {"clients/loss": pytest.approx((0.2 + 1.2 + 2.2 + 3.2) / 4)}
    assert {point.tag for point in found} == {"accuracy", "client_0/loss", "client_1/loss", "clients/loss"}


def test_without_clients_there_are_the_server_and_the_mean(store: Store) -> None:
    commit(store, 0, clients=2)
    assert {point.tag for point in points_of(store, RUN, 0, NAMES, 0)} == {"accuracy", "clients/loss"}


def test_ranks_of_single_users_are_no_curves(store: Store) -> None:
    write.commit_step(store, RUN, 0, [Row(0, 0, 1, "rank/full", 5.0)], [], {})
    assert points_of(store, RUN, 0, NAMES, None) == []


def test_a_number_that_is_not_finite_is_sent_and_left_out_of_means(store: Store) -> None:
    rows = [Row(0, 0, 0, "loss", math.nan), Row(0, 0, 1, "loss", 3.0), Row(0, 0, 0, "odd", math.nan)]
    write.commit_step(store, RUN, 0, rows, [], {})
    alone = step_numbers(store, RUN, 0, ["loss", "odd"], None)
    assert sorted(str(value) for _, _, value in alone.single) == ["3.0", "nan", "nan"]
    assert list(step_numbers(store, RUN, 0, ["loss", "odd"], 0).means) == [("loss", 3.0)]


def test_tags_name_client_and_mean() -> None:
    numbers = StepNumbers([(None, "a", 1.0), (3, "lam", 2.0)], [("lam", 2.5)])
    assert tagged(7, numbers) == [Point(7, "a", 1.0), Point(7, "client_3/lam", 2.0), Point(7, "clients/lam", 2.5)]


def test_batches_keep_order_and_size() -> None:
    assert in_batches([1, 2, 3, 4, 5], 2) == [[1, 2], [3, 4], [5]]
