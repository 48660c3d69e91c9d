from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from equipoise.core.values import ClientState, ClientUpdate
from equipoise.server.admit import objection, objections
from tests.conftest import update

LIKE = {"w": torch.zeros(2, 3), "steps": torch.tensor(0)}
GOOD = {"w": torch.ones(2, 3), "steps": torch.tensor(4)}


def test_a_good_update_is_let_in():
    assert objection(update(0, 1, GOOD), LIKE) is None


def test_large_numbers_whose_sum_overflows_are_let_in():
    assert objection(update(0, 1, {**GOOD, "w": torch.full((2, 3), 3e38)}), LIKE) is None


@pytest.mark.parametrize(
    ("model", "samples", "reason"),
    [
        ({"w": GOOD["w"]}, 1, "its tensors are not the model's: missing ['steps'], unexpected []"),
        ({**GOOD, "extra": GOOD["w"]}, 1, "its tensors are not the model's: missing [], unexpected ['extra']"),
        (GOOD, 0, "it reports 0 samples"),
        (GOOD, -3, "it reports -3 samples"),
        ({**GOOD, "w": torch.ones(3, 2)}, 1, "w is torch.float32 (3, 2), expected torch.float32 (2, 3)"),
        ({**GOOD, "w": GOOD["w"].double()}, 1, "w is torch.float64 (2, 3), expected torch.float32 (2, 3)"),
        ({**GOOD, "steps": torch.tensor(4.0)}, 1, "steps is torch.float32 (), expected torch.int64 ()"),
        ({**GOOD, "w": torch.full((2, 3), float("nan"))}, 1, "w has values that are not finite"),
        ({**GOOD, "w": torch.tensor([[0, 0, 0], [0, 0, -float("inf")]])}, 1, "w has values that are not finite"),
    ],
)
def test_why_an_update_is_not_let_in(model, samples, reason):
    assert objection(update(0, samples, model), LIKE) == reason


def test_a_wholly_foreign_model_is_described_in_few_words():
    foreign = {f"x{i}": torch.zeros(1) for i in range(50)}
    assert objection(update(0, 1, foreign), LIKE) == (
        "its tensors are not the model's: missing ['steps', 'w'], unexpected ['x0', 'x1', 'x10']"
    )


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([1], None),
        ([2], "the rows of w are not different whole numbers from 0 to 1"),
        ([-1], "the rows of w are not different whole numbers from 0 to 1"),
        ([0, 1], "w is torch.float32 (1, 3), expected torch.float32 (2, 3)"),
        ([0, 0], "the rows of w are not different whole numbers from 0 to 1"),
    ],
)
def test_rows_of_a_table_must_be_rows_of_it(rows, reason):
    part = replace(update(0, 1, {**GOOD, "w": torch.zeros(1, 3)}), rows={"w": torch.tensor(rows)})
    assert objection(part, LIKE) == reason


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_report_that_is_not_finite_was_merged(bad):
    sent = ClientUpdate(0, 3, {"w": torch.zeros(2)}, ClientState(report={"c": torch.tensor([1.0, bad])}), {})
    assert objection(sent, {"w": torch.zeros(2)}) == "c of its report has values that are not finite"


@pytest.mark.parametrize(
    ("model", "samples"),
    [
        (GOOD, 1),
        (GOOD, 0),
        ({"w": GOOD["w"]}, 1),
        ({**GOOD, "extra": GOOD["w"]}, 1),
        ({**GOOD, "w": torch.ones(3, 2)}, 1),
        ({**GOOD, "w": GOOD["w"].double()}, 1),
        ({**GOOD, "w": torch.full((2, 3), float("nan"))}, 1),
        ({**GOOD, "w": torch.full((2, 3), 3e38)}, 1),
        ({**GOOD, "steps": torch.tensor(4.0)}, 1),
    ],
)
def test_updates_that_are_checked_together_get_the_same_answers(model, samples):
    updates = [update(0, 1, GOOD), update(1, samples, model), update(2, 1, GOOD)]
    assert objections(updates, LIKE) == [objection(one, LIKE) for one in updates]


def test_rows_of_a_table_are_checked_when_others_send_it_whole():
    held = replace(update(1, 1, {**GOOD, "w": torch.zeros(2, 3)}), rows={"w": torch.tensor([0, 0])})
    assert objections([update(0, 1, GOOD), held], LIKE)[1] is not None


def test_nobody_has_no_objections():
    assert objections([], LIKE) == []
