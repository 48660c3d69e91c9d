from __future__ import annotations

import pytest

from tests.unit.balance.settle import policy_of, settled


@pytest.mark.parametrize(("p", "s"), [(0.0, 1.0), (0.5, 0.5), (0.9, 0.1)])
def test_it_settles_at_the_ratio_over_the_schedule_and_all_of_it_is_used(p, s):
    at = settled(policy_of("decoupled-data-annealed"), 2.0, 0.4, p)
    assert at.lam == pytest.approx(2 / (s * 0.4), rel=0.01)
    assert at.used == at.lam
    assert at.network.item() == pytest.approx(2 + at.lam * 0.4)
