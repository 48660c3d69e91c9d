"""The limit of a round: bare processes, each with its share of the clients."""

from __future__ import annotations

import json

import pytest
import torch

from equipoise.bench import bare, cohort
from equipoise.bench.job import BenchmarkJob, make_job
from equipoise.bench.plain import PlainLoop, plain
from equipoise.bench.race import Contest, settings
from equipoise.core.errors import EngineError
from equipoise.engine.wire import Child

SIZES = [10, 7, 12]


def small() -> BenchmarkJob:
    given = {**settings({"name": "mlp", "hidden": 4}, 3), "engine": {"name": "local"}}
    return make_job(given, (3, 8, 8), SIZES, n_classes=5)


def test_another_process_makes_the_same_job_of_the_request():
    job = small()
    again = make_job(**json.loads(json.dumps(bare.request(job))))
    assert again.config == job.config
    assert [len(again.data(client)[1]) for client in range(3)] == SIZES
    for client in range(3):
        assert torch.equal(again.data(client)[0], job.data(client)[0])
        assert [order.tolist() for order in again.orders(client)] == [order.tolist() for order in job.orders(client)]
    assert all(torch.equal(again.start[name], tensor) for name, tensor in job.start.items())


def test_shares_of_the_clients_come_to_what_one_loop_comes_to():
    job, total = small(), sum(SIZES)
    merged = {name: torch.zeros_like(tensor) for name, tensor in job.start.items()}
    for share in range(2):
        for model, n in PlainLoop(job, range(share, 3, 2))():
            for name, tensor in model.state_dict().items():
                merged[name] += n / total * tensor
    whole = plain(job)()
    assert all(torch.allclose(merged[name], tensor, atol=1e-6) for name, tensor in whole.items())


def test_cohort_notes_the_limit_that_was_timed_by_turns_with_the_others(monkeypatch):
    monkeypatch.setattr(bare, "cores", lambda: 2)
    monkeypatch.setattr(cohort, "contests", lambda: [Contest("cohort", "three clients", small(), goal=1.0)])
    (result,) = cohort.run(1)
    assert (result.name, result.is_alike) == ("cohort/plain", True)
    assert result.note.startswith(f"limit: 2 bare processes, channels-last {result.limit:.3g}×; ")
    assert "forward" in result.note
    assert result.to_json()["limit"] == result.limit


def test_a_bare_process_that_is_gone_is_an_error(monkeypatch):
    children: list[Child] = []

    def started(module: str) -> Child:
        children.append(Child(module))
        return children[-1]

    monkeypatch.setattr(bare, "Child", started)
    job = small()
    with bare.bare_processes(job, 1) as limit:
        (one_round,) = limit.values()
        assert one_round() is job.start  # nothing is merged
        children[0].process.kill()
        with pytest.raises(EngineError, match="bare process 1 of 1 ended with exit code -9"):
            one_round()
    assert children[0].process.poll() is not None
