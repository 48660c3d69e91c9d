"""Asks clients the questions that a server needs answered to predict; a question is a task like any other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from equipoise.core.codec import flatten
from equipoise.core.errors import ClientError
from equipoise.core.values import ClientFailure, ClientState, Question, State, Task
from equipoise.engine.engine import Engine
from equipoise.engine.roster import Roster
from equipoise.evaluate.score import Answers
from equipoise.server.predict import Merged, ordered

NO_STATE = ClientState()


def ask(engine: Engine, roster: Roster, merged: Merged, questions: Iterable[Question], step: int) -> Answers:
    """The clients' answers to each question; a missing answer is an error, since no other client can give it."""
    return {question: _answers(engine, tasks_of(roster, merged, question, step)) for question in questions}


def _answers(engine: Engine, tasks: Sequence[Task]) -> dict[int, State]:
    found: dict[int, State] = {}
    for result in engine.map(tasks):
        if isinstance(result, ClientFailure):
            asked = tasks[0].question
            assert asked is not None
            what = f"client {result.client} gave no answer to the question '{asked.summary}': {result.error}"
            fix = "run it again, or choose a server.predict that asks clients nothing, with evaluate.beside=never"
            raise ClientError(what, where=f"checkpoint {tasks[0].step + 1}", fix=fix)
        found[result.client] = result.own.report
    return found


def tasks_of(roster: Roster, merged: Merged, question: Question, step: int) -> list[Task]:
    """A task for every client that is asked; models that a client already has are not sent."""
    clients, nothing = ordered(merged), range(0)
    if question.through == "own":
        own = {each.client: ClientState(model=each.model, handle=each.own.handle) for each in clients}
        return [Task(step, client, nothing, {}, state, question) for client, state in own.items()]
    if question.through == "common":
        return [Task(step, each.client, nothing, {}, NO_STATE, question) for each in clients]
    if question.through == "all":
        models = flatten({str(each.client): each.model for each in clients})
        return [Task(step, each.client, nothing, models, NO_STATE, question) for each in clients]
    everybody = range(roster.n_clients) if roster.is_listed else [each.client for each in clients]
    if question.through == "data":
        going = [client for client in everybody if not roster.is_idle(client, step)]
        return [Task(step, client, nothing, {}, NO_STATE, question) for client in going]
    return [Task(step, client, nothing, merged.model, NO_STATE, question) for client in everybody]
