"""Clients along one axis or one by one, on the device of this machine."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from equipoise.bench import device, measure, together
from equipoise.bench.job import make_job
from equipoise.bench.race import settings
from equipoise.bench.surroundings import surroundings
from equipoise.core.device import Device, resolved
from tests.sim.fixtures import sim

__all__ = ["sim"]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """32 clients are the fewest of which a CPU may train several together, and a device fits all."""
    monkeypatch.setattr(together, "CLIENTS", 32)
    monkeypatch.setattr(device, "NETWORKS", ("logistic",))


def test_its_networks_are_cases_of_the_cost_model(monkeypatch):
    monkeypatch.undo()
    assert set(device.NETWORKS) <= together.CASES.keys()


def test_both_paths_are_timed_where_auto_is():
    (result,) = device.run(1)
    assert (result.name, str(result.goal), result.is_alike) == ("device/logistic", "≥ 1", True)
    assert result.what.startswith(f"32 clients of logistic on {resolved('auto')} (")
    assert result.what.endswith(": together was chosen, against apart")


def test_both_paths_are_timed_on_an_accelerator(sim):
    (result,) = device.run(1)
    assert result.is_alike
    assert result.what.startswith("32 clients of logistic on sim (")


def test_clients_that_stay_apart_are_timed_against_a_quarter_of_them_together(monkeypatch):
    monkeypatch.setattr("equipoise.kind.samples.site.how_many", lambda *_: 1)
    result = together.chosen_path("together", "logistic", Device(), 1)
    assert (result.name, result.is_alike) == ("together/logistic", True)
    assert " on cpu (" in result.what
    assert result.what.endswith(": apart was chosen, against together")


def test_the_device_has_finished_before_a_clock_is_read(monkeypatch):
    heard: list[str] = []
    monkeypatch.setattr(Device, "wait", lambda self: heard.append("wait"))
    clock = SimpleNamespace(perf_counter=lambda: heard.append("clock") or len(heard), sleep=lambda _: None)
    monkeypatch.setattr(measure, "time", clock)
    together.chosen_path("device", "logistic", Device(), 1)
    assert heard == ["clock", "wait", "clock"] * 4  # two sides, a warm-up and a turn


def test_other_jobs_are_on_the_cpu_as_their_other_sides_are(sim):
    assert resolved("auto") == "sim"
    assert make_job(settings({"name": "mlp"}, 2), (3, 8, 8), [4, 4]).site.device.is_cpu


def test_the_device_is_kept_with_every_result(sim):
    assert surroundings.__wrapped__()["device"].startswith("sim (")
