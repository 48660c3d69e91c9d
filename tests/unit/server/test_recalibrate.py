from __future__ import annotations

from math import log

import pytest
import torch

from equipoise.server.predict import Merged
from equipoise.server.recalibrate import recalibrated_average

from .scenes import RECALIBRATED, client, flat, view


def test_the_recalibrated_merged_model_answers_not_the_merged_one_nor_a_client():
    merged = {
        "asked.logits": torch.tensor([[9.0, 0.0]]),
        f"{RECALIBRATED}asked.logits": torch.tensor([[0.0, log(3)]]),
    }
    found = recalibrated_average(view(), Merged(merged, [client(0, [1, 1], asked_logits=[[5.0, 0.0]])]))
    assert flat(found) == pytest.approx([1 / 4, 3 / 4])
