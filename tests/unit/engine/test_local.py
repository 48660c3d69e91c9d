from __future__ import annotations

from equipoise.engine.local import Local
from tests.conftest import assert_same_update

from .conftest import a_site, tasks_of


def test_one_client_after_another_in_the_order_of_the_tasks(expected):
    site = a_site()
    engine = Local(site)
    results = list(engine.map(tasks_of(site, (2, 0, 1))))
    assert [result.client for result in results] == [2, 0, 1]
    for result in results:
        assert_same_update(result, expected[result.client])
    assert engine.take_events() == []
    engine.close()


def test_clients_run_only_when_they_are_asked_for():
    site = a_site()
    results = Local(site).map(tasks_of(site, (0, 3)))  # client 3 would fail
    assert next(results).client == 0
