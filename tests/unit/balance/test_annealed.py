from __future__ import annotations

import pytest

from equipoise.balance.annealed import AnnealedOptions, annealed
from equipoise.core.values import Moment
from tests.unit.balance.settle import COUNTS, frozen


@pytest.mark.parametrize(("kind", "s"), [("linear", 0.75), ("cosine", 0.5 + 0.5 * 0.5**0.5), ("none", 1.0)])
def test_the_weight_fades_by_the_schedule(kind, s):
    weighed = annealed(AnnealedOptions(lam=4, schedule=kind)).weigh(frozen(2.0, 6.0), {}, Moment(0.25, COUNTS))
    assert weighed.network.item() == pytest.approx(2 + 4 * s * 6)
    assert (weighed.lam, weighed.scale) == (4, 1)
    assert (weighed.schedule, weighed.used) == pytest.approx((s, 4 * s))


def test_by_default_five_and_linear():
    weighed = annealed(AnnealedOptions()).weigh(frozen(0.0, 1.0), {}, Moment(0.9, COUNTS))
    assert weighed.network.item() == pytest.approx(5 * 0.1)
