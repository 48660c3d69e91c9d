"""Ray clusters on this machine, with ports and folders of their own; only what was started here is killed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from equipoise.engine.ray_cluster import joined, leave
from equipoise.engine.ray_engine import Ray
from equipoise.engine.settings import RayOptions
from tests.unit.engine.conftest import a_site, expected

__all__ = ["expected"]

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder needs Ray, and is left out unless it is asked for."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.ray)
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))  # Ray leaves its files open


class Machines:
    """A cluster of several machines, which all are this one."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 2, "include_dashboard": False, "object_store_memory": 150 * 2**20}
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self.address = self.cluster.address

    def add(self, processors: int = 1):
        node = self.cluster.add_node(num_cpus=processors, object_store_memory=100 * 2**20)
        self.cluster.wait_for_nodes()
        return node

    def kill(self, node) -> None:
        """SIGKILL to every process of a machine, as if its power failed."""
        self.cluster.remove_node(node, allow_graceful=False)


@pytest.fixture(scope="session")
def machines() -> Iterator[Machines]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    found = Machines()
    joined(RayOptions(address=found.address))  # once for all tests: it takes seconds
    yield found
    leave()
    found.cluster.shutdown()


@pytest.fixture(scope="session", autouse=True)
def own_cluster(machines: Machines) -> Iterator[None]:
    """`auto` means the cluster of these tests, whatever else is on this machine."""
    os.environ["RAY_ADDRESS"] = machines.address
    yield
    del os.environ["RAY_ADDRESS"]


@pytest.fixture
def engine_of(machines: Machines):
    engines = []

    def make(*overrides: str) -> Ray:
        engines.append(Ray(a_site("engine=ray", f"engine.address={machines.address}", *overrides)))
        return engines[-1]

    yield make
    for engine in engines:
        engine.close()
