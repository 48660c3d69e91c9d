from __future__ import annotations

import pytest

from equipoise.balance.adaptive import AdaptiveOptions, adaptive
from equipoise.core.values import Moment
from tests.unit.balance.settle import COUNTS, frozen

NOW = Moment(0.5, COUNTS)


def weights(losses: list[float], **options: float) -> list[float]:
    policy = adaptive(AdaptiveOptions(**options))
    state, found = policy.start(COUNTS), []
    for base in losses:
        weighed = policy.weigh(frozen(base, 1.0), state, NOW)
        assert weighed.network.item() == pytest.approx(base + weighed.used)
        state, found = weighed.remembered, [*found, weighed.lam]
    return found


def test_low_while_the_local_loss_is_high():
    # EMA: 8, ½·8 + ½·4 = 6, ½·6 + ½·2 = 4; learned 0, ¼, ½
    assert weights([8.0, 4.0, 2.0], first=0.1, last=1.0, memory=0.5) == pytest.approx([0.1, 0.325, 0.55])


def test_a_loss_above_the_first_keeps_the_first_weight():
    assert weights([1.0, 9.0, 100.0]) == pytest.approx([0.1] * 3)


def test_a_loss_that_is_gone_gives_the_last_weight():
    assert weights([5.0, 0.0], memory=0.0) == pytest.approx([0.1, 1.0])
