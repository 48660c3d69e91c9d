from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import torch

from equipoise.server.mean import mean, weighted_mean
from equipoise.server.merge import ServerState
from tests.conftest import assert_same, update

A = {"w": torch.tensor([1.0, 0.0]), "b": torch.tensor(4.0)}
B = {"w": torch.tensor([5.0, 8.0]), "b": torch.tensor(0.0)}


def test_the_mean_is_weighted_by_samples():
    merged = weighted_mean([update(0, 30, A), update(1, 10, B)])
    assert merged["w"].tolist() == [0.75 * 1 + 0.25 * 5, 0.25 * 8]
    assert merged["b"].item() == 0.75 * 4


def test_batch_norm_statistics_are_averaged_and_counters_take_the_largest():
    one = {"bn.running_mean": torch.tensor([2.0]), "bn.num_batches_tracked": torch.tensor(7)}
    two = {"bn.running_mean": torch.tensor([6.0]), "bn.num_batches_tracked": torch.tensor(5)}
    merged = weighted_mean([update(0, 1, one), update(1, 3, two)])
    assert merged["bn.running_mean"].tolist() == [0.25 * 2 + 0.75 * 6]
    assert merged["bn.num_batches_tracked"].item() == 7
    assert merged["bn.num_batches_tracked"].dtype == torch.int64


def test_who_answered_first_does_not_matter_to_the_last_bit():
    third = {"w": torch.tensor([0.1, 0.7]), "b": torch.tensor(1e-8)}
    updates = [update(0, 3, A), update(1, 5, B), update(2, 7, third)]
    results = [weighted_mean(list(order)) for order in permutations(updates)]
    for result in results[1:]:
        assert_same(result, results[0])


def test_small_numbers_are_not_lost_beside_large_ones():
    # in float32, 2²⁴ + 1 is 2²⁴; the sum of the three is exact in float64
    values = [2.0**24, 1.0, -(2.0**24)]
    merged = weighted_mean([update(k, 1, {"w": torch.tensor([value])}) for k, value in enumerate(values)])
    assert abs(merged["w"].item() - 1 / 3) < 1e-7


def test_types_stay():
    half = {"w": torch.tensor([1.0, 2.0], dtype=torch.float16)}
    assert weighted_mean([update(0, 1, half), update(1, 1, half)])["w"].dtype == torch.float16


def test_what_went_in_is_not_changed():
    before = A["w"].clone()
    weighted_mean([update(0, 1, A), update(1, 1, B)])
    assert torch.equal(A["w"], before)


def test_the_merge_keeps_the_servers_memory():
    memory = {"m/w": torch.ones(1)}
    merged = mean(ServerState(B, memory), [update(0, 1, A)])
    assert_same(merged.model, A)
    assert merged.memory is memory


def test_rows_of_a_table_are_averaged_over_those_who_hold_them():
    before = {"t": torch.tensor([[0.0], [1.0], [2.0], [3.0]])}
    one = replace(update(0, 30, {"t": torch.tensor([[10.0], [20.0]])}), rows={"t": torch.tensor([0, 2])})
    two = replace(update(1, 10, {"t": torch.tensor([[40.0], [50.0]])}), rows={"t": torch.tensor([2, 3])})
    assert weighted_mean([one, two], before)["t"].tolist() == [[10.0], [1.0], [(30 * 20 + 10 * 40) / 40], [50.0]]
