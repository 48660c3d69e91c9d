"""What is asked of Optuna: the same question gets the same answer, within the ranges, from what is over alone."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from equipoise.core.errors import MissingExtra
from equipoise.run.search.optuna_study import Outcome, importance, is_hopeless, require_optuna, suggested
from equipoise.run.search.plan import SearchPlan

from .conftest import Planned

RANGES = "client.lr: {low: 1e-4, high: 1e-1, log: true}, method: [fedavg, {name: fedprox, mu: 0.1}]"


@pytest.fixture
def plan(planned: Planned) -> SearchPlan:
    return planned(RANGES)


def course(plan: SearchPlan, n: int) -> list[Outcome]:
    """A search in which the score is one minus the distance of the learning rate from 0.01 in decades."""
    from math import log10

    known: list[Outcome] = []
    for _ in range(n):
        settings = suggested(plan, known)
        known.append(Outcome(settings, "done", 1 - abs(log10(settings["client.lr"]) + 2)))
    return known


def test_the_same_knowledge_gives_the_same_settings_and_another_seed_others(plan: SearchPlan) -> None:
    known = course(plan, 14)
    assert suggested(plan, known) == suggested(plan, known)
    other = replace(plan, way=replace(plan.way, search_seed=1))
    assert suggested(other, known) != suggested(plan, known)
    assert len({str(each.settings) for each in known}) == 14


def test_the_sampler_learns_and_the_random_one_does_not(plan: SearchPlan) -> None:
    """After ten trials at random, those of TPE crowd around the optimum."""
    known = course(plan, 40)
    later = sorted(each.score or 0 for each in known[20:])
    blind = replace(plan, way=replace(plan.way, sampler="random"))
    drawn = sorted(each.score or 0 for each in course(blind, 40)[20:])
    assert later[10] > drawn[10]
    assert suggested(blind, known) == suggested(blind, [replace(each, score=0.0) for each in known])


def test_a_trial_that_goes_on_is_known_by_its_settings_only(plan: SearchPlan) -> None:
    known = course(plan, 12)
    pending = [*known, Outcome(suggested(plan, known))]
    assert set(suggested(plan, pending)) == {"client.lr", "method.name"}


def test_failed_and_pruned_trials_count_as_bad(plan: SearchPlan) -> None:
    """Where every trial with fedprox fails, it is seldom drawn again."""
    known: list[Outcome] = []
    for _ in range(40):
        settings = suggested(plan, known)
        is_bad = settings["method.name"] != "fedavg"
        state = ("failed" if len(known) % 2 else "pruned") if is_bad else "done"
        known.append(Outcome(settings, state, None if is_bad else 0.5, {0: 0.1} if state == "pruned" else {}))
    late = [each.settings["method.name"] for each in known[20:]]
    assert late.count("fedavg") > 13


def test_a_curve_below_the_median_is_hopeless_once_there_are_five_rivals() -> None:
    rivals = [{0: 0.1, 1: level} for level in (0.2, 0.3, 0.4, 0.5, 0.6)]
    assert is_hopeless(rivals, {0: 0.1, 1: 0.39})
    assert not is_hopeless(rivals, {0: 0.1, 1: 0.4})
    assert not is_hopeless(rivals, {0: 0.41, 1: 0.1}), "the best so far counts"
    assert not is_hopeless(rivals[:4], {0: 0.0, 1: 0.0})
    assert not is_hopeless(rivals, {0: 0.1, 2: 0.0}), "nobody was scored there"


def test_importance_finds_what_matters(plan: SearchPlan) -> None:
    shares = importance(plan, course(plan, 30))
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["client.lr"] > 0.8


def test_importance_of_nothing_is_not_made_up(plan: SearchPlan) -> None:
    known = course(plan, 6)
    assert importance(plan, known[:3]) == {}
    assert importance(plan, [replace(each, score=0.5) for each in known]) == {}


def test_what_is_drawn_has_few_digits(plan: SearchPlan) -> None:
    for each in course(plan, 10):
        assert float(f"{each.settings['client.lr']:.4g}") == each.settings["client.lr"]


def test_without_optuna_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtra, match=r"equipoise\[search\]") as missing:
        require_optuna()
    assert missing.value.exit_code == 2
