"""What learned policies share; their fixed points are beside each one's own file."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from pydantic import ValidationError

from equipoise.balance.entropy import entropy_lam
from equipoise.balance.learned import LearnedOptions, SigmaOptions, Version, learned
from equipoise.config.loader import load
from equipoise.core.registry import BALANCES
from equipoise.core.values import Moment
from tests.unit.balance.settle import COUNTS, frozen, policy_of

LEARNED = [entry.name for entry in BALANCES if entry.make(entry.options()).learning is not None]


def test_who_learns():
    assert set(LEARNED) == {
        "uncertainty", "uncertainty-annealed", "decoupled", "decoupled-data-annealed", "decoupled-floor",
        "decoupled-hinge",
    }  # fmt: skip


def test_both_losses_by_hand_with_the_schedule_in_all_places():
    options = LearnedOptions(sigma=SigmaOptions(start=(0.5, -1.0)))
    policy = learned(options, Version(scheduled=frozenset({"weight", "data", "log"}), is_coupled=True, rescaled=True))
    weighed = policy.weigh(frozen(2.0, 3.0), policy.start(COUNTS), Moment(0.75, COUNTS))
    a, b, s = 0.5, -1.0, 0.25
    scale, lam = exp(-a) / 2, exp(a - b)
    assert weighed.network.item() == pytest.approx(scale * (2 + lam * s * 3))
    assert weighed.policy is not None
    own = 2 / (2 * exp(a)) + s * 3 / (2 * exp(b)) + a / 2 + s * b / 2
    assert weighed.policy.item() == pytest.approx(2 * exp(a) * own)
    assert (weighed.lam, weighed.schedule, weighed.used, weighed.scale) == pytest.approx((lam, s, lam * s, scale))
    assert weighed.seen == pytest.approx({"sigma2/base": exp(a), "sigma2/align": exp(b)})


@pytest.mark.parametrize("name", LEARNED)
def test_a_start_from_entropy(name):
    counts = np.array([4, 2, 0, 2])
    start = policy_of(name, sigma={"start": "entropy"}).start(counts)
    assert start["a"].item() == pytest.approx(log(entropy_lam(counts)))
    assert start["b"].item() == 0


@pytest.mark.parametrize(
    ("name", "lr", "clip", "start"),
    [
        ("uncertainty", 0.05, "joint", (0.0, 0.0)),
        ("uncertainty-annealed", 0.005, "none", (0.0, 0.0)),
        ("decoupled", 0.005, "none", "entropy"),
        ("decoupled-data-annealed", 0.005, "none", "entropy"),
        ("decoupled-floor", 0.005, "none", "entropy"),
        ("decoupled-hinge", 0.005, "none", "entropy"),
    ],
)
def test_defaults_and_that_one_setting_leaves_the_others_alone(name, lr, clip, start):
    for own in ((), ("balance.sigma.momentum=0.5",)):
        sigma = load("etf-align", [f"balance={name}", *own]).config.balance.sigma  # type: ignore[attr-defined]
        assert (sigma.lr, sigma.clip, sigma.start) == (lr, clip, start)
        assert sigma.momentum == (0.5 if own else 0.9)


@pytest.mark.parametrize("key", ["balance.sigma.start=[-1, 0]", "balance={name: v10, sigma: {start: [-1, 0]}}"])
def test_the_remedies_of_the_first_report_are_settings(key):
    given = ["balance=v10", "balance.sigma.lr=0.0005", "balance.sigma.clip=separate", key]
    sigma = load("etf-align", given).config.balance.sigma  # type: ignore[attr-defined]
    assert sigma.start == (-1, 0)


def test_a_start_needs_two_numbers():
    with pytest.raises(ValidationError):
        SigmaOptions(start=(1.0,))  # type: ignore[arg-type]
