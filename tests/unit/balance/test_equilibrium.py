from __future__ import annotations

from math import exp, inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.balance.equilibrium import EquilibriumOptions, equilibrium
from equipoise.core.values import Moment
from tests.unit.balance.settle import COUNTS, frozen, policy_of, run

loss = st.floats(0, 2.0**100, width=32)


def test_running_means_by_hand():
    policy = equilibrium(EquilibriumOptions(memory=0.5))
    first = policy.weigh(frozen(6.0, 2.0), policy.start(COUNTS), Moment(0.0, COUNTS))
    assert (first.lam, first.used, first.scale) == pytest.approx((3, 3, 1))
    second = policy.weigh(frozen(2.0, 4.0), first.remembered, Moment(0.5, COUNTS))
    # weights ½ and ¼: (¼·6 + ½·2) / (¼·2 + ½·4)
    assert second.lam == pytest.approx((6 / 4 + 2 / 2) / (2 / 4 + 4 / 2))
    assert second.network.item() == pytest.approx(2 + second.lam * 4)


@pytest.mark.parametrize(("kind", "s"), [("none", lambda p: 1.0), ("linear", lambda p: 1 - p)])
def test_it_tracks_the_fixed_point_of_slowly_varying_losses(kind, s):
    def base(t: float) -> float:
        return 3 * exp(-t)

    def align(t: float) -> float:
        return 0.9 * exp(-2 * t)

    said = run(policy_of("equilibrium", schedule=kind), base, align, lambda t: 0.9 * t, steps=2000)
    for step in range(100, 2000, 50):
        t = step / 2000
        assert said[step].lam == pytest.approx(s(0.9 * t) * base(t) / align(t), rel=0.02)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(loss, loss, st.floats(0, 1, exclude_max=True)), min_size=1, max_size=12))
def test_it_stays_inside_its_bounds_whatever_the_losses(given_):
    policy = equilibrium(EquilibriumOptions(schedule="cosine"))
    state = policy.start(COUNTS)
    for base, align, progress in given_:
        weighed = policy.weigh(frozen(base, align), state, Moment(progress, COUNTS))
        assert 0.1 <= weighed.lam <= 50
        assert weighed.seen["lam/at_min"] == (weighed.lam == 0.1)
        assert weighed.seen["lam/at_max"] == (weighed.lam == 50)
        state = weighed.remembered


@pytest.mark.parametrize(
    ("base", "align", "lam", "at"), [(1e-9, 1.0, 0.1, "min"), (1.0, 0.0, 50, "max"), (2.0, 1.0, 2, "")]
)
def test_the_share_of_steps_at_each_bound_is_recorded(base, align, lam, at):
    policy = equilibrium(EquilibriumOptions())
    weighed = policy.weigh(frozen(base, align), policy.start(COUNTS), Moment(0.0, COUNTS))
    assert weighed.lam == pytest.approx(lam)
    assert weighed.seen == {"lam/at_min": float(at == "min"), "lam/at_max": float(at == "max")}


def test_a_loss_that_is_not_a_number_is_not_hidden():
    policy = equilibrium(EquilibriumOptions())
    weighed = policy.weigh(frozen(float("nan"), 1.0), policy.start(COUNTS), Moment(0.0, COUNTS))
    assert not abs(weighed.network.item()) < inf
