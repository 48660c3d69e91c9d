"""A client's history as steps: every pair once, nothing from the future, draws from the client's own streams."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from equipoise.client.histories import HistoryFeed
from equipoise.client.history_work import HistoryWork
from equipoise.config.loader import load
from equipoise.core.clock import Clock
from equipoise.core.values import Task
from equipoise.memory.settings import MemoryOptions
from equipoise.memory.windows import History

from .feeds import MODEL, feed, unit_rows


def test_a_window_pairs_each_item_with_the_next():
    (step, *_) = feed(range(20, 30)).steps(0)
    windows = step
    for row in range(2):
        n = int(windows.valid[row].sum())
        assert (windows.targets[row, :n] == windows.items[row, :n] + 1).all()  # 20, 21, 22 …
        first = int(windows.items[row, 0])
        recent = windows.recent[row][windows.recent_valid[row]]
        assert recent.tolist() == list(range(20, first + 1))[-10:]


def test_every_pair_is_trained_on_once_an_epoch():
    for epochs in (range(1), range(3, 5)):
        met = [
            item
            for epoch in epochs
            for step in feed(range(20, 30), epochs=epochs).steps(epoch)
            for item in step.targets[step.valid].tolist()
        ]
        assert sorted(met) == sorted(list(range(21, 30)) * len(epochs))
    assert feed(range(20, 30)).samples == 9
    assert feed(range(20, 30)).n_steps == 2  # nine pairs in windows of four: three windows, two a step


def test_the_order_and_the_masks_are_the_clients_own_and_the_same_again():
    first, again, other = (list(feed(range(20, 40), epochs=e).steps(e[0])) for e in (range(1), range(1), range(1, 2)))
    assert all(torch.equal(a.keep, b.keep) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first[0].keep, other[0].keep)
    kept = torch.cat([step.keep.flatten() for step in first])
    assert set(kept.unique().tolist()) == {0.0, 2.0}  # half is dropped, the rest counts double


def test_losses_are_written_where_they_were_made_and_move_the_level():
    """The first step's mean and deviation, then a tenth of the way to each step's."""
    one = feed(range(20, 30), features=unit_rows(50), memory=MemoryOptions())
    level = None
    for step in one.steps(0):
        losses = step.targets.float()
        one.observe({"loss": losses})
        now = torch.stack([losses[step.valid].mean(), losses[step.valid].std(correction=0)])
        level = now if level is None else level + 0.1 * (now - level)
    kept = one.memory()
    assert kept["loss"].tolist() == [-1.0, *range(21, 30)]
    assert kept["level"].tolist() == pytest.approx(level.tolist())
    again = feed(range(20, 30), own=kept, features=unit_rows(50), memory=MemoryOptions())
    assert again.losses.level.tolist() == kept["level"].tolist()
    assert again.losses.latest[0].tolist() == kept["loss"].tolist()


def test_without_a_dynamic_memory_the_newest_items_are_read():
    (step, *_) = feed(range(20, 45), features=unit_rows(50)).steps(0)
    for row in range(2):
        first = int(step.items[row, 0])
        read = step.memory[row][step.memory_valid[row]].tolist()
        assert read == list(range(20, first + 1))[-20:]


def test_several_histories_are_one_clients_where_data_is_pooled():
    config = load("rec/sasrec", ["client.batch=2"]).config
    work = HistoryWork(config, Clock(10, 10), MODEL, n_masks=2, n_items=50)
    histories = [History(np.arange(a, a + 6), 1, 6) for a in (0, 10, 20)]
    pooled = HistoryFeed(work, Task(0, 0, range(1), {}), histories)
    met = [item for step in pooled.steps(0) for item in step.targets[step.valid].tolist()]
    assert sorted(met) == [*range(1, 6), *range(11, 16), *range(21, 26)]
    assert pooled.samples == 15


def test_a_client_tells_the_mean_of_what_it_remembers_as_experts_know_it():
    """Experts know every modality by rows of length 1; side by side they are shorter, where both are known."""
    rows, pictures = unit_rows(50, 6), 4
    rows[3, :pictures] = 0
    alone = [part / np.linalg.norm(part, axis=1, keepdims=True).clip(1e-9) for part in np.split(rows, [pictures], 1)]
    joined = np.concatenate(alone, 1)
    joined /= np.linalg.norm(joined, axis=1, keepdims=True)
    work = {"features": joined, "widths": {"visual": pictures, "text": 2}, "memory": MemoryOptions(), "prototypes": 1}
    client = feed(range(10), **work)
    kept = client.memory()["positions"].numpy()
    assert 3 in kept
    report = client.report()
    with_picture = kept[kept != 3]
    assert report["centres.visual"][0].numpy() == pytest.approx(alone[0][with_picture].mean(0), abs=1e-6)
    assert report["centres.text"][0].numpy() == pytest.approx(alone[1][kept].mean(0), abs=1e-6)
    assert report["weights"].tolist() == [len(kept)]
