from __future__ import annotations

from math import exp

import pytest

from tests.unit.balance.settle import policy_of, run, settled


@pytest.mark.parametrize(("p", "s"), [(0.0, 1.0), (0.75, 0.25)])
def test_it_settles_at_the_ratio_and_the_network_sees_it_annealed(p, s):
    at = settled(policy_of("decoupled"), 2.0, 0.4, p)
    assert at.lam == pytest.approx(2 / 0.4, rel=0.01)
    assert at.network.item() == pytest.approx(2 + s * 5 * 0.4, rel=0.01)
    assert (at.schedule, at.used, at.scale) == pytest.approx((s, s * float(at.lam), 1))


def test_it_runs_away_when_alignment_succeeds():
    said = run(policy_of("decoupled"), lambda t: 2.0, lambda t: exp(-12 * t), lambda t: 0.0, steps=3000)
    lams = [said[step].lam for step in range(300, 3000, 300)]
    assert lams == sorted(lams)
    assert said[-1].lam > 1e4
