"""A node is the machine that runs clients: it takes messages of tasks and returns messages of results.

    open(config, arrays, facts) → node        work(tasks) → one result each        answer(message, shared) → message

A node needs only what it was sent, and it sends codec messages only: nothing is pickled. Transports carry the messages;
within one process tasks and results are passed as objects.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from equipoise.client.result import EndedTraining
from equipoise.client.train import ended_training, first_losses
from equipoise.config.check import check
from equipoise.core.arithmetic import prepare
from equipoise.core.codec import Message, decode, encode
from equipoise.core.device import is_out_of_memory
from equipoise.core.errors import ClientError, DeviceLost, EquipoiseError
from equipoise.core.plugins import running
from equipoise.core.values import ClientState, ClientUpdate, Event, Question, Result, State, Task
from equipoise.engine.allocator import keep_freed_memory
from equipoise.engine.kept import StateFolder, federation_key
from equipoise.engine.messages import error_message, results_message, tasks_of
from equipoise.kind.site import Arrays, Site
from equipoise.method.resolve import resolve

READ_TOGETHER = 8
"""Cohorts whose results come home from a device together, so that the host waits once for all of them."""
DETERMINISTIC = "choose another model or method, or set engine.deterministic=false"
FIRST_LOSSES = Question("first-losses", through="own")
"""Asks a client for the losses of its first batch, without training."""


class Node:
    def __init__(self, site: Site) -> None:
        self.device = prepare(site.config.engine)
        if resolve(site.config).trains:
            keep_freed_memory()
        self.site, self.recipe = site, site.recipe()
        self.axis = max(1, site.together)
        """How many clients the device has had memory for on one axis."""
        self.at_once = READ_TOGETHER
        """Cohorts whose results the device has had memory for while others trained."""
        self._events: list[Event] = []
        self._ended: list[EndedTraining] = []
        """Cohorts that have trained, and whose results are still on the device."""
        self._results: list[Result] = []
        folder, needs_models = site.config.engine.state_folder, self.recipe.keeps_buffers
        self.kept = None if folder is None else StateFolder(Path(folder) / federation_key(site.config), needs_models)

    @classmethod
    def open(cls, config: Mapping[str, Any], arrays: Arrays, facts: Mapping[str, Any]) -> Node:
        """A node from what a site shares with other processes."""
        return cls(open_site(config, arrays, facts))

    def work(self, *cohorts: Sequence[Task]) -> list[Result]:
        """Train cohorts, or answer their question. Results of several cohorts come home together."""
        try:
            if cohorts[0][0].question is not None:
                return [self._answer(task) for tasks in cohorts for task in tasks]
            for tasks in cohorts:
                self._train(tasks)
            return self._settled()
        except EquipoiseError:
            raise
        except Exception as error:
            if not is_out_of_memory(error):
                self._require_device(error)
            tasks = [task for cohort in cohorts for task in cohort]
            who = ", ".join(str(task.client) for task in tasks)
            n_samples = sum(self.site.samples(task.client) for task in tasks)
            places = (f"checkpoint {tasks[0].step + 1}", f"client {who}", f"{n_samples} samples", running(error))
            where = ", ".join(filter(None, places))
            fix = DETERMINISTIC if "deterministic" in str(error) else ""
            raise ClientError(f"client {who} failed: {type(error).__name__}: {error}", where=where, fix=fix) from error
        finally:
            self._ended, self._results = [], []

    def answer(self, message: Message, shared: State) -> Message:
        """The results of the tasks in a message, or the error that was raised."""
        try:
            return results_message(self.work(tasks_of(message, shared)), self.take_events())
        except DeviceLost:
            raise
        except EquipoiseError as error:
            return error_message(error)

    def answer_bytes(self, tasks: bytes, shared: bytes) -> bytes:
        """The same for transports of bytes; `shared` is what the server sends to every cohort of a step."""
        return encode(*self.answer(decode(tasks), decode(shared)[1]))

    def _brought(self, task: Task) -> Task:
        """The task with its client's state, also if that is kept here."""
        if self.kept is not None:
            return self.kept.taken_up(task)
        if task.own.handle:
            what = f"client {task.client} left its state on the machine that trained it, and that is not this one"
            fix = "resume with the engine and the state folder of before"
            raise ClientError(what, where=f"checkpoint {task.step + 1}", fix=fix)
        return task

    def _whole(self, task: Task) -> Task:
        """The task with the client's whole own model: what it sent, and what its node keeps of it."""
        if self.kept is None or not task.own.handle:
            return task
        kept = self.kept.taken_up(task).own.model
        return replace(task, own=ClientState(model={**task.own.model, **kept}))

    def take_events(self) -> list[Event]:
        events, self._events = self._events, []
        return events

    def _require_device(self, error: BaseException) -> None:
        if not self.device.is_cpu and not self.device.is_there():
            what = f"{self.device.name} does not answer any more: {type(error).__name__}: {error}"
            fix = "look at the machine, then resume the run; `--device` names another device"
            raise DeviceLost(what, where=self.device.name, fix=fix) from error

    def _train(self, tasks: Sequence[Task]) -> None:
        """Train a cohort; if the device has no memory for so many clients on one axis, in halves."""
        for first in range(0, len(tasks), self.axis):
            part = tasks[first : first + self.axis]
            if not self._attempt(part):
                return self._train_halves(tasks[first:], len(part))
        return None

    def _attempt(self, tasks: Sequence[Task]) -> bool:
        """False if the device ran out of memory; then nothing holds what the attempt allocated."""
        try:
            brought = [self._brought(task) for task in tasks]
            self._ended.append(ended_training(self.recipe, brought))
            if self.device.is_cpu or len(self._ended) >= self.at_once:
                self._results = self._settled()
            return True
        except RuntimeError as error:
            if self.device.is_cpu or not is_out_of_memory(error):
                raise
            return False

    def _train_halves(self, tasks: Sequence[Task], n: int) -> None:
        """After a failed attempt at the first `n` of these tasks: make room, and try again on a shorter axis."""
        others, step = len(self._ended), tasks[0].step
        gc.collect()
        self.device.empty_cache()
        self._results = self._settled()
        if others:
            self.at_once = others
        else:
            if n == 1:
                what = f"{self.device.name} has no memory for client {tasks[0].client}, alone on its axis"
                fix = "a smaller client.batch or model, or engine.precision=bf16"
                raise ClientError(what, where=f"checkpoint {step + 1}", fix=fix)
            self.axis = -(-n // 2)
            text = f"{self.device.name} has no memory for {n} clients on one axis: {self.axis} from now on"
            self._events.append(Event("axis-halved", text, step, detail={"together": self.axis}))
        self._train(tasks)

    def _settled(self) -> list[Result]:
        """All results so far; those of cohorts that are still on the device come home together."""
        ended, self._ended = self._ended, []
        homes = self.device.home([each.unread() for each in ended])
        found = [result for each, home in zip(ended, homes, strict=True) for result in each.results(home)]
        return [*self._results, *(found if self.kept is None else map(self.kept.put_down, found))]

    def _answer(self, task: Task) -> Result:
        assert task.question is not None
        if task.question == FIRST_LOSSES:
            losses = first_losses(self.recipe, task)
            report: State = {"base": losses.base} | ({} if losses.align is None else {"align": losses.align})
        else:
            report = self.site.answer(self.recipe, self._whole(task))
        counts = self.site.counts(task.client).tolist()
        return ClientUpdate(task.client, sum(counts), {}, ClientState(report=report), {}, counts)


def open_site(config: Mapping[str, Any], arrays: Arrays, facts: Mapping[str, Any]) -> Site:
    checked = check(config)
    site: Site = checked.kind.load("site").of_shared(checked, resolve(checked), arrays, facts)
    return site
