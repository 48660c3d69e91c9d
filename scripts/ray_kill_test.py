"""Kill workers and whole machines of a Ray cluster at random instants, and compare every number to the last bit.

    python scripts/ray_kill_test.py --times 20 --kill worker machine

A cluster of three machines, which all are this one: the head without processors, and two with one each. Every trial is
a whole run with `engine=ray` in which one worker process, or all processes of one machine, get SIGKILL. A machine that
was killed is replaced by another before the next trial. A trial must end within the deadline.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import statistics
import sys
import threading
import time
from typing import Any

from equipoise.core.values import Event
from equipoise.engine.ray_cluster import leave
from equipoise.engine.ray_engine import Ray
from equipoise.run.build import Federation, build
from equipoise.run.loop import federate, first_snapshot
from equipoise.testing.small import nobody, numbers, records, tiny

ROUNDS, DEADLINE = 6, 120.0
SETTINGS = ("method=fedavgm", f"rounds={ROUNDS}", "client.epochs=40", "partition.clients=6", "server.fraction=1.0")


class Cluster:
    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": 150 * 2**20}
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self.nodes = [self.added(), self.added()]

    def added(self) -> Any:
        return self.cluster.add_node(num_cpus=1, object_store_memory=100 * 2**20)

    def kill_machine(self, draw: random.Random) -> None:
        node = draw.choice(self.nodes)
        self.nodes.remove(node)
        self.cluster.remove_node(node, allow_graceful=False)

    def complete(self) -> None:
        """Another machine in place of the one that was killed."""
        while len(self.nodes) < 2:
            self.nodes.append(self.added())


def kill_worker(engine: Ray, draw: random.Random) -> None:
    if pids := engine.pids():
        os.kill(draw.choice(pids), signal.SIGKILL)


def trial(federation: Federation, engine: Ray, blow: Any, delay: float) -> tuple[Any, list[Event], float]:
    """The numbers of a run in which something was killed, the events, and the seconds it took."""
    began = time.monotonic()
    timer = threading.Timer(delay, blow)
    timer.start()
    found, events = [], []
    for record in federate(federation, engine, first_snapshot(federation), 0, nobody):
        found.append(record)
        events += record.events
    timer.join()
    return numbers(found), events, time.monotonic() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--kill", nargs="+", choices=["worker", "machine"], default=["worker", "machine"])
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    draw, cluster = random.Random(options.seed), Cluster()
    expected = numbers(records(tiny(*SETTINGS)))
    federation = build(tiny(*SETTINGS, "engine=ray", f"engine.address={cluster.cluster.address}", "engine.retries=3"))
    engine = Ray(federation.site)
    trial(federation, engine, lambda: None, 0.0)  # starts the workers
    found, _, lifetime = trial(federation, engine, lambda: None, 0.0)
    print(f"undisturbed: {lifetime:.1f} s, {'equal' if found == expected else 'DIFFERENT'}", flush=True)
    wrong = 0
    for kind in options.kill:
        blow = {"worker": lambda: kill_worker(engine, draw), "machine": lambda: cluster.kill_machine(draw)}[kind]
        seconds, told = [], 0
        for number in range(options.times):
            delay = draw.uniform(0, lifetime)
            found, events, spent = trial(federation, engine, blow, delay)
            cluster.complete()
            is_right = found == expected and spent < DEADLINE
            wrong += not is_right
            kinds = sorted({event.kind for event in events})
            told += f"{kind}-lost" in kinds
            seconds.append(spent)
            how = "equal" if found == expected else "DIFFERENT"
            print(
                f"{number + 1:3}. {kind} killed at {delay:.1f} s: {how}, {spent:.1f} s, {', '.join(kinds)}", flush=True
            )
        middle = statistics.median(seconds)
        print(
            f"{kind}: {told} of {options.times} told in the same run; median {middle:.1f} s, most {max(seconds):.1f} s"
        )
    engine.close()
    leave()
    cluster.cluster.shutdown()
    n = options.times * len(options.kill)
    print(f"{n - wrong} of {n} runs are equal to the last bit and in time")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
