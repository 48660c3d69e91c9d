from __future__ import annotations

import pytest

from tests.unit.balance.settle import policy_of, run, settled

SIGMA = {"lr": 0.05, "momentum": 0.9}


@pytest.mark.parametrize(("p", "s"), [(0.0, 1.0), (0.5, 0.5), (0.9, 0.1)])
def test_it_settles_at_the_ratio_over_the_schedule(p, s):
    at = settled(policy_of("uncertainty-annealed"), 2.0, 0.4, p)
    assert at.lam == pytest.approx(2 / (s * 0.4), rel=0.01)
    assert (at.schedule, at.used, at.scale) == pytest.approx((s, s * float(at.lam), 1))


@pytest.mark.parametrize("kind", ["linear", "cosine"])
def test_the_annealing_cancels_itself(kind):
    """λ·s stays where it is while s fades: the learner sees the annealed loss."""
    balance = policy_of("uncertainty-annealed", schedule=kind, sigma=SIGMA)
    said = run(balance, lambda t: 2.0, lambda t: 0.4, lambda t: 0.9 * t, steps=4000)
    assert [said[step].used for step in range(400, 4000, 200)] == pytest.approx([2 / 0.4] * 18, rel=0.01)
    assert said[-1].lam > 9 * said[400].lam
