"""balance(t + Δ) = min(0.5, balance(t) + 0.01·Δ − cost)."""

from __future__ import annotations

import pytest

from equipoise.dashboard import budget as module
from equipoise.dashboard.budget import SHARE, STOCK, Budget


class FakeClocks:
    """The three clocks that a budget reads, moved by hand."""

    def __init__(self) -> None:
        self.at = self.process = self.thread = 0.0

    def monotonic(self) -> float:
        return self.at

    def process_time(self) -> float:
        return self.process

    def thread_time(self) -> float:
        return self.thread


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> FakeClocks:
    made = FakeClocks()
    monkeypatch.setattr(module, "time", made)
    return made


def test_the_share_is_one_per_cent_of_a_core() -> None:
    assert (SHARE, STOCK) == (0.01, 0.5)


def test_what_was_saved_is_spent_and_comes_back_at_one_per_cent(clocks: FakeClocks) -> None:
    budget = Budget()
    clocks.process = 0.75  # 0.5 − 0.75 = −0.25, which takes 25 s to save
    assert not budget.has_some()
    clocks.at = 24.9
    assert not budget.has_some()
    clocks.at = 25.1
    assert budget.has_some()


def test_no_more_is_saved_than_the_stock(clocks: FakeClocks) -> None:
    budget = Budget()
    clocks.at = 1e6
    assert budget.has_some()
    clocks.process = 0.51
    assert not budget.has_some()


def test_what_somebody_asked_for_is_not_counted(clocks: FakeClocks) -> None:
    budget = Budget()

    def work() -> None:
        clocks.thread += 3.0
        clocks.process += 3.4
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), budget.asked_for():
        work()
    assert budget.has_some()  # 0.4 of 0.5 were spent beside it
    clocks.process += 0.2
    assert not budget.has_some()


def test_what_was_asked_for_is_left_out_once(clocks: FakeClocks) -> None:
    budget = Budget()
    with budget.asked_for():
        clocks.thread, clocks.process = 3.0, 3.0
    assert budget.has_some()
    clocks.process = 3.6
    assert not budget.has_some()


def test_time_that_was_asked_for_and_not_yet_counted_gives_nothing(clocks: FakeClocks) -> None:
    budget = Budget()
    with budget.asked_for():
        clocks.thread = 5.0
    clocks.process = 0.0
    assert budget.has_some()
    clocks.process = 0.6
    assert not budget.has_some()
