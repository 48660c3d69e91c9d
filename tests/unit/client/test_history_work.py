"""Several clients side by side: their progress, their steps, the masks of dropout."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from .feeds import feed


def test_progress_is_that_of_the_whole_run_and_shorter_clients_leave_from_the_end():
    long, short = feed(range(20, 40), epochs=range(3, 4)), feed(range(20, 27), epochs=range(3, 4))
    assert (long.n_steps, short.n_steps) == (3, 1)
    steps = list(long.work.steps([long, short], 3))
    assert [step.progress.tolist() for step in steps] == [
        pytest.approx([0.3, 0.3]), pytest.approx([0.3 + 0.1 / 3]), pytest.approx([0.3 + 0.2 / 3])
    ]  # fmt: skip
    assert [step.numbers.tolist() for step in steps] == [[9, 3], [10], [11]]
    assert {step.epoch for step in steps} == {3}


def test_windows_of_several_clients_stand_along_one_axis():
    long, short = feed(range(20, 40)), feed(range(20, 27))
    first, *rest = long.work.steps([long, short], 0)
    assert first.batch.items.shape == (2, 2, 4)
    assert all(step.batch.items.shape[0] == 1 for step in rest)
    assert torch.equal(first.batch.items[0], next(iter(long.steps(0))).items)


def test_a_model_without_dropout_has_no_masks():
    work = feed(range(20, 30)).work
    noise = torch.Generator().manual_seed(0)
    assert work.dropout_masks(noise).shape == (2, 2, 4, 3)  # masks, windows, positions, width
    still = replace(work, model=work.model.model_copy(update={"dropout": 0.0}))
    assert still.dropout_masks(noise).numel() == 0
