"""The workers on a Ray cluster: which machine has how many, which have answered, and which are gone.

    machines of the cluster → places → actors, each bound to its machine → coming → idle ⇄ busy

We place the actors, not Ray: an actor bound to a machine never waits for one that is gone, and a machine that joins is
seen. A machine on which a node cannot be opened is refused, with the reason; it is given nothing any more.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from equipoise.core.errors import EngineError
from equipoise.core.values import Event
from equipoise.engine.ray_cluster import Machine, gpus, machines
from equipoise.engine.ray_worker import versions
from equipoise.engine.settings import RayOptions

Ref: TypeAlias = Any
LOOK_EVERY = 1.0
"""Seconds between two looks at which machines there are."""
LATE = 30.0
"""Seconds after which a worker that has not answered is not counted on, so that another machine may have its work."""


@dataclass(eq=False)
class Hand:
    """An actor, the machine that it is bound to, and its process once it has answered."""

    actor: Any
    machine: Machine
    pid: int = 0
    since: float = field(default_factory=time.monotonic)

    @property
    def is_late(self) -> bool:
        """Whether its machine seems to have no processor free for it."""
        return not self.pid and time.monotonic() - self.since > LATE

    def kill(self) -> None:
        import ray

        ray.kill(self.actor)


class Crew:
    def __init__(self, options: RayOptions, make: Callable[[Any, dict[str, Any]], tuple[Any, Ref]]) -> None:
        """`make(place, needs)` makes an actor, and asks it for its first answer."""
        self.options, self._make = options, make
        self.machines = machines(options)
        self.idle: list[Hand] = []
        self.coming: dict[Ref, Hand] = {}
        self.refused: dict[str, str] = {}
        self._gone: set[str] = set()
        """Machines that do not answer us, and that Ray may still list."""
        self._used: set[str] = set()
        """Machines that workers were made on; Ray may list others that went before this run began."""
        self.events: list[Event] = []
        self._deaths: Counter[str] = Counter()
        self._looked = time.monotonic()

    @property
    def places(self) -> dict[str, int]:
        return {key: each.places for key, each in self.machines.items() if key not in self.refused}

    def lost(self, hand: Hand, at_work: Sequence[Hand], step: int | None) -> None:
        """A worker is lost: see at once whether its machine is."""
        hand.kill()
        self._looked = 0.0
        self.look([hand, *at_work], step)

    def look(self, at_work: Sequence[Hand], step: int | None) -> None:
        """See which machines have come and gone. Workers that have no work on a lost one are forgotten.

        A driver at ray:// cannot ask the machines, and waits for Ray to tell.
        """
        if time.monotonic() - self._looked < LOOK_EVERY:
            return
        ours = {hand.machine for hand in (*self.idle, *self.coming.values(), *at_work)}
        if not str(self.options.address).startswith("ray://"):
            self._gone |= {each.key for each in ours if each.key not in self._gone and not each.is_there()}
        now = {key: each for key, each in machines(self.options).items() if key not in self._gone}
        self._looked = time.monotonic()
        for key in (self.machines.keys() - now.keys()) & self._used:
            n = sum(hand.machine.key == key for hand in (*self.idle, *self.coming.values(), *at_work))
            text = f"machine {self.machines[key].name} is gone, and {n} workers with it"
            self.events.append(Event("machine-lost", text, step, detail={"machine": self.machines[key].name}))
        for key in now.keys() - self.machines.keys():
            text = f"machine {now[key].name} has joined: {now[key].places} more workers"
            self.events.append(Event("machine-joined", text, step, detail={"machine": now[key].name}))
        self.machines = now
        self.idle = [hand for hand in self.idle if hand.machine.key in now]
        self.coming = {ref: hand for ref, hand in self.coming.items() if hand.machine.key in now}

    def call(self, wanted: int, at_work: Sequence[Hand]) -> None:
        """Have so many workers in all, as far as there are places; new ones go where most places are free."""
        there = [*self.idle, *self.coming.values(), *at_work]
        taken = Counter(hand.machine.key for hand in there)
        free = {key: n - taken[key] for key, n in self.places.items() if n > taken[key]}
        for _ in range(wanted - sum(not hand.is_late for hand in there)):
            key = max(free, key=lambda key: free[key], default="")
            if not free.get(key):
                break
            free[key] -= 1
            actor, first = self._make(self._bound_to(key), self._needs())
            self.coming[first] = Hand(actor, self.machines[key])
            self._used.add(key)

    def _bound_to(self, key: str) -> Any:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        return NodeAffinitySchedulingStrategy(key, soft=False)

    def _needs(self) -> dict[str, Any]:
        return {"num_cpus": self.options.threads, "num_gpus": gpus(self.options) or None}

    def arrived(self, ref: Ref, step: int | None) -> None:
        """Read a worker's first answer: it is idle from now on, or its machine is refused."""
        import ray

        hand = self.coming.pop(ref)
        try:
            told = json.loads(bytes(ray.get(ref)))
        except ray.exceptions.RayError as error:
            self._died(hand, error, step)
            return
        ours, theirs, why = versions(), told["versions"], told["why"]
        if theirs != ours:
            differ = [f"{name} {theirs[name]}, not {ours[name]}" for name in ours if theirs[name] != ours[name]]
            why = f"it has {', '.join(differ)}"
        if why:
            self._refuse(hand, why, step)
        else:
            self._deaths[hand.machine.key] = 0
            hand.pid = told["pid"]
            self.idle.append(hand)

    def _died(self, hand: Hand, error: Exception, step: int | None) -> None:
        """A worker died before its first answer: another one is made, but not for ever."""
        key = hand.machine.key
        self.lost(hand, [], step)
        self._deaths[key] += 1
        if self._deaths[key] > self.options.retries and key in self.machines:
            last = [line.strip() for line in str(error).splitlines() if line.strip()][-1:]
            self._refuse(hand, f"workers die there before they have begun: {' '.join(last)}", step)

    def _refuse(self, hand: Hand, why: str, step: int | None) -> None:
        hand.kill()
        machine = hand.machine
        if machine.key not in self.refused:
            self.refused[machine.key] = why
            text = f"machine {machine.name} is given no work: {why}"
            self.events.append(Event("machine-refused", text, step, detail={"machine": machine.name}))
        self.require_unrefused()

    def require_unrefused(self) -> None:
        """The run fails if every machine that is left was refused."""
        left = {key: why for key, why in self.refused.items() if key in self.machines}
        if left and not any(self.places.values()):
            key, why = next(iter(left.items()))
            what = f"no worker can start on {self.machines[key].name}: {why}"
            raise EngineError(what, where="engine.address", fix=FIX)

    def require_places(self) -> None:
        if not any(self.places.values()):
            gpu = f" and {gpus(self.options):g} GPUs" if gpus(self.options) else ""
            what = f"no machine of the Ray cluster has {self.options.threads} processors{gpu} for a worker"
            raise EngineError(what, where="engine.address", fix="add a machine, then resume the run")

    def close(self) -> None:
        for hand in [*self.idle, *self.coming.values()]:
            hand.kill()
        self.idle, self.coming = [], {}


FIX = "the same packages on every machine: pip install 'equipoise[ray]', then resume the run"
