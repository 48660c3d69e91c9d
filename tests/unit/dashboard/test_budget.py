"""balance(t + Δ) = min(STOCK, balance(t) + SHARE·Δ − cost); a refresh waits for more than 0, at most LONGEST s."""

from __future__ import annotations

import pytest

from equipoise.dashboard import budget as module
from equipoise.dashboard.budget import LONGEST, SHARE, STOCK, Budget


class FakeClocks:
    """The clocks that a budget reads, moved by hand."""

    def __init__(self) -> None:
        self.at = self.thread = 0.0

    def monotonic(self) -> float:
        return self.at

    def thread_time(self) -> float:
        return self.thread


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> FakeClocks:
    made = FakeClocks()
    monkeypatch.setattr(module, "time", made)
    return made


def spend(budget: Budget, clocks: FakeClocks, seconds: float) -> None:
    with budget.spending():
        clocks.thread += seconds


def test_the_share_is_below_one_per_cent_of_a_core() -> None:
    assert 0 < SHARE < 0.01


def test_what_was_saved_is_spent_and_comes_back_at_its_share(clocks: FakeClocks) -> None:
    budget = Budget()
    spend(budget, clocks, STOCK + 10 * SHARE)  # ten seconds' worth more than there was
    assert not budget.may_refresh()
    clocks.at = 9.9
    assert not budget.may_refresh()
    clocks.at = 10.1
    assert budget.may_refresh()


def test_no_more_is_saved_than_the_stock(clocks: FakeClocks) -> None:
    budget = Budget()
    clocks.at = 1e6
    assert budget.may_refresh()
    spend(budget, clocks, STOCK + 1e-6)
    assert not budget.may_refresh()


def test_nobody_waits_longer_than_the_longest_wait(clocks: FakeClocks) -> None:
    budget = Budget()
    spend(budget, clocks, 1000.0)
    clocks.at = LONGEST - 0.1
    assert not budget.may_refresh()
    clocks.at = LONGEST + 0.1
    assert budget.may_refresh()


def test_an_expensive_moment_is_not_held_against_the_rest_of_the_day(clocks: FakeClocks) -> None:
    budget = Budget()
    spend(budget, clocks, 1000.0)
    clocks.at = LONGEST + 0.1
    assert budget.may_refresh()
    clocks.at += LONGEST
    assert budget.may_refresh()
    clocks.at += 1.0
    assert budget.may_refresh()  # the debt that remained is paid


def test_what_fails_was_spent_too(clocks: FakeClocks) -> None:
    budget = Budget()

    def work() -> None:
        clocks.thread += STOCK + 1.0
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), budget.spending():
        work()
    assert not budget.may_refresh()
