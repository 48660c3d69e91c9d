from __future__ import annotations

import numpy as np
import pytest
import torch
from pydantic import ValidationError

from equipoise.balance.constant import ConstantOptions, constant
from equipoise.core.values import Losses, Moment

COUNTS = np.array([3, 4])


def losses(base: float, align: float | None) -> Losses:
    return Losses(torch.tensor(base), None if align is None else torch.tensor(align), {}, torch.tensor(0.0))


@pytest.mark.parametrize("progress", [0.0, 0.5, 0.999])
def test_the_formula_at_any_time(progress):
    weighed = constant(ConstantOptions(lam=0.25)).weigh(losses(2.0, 6.0), {}, Moment(progress, COUNTS))
    assert weighed.network.item() == 2 + 0.25 * 6
    assert weighed.policy is None
    assert (weighed.lam, weighed.schedule, weighed.used, weighed.scale) == (0.25, 1.0, 0.25, 1.0)


def test_a_weight_of_nothing_is_base():
    assert constant(ConstantOptions(lam=0)).weigh(losses(2.0, 6.0), {}, Moment(0.0, COUNTS)).network.item() == 2


def test_it_needs_something_to_weigh():
    with pytest.raises(AssertionError, match="needs an alignment term"):
        constant(ConstantOptions()).weigh(losses(2.0, None), {}, Moment(0.0, COUNTS))


def test_a_negative_weight_is_refused():
    with pytest.raises(ValidationError):
        ConstantOptions(lam=-1)


def test_a_client_keeps_nothing():
    assert constant(ConstantOptions()).start(COUNTS) == {}
