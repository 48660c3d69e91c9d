from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from equipoise.core.values import ClientState
from equipoise.server.common_memory import with_common_memory
from equipoise.server.merge import ServerState, keep
from tests.conftest import update


def report(client: int, visual, text, weights):
    own = ClientState(
        report={
            "centres.visual": torch.tensor(visual, dtype=torch.float32),
            "centres.text": torch.tensor(text, dtype=torch.float32),
            "weights": torch.tensor(weights, dtype=torch.float32),
        }
    )
    return replace(update(client, 10, {"w": torch.zeros(1)}), own=own)


def pairs(broadcast) -> list[tuple[float, ...]]:
    return sorted(
        zip(broadcast["common.visual"].flatten().tolist(), broadcast["common.text"].flatten().tolist(), strict=True)
    )


def test_a_rows_picture_and_its_text_stay_together():
    """Two clients tell the same two centres in opposite order."""
    merge = with_common_memory(keep, 2)
    clients = [report(0, [[2], [9]], [[1], [5]], [1, 1]), report(1, [[9], [2]], [[5], [1]], [1, 1])]
    after = merge(ServerState({}), clients)
    assert pairs(after.broadcast) == [(2, 1), (9, 5)]


def test_a_centre_without_a_text_does_not_pull_the_texts_of_others():
    after = with_common_memory(keep, 1)(ServerState({}), [report(0, [[2]], [[6]], [1]), report(1, [[4]], [[0]], [3])])
    assert pairs(after.broadcast) == [((2 + 3 * 4) / 4, 6)]


def test_centres_count_by_the_rows_behind_them_and_fade():
    merge = with_common_memory(keep, 1)
    first = merge(ServerState({}), [report(0, [[1]], [[1]], [3]), report(1, [[5]], [[9]], [1])])
    assert pairs(first.broadcast) == [((3 * 1 + 5) / 4, (3 * 1 + 9) / 4)]
    second = merge(first, [report(2, [[8]], [[9]], [2])])  # the four rows of before count half
    assert pairs(second.broadcast) == [((2 * 2 + 2 * 8) / 4, (2 * 3 + 2 * 9) / 4)]


def test_a_round_in_which_nobody_tells_anything_changes_nothing():
    merge = with_common_memory(keep, 2)
    state = ServerState({"w": torch.ones(1)})
    assert merge(state, [update(0, 1, {"w": torch.zeros(1)})]) is state


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_who_answered_first_does_not_matter(order):
    clients = [report(k, [[k], [k + 5]], [[k], [2 * k]], [1, 2]) for k in range(3)]
    found = with_common_memory(keep, 3)(ServerState({}), [clients[k] for k in order])
    expected = with_common_memory(keep, 3)(ServerState({}), clients)
    assert torch.equal(found.broadcast["common.visual"], expected.broadcast["common.visual"])
