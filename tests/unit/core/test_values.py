from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
import torch

from equipoise.core.values import ClientState, Event, Images, Question, Row, Samples, Task


def test_images_are_counted_and_taken_together():
    pixels = np.arange(4 * 1 * 2 * 2, dtype=np.uint8).reshape(4, 1, 2, 2)
    images = Images(pixels, np.array([3, 2, 1, 0]))
    some = images.take(np.array([2, 0]))
    assert (len(images), len(some)) == (4, 2)
    assert some.labels.tolist() == [1, 3]
    assert some.pixels[0].tolist() == [[[8, 9], [10, 11]]]


def test_samples_are_counted_and_taken_together_whatever_they_are_stored_as():
    samples = Samples(np.array([[1.5, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([0, 1, 0]))
    some = samples.take(np.array([2, 1]))
    assert (len(samples), len(some)) == (3, 2)
    assert some.inputs.tolist() == [[5, 6], [3, 4]]
    assert some.labels.tolist() == [0, 1]


def test_questions_are_values_answers_are_found_by():
    assert {Question("energies", "own"): 1}[Question("energies", "own")] == 1
    assert Question("energies", "own") != Question("energies", "all")
    assert Task(0, 1, range(2), {}).question is None


def test_a_task_has_no_field_for_test_data():
    assert {field.name for field in fields(Task)} == {"step", "client", "epochs", "shared", "own", "question"}


def test_values_are_frozen_and_begin_empty():
    task = Task(0, 1, range(2), {})
    assert task.own == ClientState({}, {}, {}, {}, {})
    with pytest.raises(FrozenInstanceError):
        task.step = 1  # type: ignore[misc]
    assert Event("kind", "words").detail == {}
    assert Row(0, None, None, "loss", 1.0).client is None


def test_what_a_client_keeps_is_in_groups_and_comes_back_from_them():
    own = ClientState(policy={"s": torch.tensor(0.5)}, report={"counts": torch.tensor([3, 0])})
    assert own.groups() == {"model": {}, "optimiser": {}, "policy": own.policy, "memory": {}, "report": own.report}
    assert ClientState.of(own.groups()) == ClientState.of({"policy": own.policy, "report": own.report}) == own
    assert ClientState.of({"shared": own.policy}) == ClientState()
