"""Uses the machines of a Ray cluster: actors hold a node each, and tasks go to those that have answered.

The server's broadcast goes up once a step by reference, and small cohorts go several to a call. What a lost worker or
machine had is run again or dropped, as `on_death` says: recovery is ours, so that each loss is an event.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from equipoise.core.codec import decode, encode
from equipoise.core.errors import EngineError
from equipoise.core.stopwatch import WATCH, WORKERS
from equipoise.core.values import Event, Result, Task
from equipoise.engine.messages import events_of, results_of, tasks_message
from equipoise.engine.ray_cluster import gone, joined, leave, worker_device
from equipoise.engine.ray_crew import LOOK_EVERY, Crew, Hand, Ref
from equipoise.engine.ray_data import Sent, sent
from equipoise.engine.ray_worker import RayWorker, versions
from equipoise.engine.schedule import Schedule, Turn
from equipoise.engine.settings import RayOptions
from equipoise.kind.site import Site

CALLS = 4
"""Calls that each worker would get if all of the samples left were shared out now."""
PATIENCE = 300.0
"""Seconds to wait for a first worker where engine.timeout says nothing."""


@dataclass(frozen=True)
class Call:
    """A working actor, its cohorts, and the deadline."""

    hand: Hand
    turns: list[Turn]
    deadline: float


class Ray:
    def __init__(self, site: Site) -> None:
        import ray

        options = site.config.engine
        assert isinstance(options, RayOptions)
        self.options, self._site, self._ray = options, site, ray
        self._is_ours = joined(options, sum(array.nbytes for array in site.shared()[0].values()))
        self._sent: Sent | None = sent(site, options.data_folder)
        self._order = {
            "versions": versions(), "device": worker_device(options), "is_profiled": WATCH.is_on,
            "path": self._sent.path,
        }  # fmt: skip
        self._crew = Crew(options, self._actor)
        self._busy: dict[Ref, Call] = {}
        self._events: list[Event] = []
        self._shared: Ref = None
        self._alone_since = time.monotonic()

    @property
    def n_workers(self) -> int:
        """As many as there are places now, unless fewer are asked for."""
        there = sum(self._crew.places.values())
        return min(self.options.workers or there, there, self._site.n_clients)

    def map(self, tasks: Sequence[Task]) -> Iterator[Result]:
        """Workers start at once. Work on earlier tasks that is still going on is abandoned."""
        self._abandon()
        schedule = Schedule.of(self._site, tasks)
        if tasks:
            self._shared = self._ray.put(np.frombuffer(encode({}, tasks[0].shared), np.uint8))
            self._alone_since = time.monotonic()
            self._crew.look([], schedule.step)
            self._crew.require_places()
            self._give_out(schedule)
        return schedule.results(self._give_out, self._collect)

    def take_events(self) -> list[Event]:
        events, self._events, self._crew.events = [*self._events, *self._crew.events], [], []
        return events

    def close(self) -> None:
        if self._sent is None:
            return
        self._abandon()
        self._crew.close()
        self._sent.close()
        self._sent = self._shared = None
        if self._is_ours:
            leave()

    def pids(self) -> list[int]:
        """Processes of the workers that have answered."""
        return [hand.pid for hand in (*self._crew.idle, *(busy.hand for busy in self._busy.values()))]

    def _actor(self, place: Any, needs: dict[str, Any]) -> tuple[Any, Ref]:
        assert self._sent is not None
        make = self._ray.remote(RayWorker).options(
            max_restarts=0, max_task_retries=0, scheduling_strategy=place, **needs
        )
        actor = make.remote(json.dumps(self._order).encode())
        return actor, actor.hello.remote(self._sent.layout, self._sent.ref)

    def _give_out(self, schedule: Schedule) -> None:
        """Give cohorts to workers that have answered; one that has not is waited for, not counted on."""
        if not schedule.waiting:
            return
        at_work = [busy.hand for busy in self._busy.values()]
        self._crew.call(min(self.n_workers, len(schedule.waiting) + len(at_work)), at_work)
        while schedule.waiting and self._crew.idle:
            hand, turns = self._crew.idle.pop(), handful(schedule, self.n_workers, self.options)
            cohorts = [encode(*tasks_message(schedule.groups[turn.place])) for turn in turns]
            deadline = time.monotonic() + (self.options.timeout or float("inf"))
            self._busy[hand.actor.answer.remote(cohorts, self._shared)] = Call(hand, turns, deadline)

    def _collect(self, schedule: Schedule) -> None:
        """Wait for one or more workers: a first answer, an answer, a death, a deadline; or a look at the machines."""
        first = min((busy.deadline for busy in self._busy.values()), default=float("inf"))
        wait = max(0.0, min(LOOK_EVERY, first - time.monotonic()))
        refs = [*self._busy, *self._crew.coming]
        try:
            ready = self._ray.wait(refs, num_returns=1, timeout=wait)[0] if refs else []
        except ConnectionError as error:
            raise gone(error) from error
        if not refs:
            time.sleep(wait)
        WATCH.lap("idle")
        for ref in ready:
            if ref in self._busy:
                self._read(self._busy.pop(ref), ref, schedule)
            else:
                self._crew.arrived(ref, schedule.step)
        self._crew.look([busy.hand for busy in self._busy.values()], schedule.step)
        for ref, busy in list(self._busy.items()):
            is_gone = busy.hand.machine.key not in self._crew.machines
            if is_gone or busy.deadline <= time.monotonic():
                del self._busy[ref]
                how = "went with its machine" if is_gone else f"was silent for {self.options.timeout} s"
                self._lost(busy, how, schedule)
        self._require_somebody()

    def _require_somebody(self) -> None:
        if self._busy or self._crew.idle:
            self._alone_since = time.monotonic()
        else:
            self._crew.require_unrefused()
        patience = max(60.0, self.options.timeout or PATIENCE)
        if time.monotonic() - self._alone_since > patience:
            self._crew.require_places()
            what = f"no worker of the Ray cluster has begun within {patience:.0f} s"
            raise EngineError(what, where="engine.address", fix="free processors or add a machine, then resume the run")

    def _read(self, busy: Call, ref: Ref, schedule: Schedule) -> None:
        errors = self._ray.exceptions
        try:
            *answers, laps = self._ray.get(ref)
        except errors.RayTaskError as error:
            raise EngineError(f"a worker failed: {error.cause!r}", where=busy.hand.machine.name) from error
        except errors.RayError as error:
            self._lost(busy, f"died ({type(error).__name__})", schedule)
            return
        self._crew.idle.append(busy.hand)
        for turn, answer in zip(busy.turns, answers, strict=True):
            schedule.done[turn.place] = partial(self._results, answer)
        for name, seconds in json.loads(laps).items():
            WATCH.add(f"{WORKERS}{name}", seconds)

    def _results(self, answer: bytes) -> list[Result]:
        message = decode(answer)
        self._events += events_of(message)
        return results_of(message)

    def _lost(self, busy: Call, how: str, schedule: Schedule) -> None:
        self._crew.lost(busy.hand, [each.hand for each in self._busy.values()], schedule.step)
        for turn in reversed(busy.turns):
            what = f"the worker of client {schedule.clients(turn)} on {busy.hand.machine.name} {how}"
            self._events += schedule.lost(turn, what, self.options)

    def _abandon(self) -> None:
        """Kill workers whose answer is no longer needed."""
        busy, self._busy = self._busy, {}
        for each in busy.values():
            each.hand.kill()


def handful(schedule: Schedule, n_workers: int, options: RayOptions) -> list[Turn]:
    """The cohorts of the next call: a share of the samples left, so that calls are large at first and small at last.

    What was lost before goes alone, and so does everything where one cohort has a deadline, or is to be dropped alone.
    """
    waiting = schedule.waiting
    share = sum(schedule.sizes[turn.place] for turn in waiting) / (CALLS * max(1, n_workers))
    turns = [waiting.popleft()]
    if options.timeout is not None or options.on_death == "drop":
        return turns
    size = schedule.sizes[turns[0].place]
    while waiting and not turns[0].attempt and not waiting[0].attempt:
        size += schedule.sizes[waiting[0].place]
        if size > share:
            break
        turns.append(waiting.popleft())
    return turns
