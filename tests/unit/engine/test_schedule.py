from __future__ import annotations

import pytest

from equipoise.core.errors import EngineError
from equipoise.core.values import ClientFailure
from equipoise.engine.ray_engine import handful
from equipoise.engine.schedule import Schedule, Turn
from equipoise.engine.settings import ProcessesOptions, RayOptions

from .conftest import a_site, tasks_of


@pytest.fixture
def schedule() -> Schedule:
    """Clients 0, 1 and 2 with 20, 25 and 35 images."""
    return Schedule.of(a_site(), tasks_of(a_site()))


def test_the_largest_cohort_is_given_out_first(schedule):
    assert schedule.sizes == [20, 25, 35]
    assert list(schedule.waiting) == [Turn(2, 0), Turn(1, 0), Turn(0, 0)]
    assert schedule.clients(Turn(1, 0)) == "1"


def test_results_come_in_the_order_of_the_cohorts(schedule):
    def collect(schedule):
        turn = schedule.waiting.popleft()
        schedule.done[turn.place] = lambda: [turn.place]

    assert list(schedule.results(lambda schedule: None, collect)) == [0, 1, 2]


def test_a_lost_cohort_is_the_next_to_be_run_again_until_there_are_no_attempts_left(schedule):
    options = ProcessesOptions(retries=1)
    turn = schedule.waiting.popleft()
    (event,) = schedule.lost(turn, "the worker died", options)
    assert (event.kind, event.message, event.step, event.client) == ("worker-lost", "the worker died; run again", 0, 2)
    assert schedule.waiting[0] == Turn(2, 1)
    with pytest.raises(EngineError, match="the worker died; that was attempt 2") as caught:
        schedule.lost(schedule.waiting.popleft(), "the worker died", options)
    assert caught.value.where == "checkpoint 1"


def test_a_dropped_cohort_is_answered_by_failures(schedule):
    assert schedule.lost(Turn(1, 0), "the worker died", ProcessesOptions(on_death="drop")) == []
    assert schedule.done[1]() == [ClientFailure(1, "worker-lost", "the worker died; dropped")]


def many(n: int = 40) -> Schedule:
    schedule = Schedule.of(a_site(), tasks_of(a_site(), (0,) * n))
    assert schedule.sizes == [20] * n
    return schedule


def test_a_call_has_a_share_of_what_is_left():
    """Forty cohorts, two workers, four calls each: five, then a share of 35, …, and one at last."""
    schedule, calls = many(), []
    while schedule.waiting:
        calls.append(len(handful(schedule, 2, RayOptions())))
    assert calls[:4] == [5, 4, 3, 3]
    assert calls[-8:] == [1] * 8
    assert sum(calls) == 40


@pytest.mark.parametrize("options", [RayOptions(timeout=5), RayOptions(on_death="drop")])
def test_a_cohort_with_a_deadline_or_that_may_be_dropped_goes_alone(options):
    assert handful(many(), 2, options) == [Turn(0, 0)]


def test_what_was_lost_before_goes_alone():
    schedule = many()
    schedule.waiting.appendleft(Turn(7, 1))
    assert handful(schedule, 2, RayOptions()) == [Turn(7, 1)]
    schedule.waiting.insert(2, Turn(7, 1))
    assert len(handful(schedule, 2, RayOptions())) == 2
