"""A node is the machine that runs clients: it takes messages of tasks and returns messages of results.

    open(config, arrays, facts) → node        work(tasks) → one result each        answer(message, shared) → message

A node needs only what it was sent, and it sends codec messages only: nothing is pickled. Transports carry the messages;
within one process tasks and results are passed as objects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from equipoise.client.train import first_losses, train
from equipoise.config.check import check
from equipoise.core.codec import Message, decode, encode
from equipoise.core.errors import ClientError, EquipoiseError
from equipoise.core.plugins import running
from equipoise.core.values import ClientState, ClientUpdate, Question, Result, State, Task
from equipoise.engine.allocator import keep_freed_memory
from equipoise.engine.kept import StateFolder, federation_key
from equipoise.engine.messages import error_message, results_message, tasks_of
from equipoise.kind.site import Arrays, Site
from equipoise.method.resolve import resolve

FIRST_LOSSES = Question("first-losses", through="own")
"""Asks a client for the losses of its first batch, without training."""


class Node:
    def __init__(self, site: Site) -> None:
        torch.set_num_threads(site.config.engine.threads)
        keep_freed_memory()
        self.site, self.recipe = site, site.recipe()
        folder, needs_models = site.config.engine.state_folder, self.recipe.keeps_buffers
        self.kept = None if folder is None else StateFolder(Path(folder) / federation_key(site.config), needs_models)

    @classmethod
    def open(cls, config: Mapping[str, Any], arrays: Arrays, facts: Mapping[str, Any]) -> Node:
        """A node from what a site shares with other processes."""
        return cls(open_site(config, arrays, facts))

    def work(self, tasks: Sequence[Task]) -> list[Result]:
        """Train a cohort, or answer its question."""
        try:
            if tasks[0].question is not None:
                return [self._answer(task) for task in tasks]
            return self._train(tasks)
        except EquipoiseError:
            raise
        except Exception as error:
            who = ", ".join(str(task.client) for task in tasks)
            n_samples = sum(self.site.samples(task.client) for task in tasks)
            places = (f"checkpoint {tasks[0].step + 1}", f"client {who}", f"{n_samples} samples", running(error))
            where = ", ".join(filter(None, places))
            raise ClientError(f"client {who} failed: {type(error).__name__}: {error}", where=where) from error

    def answer(self, message: Message, shared: State) -> Message:
        """The results of the tasks in a message, or the error that was raised."""
        try:
            return results_message(self.work(tasks_of(message, shared)))
        except EquipoiseError as error:
            return error_message(error)

    def answer_bytes(self, tasks: bytes, shared: bytes) -> bytes:
        """The same for transports of bytes; `shared` is what the server sends to every cohort of a step."""
        return encode(*self.answer(decode(tasks), decode(shared)[1]))

    def _whole(self, task: Task) -> Task:
        """The task with the client's whole own model: what it sent, and what its node keeps of it."""
        if self.kept is None or not task.own.handle:
            return task
        kept = self.kept.taken_up(task).own.model
        return replace(task, own=ClientState(model={**task.own.model, **kept}))

    def _train(self, tasks: Sequence[Task]) -> list[Result]:
        if self.kept is None:
            return train(self.recipe, tasks)
        results = train(self.recipe, [self.kept.taken_up(task) for task in tasks])
        return [self.kept.put_down(result) for result in results]

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
