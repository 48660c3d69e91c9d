from __future__ import annotations

from dataclasses import dataclass

import pytest

from equipoise.core.values import ClientState, Question, Task
from equipoise.engine.engine import cohorts

SIZES = [30, 10, 20, 40, 10]


@dataclass(frozen=True)
class Sized:
    """A site that knows how many clients train together, and how much each has."""

    together: int

    def samples(self, client: int) -> int:
        return SIZES[client]


def tasks(clients, question: Question | None = None) -> list[Task]:
    return [Task(0, client, range(1), {}, ClientState(), question) for client in clients]


@pytest.mark.parametrize(
    ("together", "clients", "expected"),
    [
        (1, [4, 0, 2], [[0], [1], [2]]),  # in the order of the tasks
        (2, [0, 1, 2, 3, 4], [[3, 0], [2, 1], [4]]),  # 40, 30; 20, 10; 10
        (2, [4, 3, 1], [[1, 0], [2]]),  # places, not clients; of equal size the first task comes first
        (9, [1, 0], [[1, 0]]),
        (3, [], []),
    ],
)
def test_clients_of_like_size_are_together_the_largest_first(together, clients, expected):
    assert cohorts(Sized(together), tasks(clients)) == expected


def test_questions_are_answered_one_by_one_in_their_order():
    assert cohorts(Sized(4), tasks([1, 3, 0], Question("energies", "own"))) == [[0], [1], [2]]
