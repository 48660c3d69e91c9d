"""Uses all cores: one worker process per core. Data, weights and results are in shared memory, the rest uses a socket.

The server's broadcast is written once per step for all workers, and the largest cohorts start first.
A worker that dies or overruns its time is replaced, and its clients are run again or dropped, as `on_death` says.
Nothing waits for a process that is gone.
"""

from __future__ import annotations

import gc
import json
import mmap
import os
import selectors
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from torch import Tensor

from equipoise.core.device import CPU
from equipoise.core.errors import DeviceLost
from equipoise.core.machine import cores
from equipoise.core.pulse import PULSE, nobody, seen_in
from equipoise.core.pulse import SIZE as PULSE_SIZE
from equipoise.core.stopwatch import WATCH, WORKERS
from equipoise.core.values import Event, Result, Task
from equipoise.engine.devices import worker_devices
from equipoise.engine.messages import events_of, results_of, tasks_message
from equipoise.engine.schedule import Schedule, Turn
from equipoise.engine.settings import ProcessesOptions
from equipoise.engine.shared import share
from equipoise.engine.slab import Place, Slab, anonymous_file
from equipoise.engine.wire import Child, receive, send
from equipoise.engine.worker import DEVICE_LOST
from equipoise.kind.site import Site


@dataclass
class Worker:
    """A process, and the memory that its tasks and results pass through."""

    child: Child
    slab: Slab
    pulse: mmap.mmap
    """Shared memory in which the worker reports its progress."""
    device: str

    def close(self) -> None:
        self.child.close()
        self._let_go()

    def kill(self) -> None:
        self.child.kill()
        self._let_go()

    def _let_go(self) -> None:
        self.slab.close()
        self.pulse.close()


@dataclass
class Busy:
    """A working worker, its cohort, and the deadline."""

    worker: Worker
    turn: Turn
    deadline: float


class Processes:
    def __init__(self, site: Site) -> None:
        options = site.config.engine
        assert isinstance(options, ProcessesOptions)
        self.options = options
        self._devices = worker_devices(options)
        each = max(1, cores() // options.threads) if self._devices == [CPU] else len(self._devices)
        self.n_workers = min(options.workers or each, site.n_clients)
        self._site = site
        self._descriptor, self._message = share(site)
        self._common = Slab(anonymous_file(0))
        self._sent: dict[str, Place] = {}
        self._idle: list[Worker] = []
        self._busy: dict[int, Busy] = {}
        self._events: list[Event] = []
        PULSE.others = self._pulse
        self._has_frozen = gc.get_freeze_count() == 0
        if self._has_frozen:
            gc.collect()
            gc.freeze()  # thousands of results a round would have everything that was imported looked through again

    def map(self, tasks: Sequence[Task]) -> Iterator[Result]:
        """Workers start at once. Work on earlier tasks that is still going on is abandoned."""
        self._abandon()
        schedule = Schedule.of(self._site, tasks)
        self._sent = self._common.write(tasks[0].shared) if tasks else {}
        self._give_out(schedule)
        return schedule.results(self._give_out, self._collect)

    def _pulse(self) -> float:
        return sum(seen_in(busy.worker.pulse) for busy in list(self._busy.values()))

    def take_events(self) -> list[Event]:
        events, self._events = self._events, []
        return events

    def close(self) -> None:
        PULSE.others = nobody
        if self._has_frozen:
            gc.unfreeze()
        self._abandon()
        for worker in self._idle:
            worker.close()
        self._idle.clear()
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._common.close()
            self._descriptor = -1

    def pids(self) -> list[int]:
        workers = [*self._idle, *(busy.worker for busy in self._busy.values())]
        return [worker.child.process.pid for worker in workers]

    def _spawn(self) -> Worker:
        taken = [worker.device for worker in (*self._idle, *(busy.worker for busy in self._busy.values()))]
        device = min(self._devices, key=taken.count)
        slab, pulse = Slab(anonymous_file(0)), anonymous_file(0)
        os.ftruncate(pulse, PULSE_SIZE)
        slabs = [self._common.descriptor, slab.descriptor, pulse]
        child = Child("equipoise.engine.worker", [self._descriptor, *slabs])
        child.socket.settimeout(self.options.timeout)
        with suppress(ConnectionError, TimeoutError):  # a dead child is noticed when it is waited for
            send(child.socket, self._message)
            send(child.socket, json.dumps([*slabs, WATCH.is_on, device]).encode())
        seen = mmap.mmap(pulse, PULSE_SIZE)
        os.close(pulse)
        return Worker(child, slab, seen, device)

    def _give_out(self, schedule: Schedule) -> None:
        waiting = schedule.waiting
        wanted = min(self.n_workers - len(self._busy), len(waiting))
        for _ in range(wanted - len(self._idle)):  # at once: they start in parallel
            self._idle.append(self._spawn())
        while waiting and len(self._busy) < self.n_workers:
            turn = waiting.popleft()
            worker = self._idle.pop()
            deadline = time.monotonic() + (self.options.timeout or float("inf"))
            self._busy[worker.child.socket.fileno()] = Busy(worker, turn, deadline)
            header, tensors = tasks_message(schedule.groups[turn.place])
            try:
                send(worker.child.socket, json.dumps([header, self._sent, worker.slab.write(tensors)]).encode())
            except (ConnectionError, TimeoutError):
                continue  # it died or hung while idle: the reading side reports it, with its client

    def _collect(self, schedule: Schedule) -> None:
        """Wait for one or more workers: an answer, a death, or a deadline."""
        first = min(busy.deadline for busy in self._busy.values())
        wait = None if first == float("inf") else max(0.0, first - time.monotonic())
        with selectors.DefaultSelector() as selector:
            for number in self._busy:
                selector.register(number, selectors.EVENT_READ)
            ready = [key.fd for key, _ in selector.select(wait)]
        WATCH.lap("idle")
        for number in ready:
            busy = self._busy.pop(number)
            where = receive(busy.worker.child.socket)
            header = None if where is None else receive(busy.worker.child.socket)
            if where is None or header is None:
                self._lost(busy, "died", schedule)
                continue
            self._idle.append(busy.worker)
            places, laps = json.loads(where)
            schedule.done[busy.turn.place] = partial(self._read, busy.worker.slab.read(places), header)
            for name, seconds in laps.items():
                WATCH.add(f"{WORKERS}{name}", seconds)
        for number, busy in list(self._busy.items()):
            if busy.deadline <= time.monotonic():
                del self._busy[number]
                self._lost(busy, f"was silent for {self.options.timeout} s", schedule)

    def _lost(self, busy: Busy, how: str, schedule: Schedule) -> None:
        busy.worker.kill()
        code = busy.worker.child.process.returncode
        what = f"the worker of client {schedule.clients(busy.turn)} {how} (exit code {code})"
        if code == DEVICE_LOST:
            self._drop_device(busy.worker.device, schedule.step)
        self._events += schedule.lost(busy.turn, what, self.options)

    def _drop_device(self, device: str, step: int) -> None:
        """Give nothing more to a device that does not answer; the others take its work."""
        left = [each for each in self._devices if each != device]
        self.n_workers = max(1, self.n_workers * len(left) // len(self._devices))
        self._devices = left
        for worker in [worker for worker in self._idle if worker.device == device]:
            self._idle.remove(worker)
            worker.kill()
        if not self._devices:
            what, fix = f"{device} does not answer any more, and no other device is left", "resume the run later"
            raise DeviceLost(what, where=f"checkpoint {step + 1}", fix=fix)
        text = f"{device} does not answer any more; its clients go to {', '.join(self._devices)}"
        self._events.append(Event("device-lost", text, step, detail={"device": device}))

    def _read(self, tensors: dict[str, Tensor], header: bytes) -> list[Result]:
        message = (json.loads(header), tensors)
        self._events += events_of(message)
        return results_of(message)

    def _abandon(self) -> None:
        """Kill workers whose answer is no longer needed."""
        busy, self._busy = self._busy, {}
        for each in busy.values():
            each.worker.kill()
