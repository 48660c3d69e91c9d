from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch

from equipoise.core.codec import unflatten
from equipoise.core.errors import ClientError
from equipoise.core.values import ClientFailure, ClientState, ClientUpdate, Question, Result, Task
from equipoise.engine.roster import Roster
from equipoise.evaluate.score import questions_of
from equipoise.run.ask import ask, tasks_of
from equipoise.run.build import build, make_engine
from equipoise.server.predict import Merged
from tests.conftest import assert_same, one_shot, update

ROSTER = Roster(6, lambda client: np.array([1]), lambda client, step: False)
MODELS = {k: {"w": torch.full((2,), float(k))} for k in (1, 4)}
MERGED = Merged({"w": torch.zeros(2)}, [update(k, 1, MODELS[k]) for k in (4, 1)])


def asked(through: str, roster: Roster = ROSTER) -> list[Task]:
    return tasks_of(roster, MERGED, Question("anything", through), 3)


@pytest.mark.parametrize("through", ["own", "all", "merged", "common"])
def test_a_question_is_a_task_without_epochs_of_that_step_in_client_order(through):
    tasks = asked(through)
    assert {(task.step, task.epochs, task.question) for task in tasks} == {(3, range(0), Question("anything", through))}
    assert [task.client for task in tasks] == sorted(task.client for task in tasks)


def test_through_their_own_model_who_trained_is_asked_and_nothing_goes_down():
    tasks = asked("own")
    assert [task.client for task in tasks] == [1, 4]
    for task in tasks:
        assert task.own.model is MODELS[task.client]
        assert task.shared == {}


def test_through_the_common_encoder_who_trained_is_asked_and_needs_nothing():
    assert [(task.client, task.shared, task.own) for task in asked("common")] == [
        (1, {}, ClientState()),
        (4, {}, ClientState()),
    ]


def test_through_all_models_each_who_trained_gets_those_of_everybody():
    tasks = asked("all")
    assert [task.client for task in tasks] == [1, 4]
    assert tasks[0].shared is tasks[1].shared  # sent once for all
    models = unflatten(tasks[0].shared)
    assert models.keys() == {"1", "4"}
    for client, model in MODELS.items():
        assert_same(models[str(client)], model)
    assert all(task.own == ClientState() for task in tasks)


def test_through_the_merged_model_everybody_is_asked_whether_they_trained_or_not():
    tasks = asked("merged")
    assert [task.client for task in tasks] == list(range(6))
    assert all(task.shared is MERGED.model and task.own == ClientState() for task in tasks)


def test_where_nobody_can_go_through_all_clients_those_who_trained_are_asked():
    assert [task.client for task in asked("merged", replace(ROSTER, is_listed=False))] == [1, 4]


class Answering:
    """Answers with its own number, the last client first; one client may fail."""

    def __init__(self, fails: int | None = None) -> None:
        self.fails = fails
        self.questions: list[Question | None] = []

    def map(self, tasks: Sequence[Task]) -> Iterator[Result]:
        self.questions.append(tasks[0].question)
        for task in reversed(tasks):
            if task.client == self.fails:
                yield ClientFailure(task.client, "worker-lost", "its worker died; dropped")
            else:
                report = {"number": torch.tensor(task.client)}
                yield ClientUpdate(task.client, 1, {}, ClientState(report=report), {})


def test_answers_are_found_by_question_and_client():
    questions, engine = [Question("energies", "own"), Question("batch-statistics", "merged")], Answering()
    found = ask(engine, ROSTER, MERGED, questions, 3)
    assert engine.questions == questions
    assert [sorted(found[question]) for question in questions] == [[1, 4], list(range(6))]
    assert all(answer["number"] == client for given in found.values() for client, answer in given.items())


def test_no_question_no_task():
    assert ask(None, ROSTER, MERGED, [], 0) == {}


def test_a_client_without_an_answer_is_an_error_that_names_it():
    with pytest.raises(ClientError, match="client 4 gave no answer to the question 'energies': its worker") as caught:
        ask(Answering(fails=4), ROSTER, MERGED, [Question("energies", "own")], 3)
    assert caught.value.where == "checkpoint 4"
    assert "evaluate.beside=never" in caught.value.fix


def test_answers_are_the_same_from_every_engine():
    names = ["energy-gate", "typicality-gate", "common", "statistics-exchange", "recalibrated-average"]
    found = []
    for engine_name in ("local", "processes"):
        settings = ("engine=processes", "engine.workers=1") if engine_name == "processes" else ()
        federation = build(one_shot("model.width=2", *settings, model="resnet8"))
        clients = [
            update(k, federation.roster.samples(k), {n: t.clone() for n, t in federation.start.items()})
            for k in range(3)
        ]
        engine = make_engine(federation.site)
        found.append(ask(engine, federation.roster, Merged(federation.start, clients), questions_of(names), 0))
        engine.close()
    here, there = found
    assert here.keys() == there.keys()
    for question, answers in here.items():
        assert answers.keys() == there[question].keys() == {0, 1, 2}
        for client, answer in answers.items():
            assert_same(there[question][client], answer)
