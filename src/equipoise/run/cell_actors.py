"""Actors on a Ray cluster in which the cells of a sweep run, each with the engine that its configuration names.

A cell whose worker or machine is lost is run again: it goes on from its last checkpoint if its files are at hand, and
from the beginning otherwise.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections import deque
from itertools import count
from typing import Any

from equipoise.core.errors import ConfigError, EngineError
from equipoise.engine.ray_cluster import joined, leave
from equipoise.engine.ray_crew import Crew, Hand, Ref
from equipoise.engine.ray_worker import versions
from equipoise.engine.settings import RayOptions
from equipoise.run.cell import run_cell
from equipoise.run.cell_processes import Answer


class CellActor:
    """In the actor."""

    def hello(self) -> bytes:
        told = {"versions": versions(), "pid": os.getpid(), "machine": platform.node(), "why": ""}
        return json.dumps(told).encode()

    def run(self, order: bytes) -> bytes:
        return json.dumps(run_cell(json.loads(order))).encode()


class CellActors:
    retries = 2

    def __init__(self, address: str | None, jobs: int | None, location: str) -> None:
        """`location` is the store: a file is not reached from other machines."""
        import ray

        self._ray = ray
        self._jobs = jobs
        self._keys, self._orders = count(), deque[tuple[int, bytes]]()
        self._busy: dict[Ref, tuple[Hand, int]] = {}
        self.options = RayOptions(address=address, workers=jobs, retries=self.retries)
        self._is_ours = joined(self.options)
        self._crew = Crew(self.options, self._actor)
        self._require_one_store(location)

    def _require_one_store(self, location: str) -> None:
        others = [each.name for each in self._crew.machines.values() if each.host != platform.node()]
        if others and "://" not in location:
            what = f"the store {location} is a file of this machine, and cells would run on {', '.join(others)} too"
            self.close()
            raise ConfigError(what, where="--store", fix="a store that all machines reach: --store postgresql://…")

    @property
    def n(self) -> int:
        there = sum(self._crew.places.values())
        return max(1, min(self._jobs or there, there))

    def begin(self, order: bytes) -> int:
        key = next(self._keys)
        self._orders.append((key, order))
        return key

    def answers(self) -> list[Answer]:
        self._give_out()
        refs = [*self._busy, *self._crew.coming]
        ready = self._ray.wait(refs, num_returns=1, timeout=1.0)[0] if refs else []
        if not refs:
            time.sleep(1.0)
        found = []
        for ref in ready:
            if ref in self._busy:
                found.append(self._answer(ref, *self._busy.pop(ref)))
            else:
                self._crew.arrived(ref, None)
        self._crew.look([hand for hand, _ in self._busy.values()], None)
        return found

    def _give_out(self) -> None:
        at_work = [hand for hand, _ in self._busy.values()]
        self._crew.call(min(self.n, len(self._orders) + len(at_work)), at_work)
        while self._orders and self._crew.idle:
            hand, (key, order) = self._crew.idle.pop(), self._orders.popleft()
            self._busy[hand.actor.run.remote(order)] = (hand, key)

    def _answer(self, ref: Ref, hand: Hand, key: int) -> Answer:
        try:
            data = bytes(self._ray.get(ref))
        except self._ray.exceptions.RayTaskError as error:
            raise EngineError(f"a worker failed: {error.cause!r}", where=hand.machine.name) from error
        except self._ray.exceptions.RayError as error:
            self._crew.lost(hand, [each for each, _ in self._busy.values()], None)
            return Answer(key, None, f"its worker on {hand.machine.name} died ({type(error).__name__})")
        self._crew.idle.append(hand)
        return Answer(key, data)

    def _actor(self, place: Any, needs: dict[str, Any]) -> tuple[Any, Ref]:
        make = self._ray.remote(CellActor).options(max_restarts=0, scheduling_strategy=place, **needs)
        actor = make.remote()
        return actor, actor.hello.remote()

    def close(self) -> None:
        for hand, _ in self._busy.values():
            hand.kill()
        self._busy = {}
        self._crew.close()
        if self._is_ours:
            leave()
