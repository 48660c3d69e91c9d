"""What a server asks its clients before it can predict: every question is a task for each client, like any other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from equipoise.core.codec import flatten
from equipoise.core.values import ClientState, ClientUpdate, Question, State, Task
from equipoise.engine.engine import Engine
from equipoise.engine.roster import Roster
from equipoise.evaluate.score import Answers
from equipoise.server.predict import Merged, ordered

NO_STATE = ClientState()


def ask(engine: Engine, roster: Roster, merged: Merged, questions: Iterable[Question], step: int) -> Answers:
    """The clients' answers to each question."""
    return {question: _answers(engine, tasks_of(roster, merged, question, step)) for question in questions}


def _answers(engine: Engine, tasks: Sequence[Task]) -> dict[int, State]:
    return {result.client: result.own.report for result in engine.map(tasks) if isinstance(result, ClientUpdate)}


def tasks_of(roster: Roster, merged: Merged, question: Question, step: int) -> list[Task]:
    """A task for everybody who is asked; models that a client has already do not go down."""
    clients, nothing = ordered(merged), range(0)
    if question.through == "own":
        return [Task(step, each.client, nothing, {}, ClientState(model=each.model), question) for each in clients]
    if question.through == "common":
        return [Task(step, each.client, nothing, {}, NO_STATE, question) for each in clients]
    if question.through == "all":
        models = flatten({str(each.client): each.model for each in clients})
        return [Task(step, each.client, nothing, models, NO_STATE, question) for each in clients]
    everybody = range(roster.n_clients) if roster.is_listed else [each.client for each in clients]
    return [Task(step, client, nothing, merged.model, NO_STATE, question) for client in everybody]
