from __future__ import annotations

import pytest

from equipoise.balance.curriculum import CurriculumOptions, curriculum
from equipoise.core.values import Moment
from tests.unit.balance.settle import COUNTS, frozen


@pytest.mark.parametrize(("progress", "w"), [(0.0, 0.1), (0.5, 0.55), (0.9, 0.91)])
def test_the_weight_grows_with_the_run(progress, w):
    weighed = curriculum(CurriculumOptions()).weigh(frozen(2.0, 3.0), {}, Moment(progress, COUNTS))
    assert weighed.network.item() == pytest.approx(2 + w * 3)
    assert (weighed.lam, weighed.used, weighed.schedule, weighed.scale) == pytest.approx((w, w, 1, 1))
