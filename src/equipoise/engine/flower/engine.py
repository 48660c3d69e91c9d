"""Runs clients on machines that hold their own data, through a Flower server.

    map(tasks)      one message to each machine with its clients' tasks; results as they come, in the order of the tasks
    lost machine    gets its work again when it is back, `retries` times
    deadline        a step ends without those who are late, if `quorum` of its clients have answered

Clients of one machine may train together on one axis; clients of two machines never do.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from equipoise.core.codec import decode, encode
from equipoise.core.errors import EngineError
from equipoise.core.notices import Waiting
from equipoise.core.stopwatch import WATCH
from equipoise.core.values import ClientFailure, Event, Result, Task
from equipoise.engine.engine import cohorts
from equipoise.engine.flower.compress import opened, squeezed
from equipoise.engine.flower.homes import Homes
from equipoise.engine.flower.link import Link, Reply
from equipoise.engine.flower.machine import versions
from equipoise.engine.flower.parcel import Parcel
from equipoise.engine.flower.step import MachineWork, Step
from equipoise.engine.messages import events_of, results_of, tasks_message
from equipoise.engine.settings import FlowerOptions
from equipoise.kind.samples.site import SampleSite
from equipoise.kind.site import Site

LOOK_SECONDS = 3.0
"""Seconds between two looks at which machines are there."""


class Flower:
    def __init__(self, site: Site) -> None:
        options = site.config.engine
        assert isinstance(options, FlowerOptions)
        self.options, self._site, self._server = options, site, site.config.server
        told = site.config.model_dump(mode="json")
        told["engine"] |= {
            "together": site.together,
            "client_state": "stays" if options.keeps_state(site.config) else "travels",
        }
        inputs = dict(site.inputs.facts()) if isinstance(site, SampleSite) else {}
        self._header = json.loads(json.dumps({"versions": versions(), "config": told, "inputs": inputs}))
        self._events: list[Event] = []
        self._heard, self._looked = time.monotonic(), 0.0
        self._here: dict[int, str] = {}
        self._link = Link(options)
        self._homes, self._hellos = Homes(site), dict[str, int]()
        try:
            self._meet()
        except BaseException:
            self._link.close("failed")
            raise

    def map(self, tasks: Sequence[Task]) -> Iterator[Result]:
        """Messages go out at once. Answers to earlier tasks that are still to come are not waited for."""
        step = Step(tasks, time.monotonic(), {})
        self._greet()
        for node, places in self._by_machine(step).items():
            mine = [tasks[place] for place in places]
            groups = [[places[place] for place in group] for group in cohorts(self._site, mine)]
            step.works[node] = MachineWork(groups, self._parcel(step, node, groups))
        self._post(step, list(step.works))
        return self._answers(step)

    def take_events(self) -> list[Event]:
        if self._link.was_away():
            text = "the server did not answer for a while; it was asked again until it did"
            self._events.append(Event("server-away", text))
        events, self._events = self._events, []
        return events

    def close(self) -> None:
        self._link.close()

    def _by_machine(self, step: Step) -> dict[int, list[int]]:
        """Machine → places of its tasks. A client without a machine fails at once."""
        found: dict[int, list[int]] = {}
        for place, task in enumerate(step.tasks):
            node = self._homes.home.get(task.client)
            if node is None:
                step.done[place] = ClientFailure(task.client, "absent", f"no machine holds client {task.client}")
            else:
                found.setdefault(node, []).append(place)
        return found

    def _parcel(self, step: Step, node: int, groups: Sequence[Sequence[int]]) -> Parcel:
        cohort = {str(name): [step.tasks[place] for place in group] for name, group in enumerate(groups)}
        bodies = {name: encode(*tasks_message(tasks)) for name, tasks in cohort.items()}
        bodies["shared"] = encode({}, step.tasks[0].shared)
        if self.options.compress != "none":
            bodies = {name: squeezed(body) for name, body in bodies.items()}
        return Parcel({"do": "work", "name": self._homes.names[node], **self._header}, bodies)

    def _post(self, step: Step, nodes: Sequence[int]) -> None:
        step.sent |= self._link.post({node: step.works[node].parcel for node in nodes})

    def _answers(self, step: Step) -> Iterator[Result]:
        """Results in the order of the tasks, whichever machine answers first."""
        self._heard = time.monotonic()
        for place in range(len(step.tasks)):
            while place not in step.done:
                self._collect(step)
            yield step.done.pop(place)

    def _collect(self, step: Step) -> None:
        """Take what has come, send lost work again, and look at the deadline."""
        replies = list(self._link.collect(step.sent))
        for reply in replies:
            self._take(step, step.sent.pop(reply.message), reply)
        self._look(step)
        self._look_at_the_clock(step)
        if not replies:
            time.sleep(self.options.poll)
        WATCH.lap("idle")

    def _take(self, step: Step, node: int, reply: Reply) -> None:
        self._heard = time.monotonic()
        if reply.parcel is None:
            return self._lose(step, node, reply.error)
        work = step.works.pop(node)
        refused = reply.parcel.header.get("refused")
        if refused is not None:
            self._events.append(self._homes.refuse(node, self._homes.names[node], str(refused)))
            return step.fail(work.places, "refused", str(refused))
        for name, group in enumerate(work.groups):
            try:
                results = self._read(reply.parcel, str(name))
                step.done |= {place: results[step.tasks[place].client] for place in group}
            except (EngineError, KeyError, TypeError, ValueError) as error:
                why = f"machine {self._homes.names[node]} sent what is no answer: {type(error).__name__}: {error}"
                step.fail(group, "invalid", why)
        return None

    def _read(self, parcel: Parcel, name: str) -> dict[int, Result]:
        """The results of a cohort by client; where they were compressed, with their bytes and the largest error."""
        body, how = parcel.bodies[name], self.options.compress
        message = decode(opened(body, how))
        self._events += events_of(message)
        results = {result.client: result for result in results_of(message)}
        if how == "none":
            return results
        wire = {"wire/bytes": len(body) / len(results), "wire/error": float(parcel.header["errors"][name])}
        return {client: _measured(result, wire) for client, result in results.items()}

    def _lose(self, step: Step, node: int, why: str) -> None:
        """The machine is gone: it gets its work again, or its clients fail."""
        work, name = step.works[node], self._homes.names[node]
        what = f"machine {name} was lost at its work: {why}"
        if work.attempts >= self.options.retries:
            del step.works[node]
            return step.fail(work.places, "worker-lost", f"{what}; that was attempt {work.attempts + 1}")
        work.attempts += 1
        step.lost.add(node)
        text, number = f"{what}; it gets its work again when it is back", step.tasks[0].step
        self._events.append(Event("machine-lost", text, number, detail={"machine": name}))
        return None

    def _look(self, step: Step | None = None) -> None:
        """See which machines are there: greet new ones, and send their work to those that are back."""
        if time.monotonic() - self._looked < LOOK_SECONDS:
            return
        self._looked, self._here = time.monotonic(), self._link.machines()
        self._greet()
        if step is None:
            return
        back = [node for node in step.lost if node in self._here]
        step.lost -= set(back)
        self._post(step, back)
        if step.works.keys() & self._here.keys() and not self._is_late(step):
            self._heard = time.monotonic()  # a machine that is there and trains for long is not silent

    def _look_at_the_clock(self, step: Step) -> None:
        """End the step without those who are late, or the run if nothing was heard for too long."""
        n, waiting = len(step.tasks), step.waiting
        if waiting and self._is_late(step) and n - len(waiting) >= max(1, self._server.quorum * n):
            self._end_early(step, len(waiting))
        elif waiting and time.monotonic() - self._heard > self.options.patience:
            names = ", ".join(self._homes.names[node] for node in step.works)
            what = f"nothing was heard of {names} for {self.options.patience:g} s"
            fix = "look at these machines, then `equipoise resume`; or set server.deadline and server.quorum"
            raise EngineError(what, where=f"checkpoint {step.tasks[0].step + 1}", fix=fix)

    def _is_late(self, step: Step) -> bool:
        """Whether the deadline has passed; questions have none, since no other client can answer."""
        deadline = self._server.deadline
        return deadline is not None and not step.is_question and time.monotonic() - step.began > deadline

    def _end_early(self, step: Step, n_late: int) -> None:
        number, n = step.tasks[0].step, len(step.tasks)
        names = [self._homes.names[node] for node in step.works]
        for node, work in step.works.items():
            why = f"machine {self._homes.names[node]} had not answered after {self._server.deadline:g} s"
            step.fail(work.places, "late", why)
        step.works, step.sent, step.lost = {}, {}, set()
        text = f"checkpoint {number + 1} ended with {n - n_late} of {n} clients; late: {', '.join(names)}"
        self._events.append(Event("ended-by-quorum", text, number, detail={"machines": names}))

    def _greet(self) -> None:
        """Take the answers of machines that were greeted, and greet those that were not."""
        for reply in self._link.collect(self._hellos):
            node = self._hellos.pop(reply.message)
            name = self._here.get(node, str(node))
            if reply.parcel is not None:
                self._heard = time.monotonic()
                self._events.append(self._homes.take(node, name, reply.parcel.header))
        new = self._here.keys() - self._hellos.values() - self._homes.known
        hellos = {node: Parcel({"do": "hello", "name": self._here[node], **self._header}) for node in new}
        self._hellos |= self._link.post(hellos)

    def _meet(self) -> None:
        """Wait until every client has a home; not longer if machines were refused, since waiting changes nothing."""
        waiting = Waiting(self.options.patience)
        while not self._is_met():
            if waiting.is_over or (self._homes.refused and self._has_greeted_all()):
                return self._require_quorum()
            waiting.for_(self._homes.wanted(self.options.machines))
            time.sleep(self.options.poll)
            self._look()
            self._greet()
        return None

    def _is_met(self) -> bool:
        """Whether there are as many machines as wanted, and every client has a home."""
        if len(self._homes.names) < (self.options.machines or 1) or not self._has_greeted_all():
            return False
        self._homes.deal()
        return not self._homes.missing()

    def _has_greeted_all(self) -> bool:
        """Whether every machine that is there has answered."""
        return bool(self._here) and not self._hellos and self._here.keys() <= self._homes.known

    def _require_quorum(self) -> None:
        """Without a deadline every client must have a home; with one, enough of them."""
        n, missing = self._site.n_clients, self._homes.missing()
        if self._server.deadline is None or n - len(missing) < max(1, self._server.quorum * n):
            raise self._homes.incomplete(self._here)


def _measured(result: Result, wire: Mapping[str, float]) -> Result:
    return result if isinstance(result, ClientFailure) else replace(result, metrics={**result.metrics, **wire})
