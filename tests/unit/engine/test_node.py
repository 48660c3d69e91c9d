from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch

from equipoise.client.train import first_losses
from equipoise.core.codec import decode, encode
from equipoise.core.errors import ClientError, DataError
from equipoise.core.values import ClientFailure, ClientState, ClientUpdate, Question, Task
from equipoise.engine import node
from equipoise.engine.messages import results_of, tasks_message
from equipoise.engine.node import FIRST_LOSSES, Node
from tests.conftest import assert_same, assert_same_update, untouched_rng

from .conftest import BAD_CLIENT, a_site, start_of, tasks_of


def test_work_is_the_same_whoever_worked_before(expected):
    site = a_site()
    work = Node(site).work
    for task, other in zip(reversed(tasks_of(site)), reversed(expected), strict=True):
        assert_same_update(work([task])[0], other)


def test_a_fifth_client_changes_nobody(expected):
    site = a_site(n_clients=5)
    for task, other in zip(tasks_of(site), expected, strict=True):
        assert_same_update(Node(site).work([task])[0], other)


def test_work_leaves_the_global_generators_alone():
    site = a_site()
    with untouched_rng():
        Node(site).work(tasks_of(site)[:1])


def test_a_client_whose_numbers_are_not_finite_fails_alone():
    site = a_site("client.lr=1e30")
    (result,) = Node(site).work(tasks_of(site)[1:2])
    assert isinstance(result, ClientFailure)
    assert (result.client, result.kind) == (1, "non-finite")
    assert "at local step 1" in result.error
    assert "checkpoint 1, client 1" in result.error


def test_any_other_failure_says_which_client_and_why():
    site = a_site()
    with pytest.raises(ClientError, match=r"client 3 failed: \w+Error: .*99") as caught:
        Node(site).work(tasks_of(site, [BAD_CLIENT]))
    assert caught.value.where == "checkpoint 1, client 3, 20 samples"
    assert caught.value.__cause__ is not None


def test_an_error_of_ours_stays_what_it_is(monkeypatch):
    def refuse(*_):
        raise DataError("no such thing", fix="look elsewhere")

    monkeypatch.setattr(node, "ended_training", refuse)
    site = a_site()
    with pytest.raises(DataError, match="no such thing"):
        Node(site).work(tasks_of(site)[:1])


def by_bytes(worker: Node, tasks: list[Task]):
    """As a transport of bytes carries them: tasks, and what the server sends to every cohort of a step."""
    answer = worker.answer_bytes(encode(*tasks_message(tasks)), encode({}, tasks[0].shared))
    return results_of(decode(answer))


@pytest.fixture(params=["", "method=fedproto", "method=memory-bank", "method=statistics"])
def site(request):
    return a_site(*filter(None, [request.param]), n_clients=3)


def test_bytes_in_and_bytes_out_are_the_results_that_are_handed_over(site):
    for task in tasks_of(site):
        (given,), (back,) = Node(site).work([task]), by_bytes(Node(site), [task])
        assert_same_update(back, given)


def test_a_cohort_too():
    site = a_site(n_clients=3)
    for back, given in zip(by_bytes(Node(site), tasks_of(site)), Node(site).work(tasks_of(site)), strict=True):
        assert_same_update(back, given)


def test_what_a_client_keeps_goes_and_comes_by_bytes(site):
    first = Node(site).work(tasks_of(site)[1:2])[0]
    task = Task(1, 1, range(1, 2), tasks_of(site)[1].shared, first.own)
    assert_same_update(by_bytes(Node(site), [task])[0], Node(site).work([task])[0])


def test_a_node_needs_only_what_it_was_sent(site):
    """Arrays and facts as the site shares them, through JSON; no site is handed over."""
    arrays, facts = site.shared()
    sent = {name: array.copy() for name, array in arrays.items()}
    there = Node.open(json.loads(site.config.model_dump_json()), sent, json.loads(json.dumps(facts)))
    assert there.site is not site
    assert there.site.config == site.config
    for task in tasks_of(site):
        assert_same_update(there.work([task])[0], Node(site).work([task])[0])


def test_an_error_becomes_a_message():
    site = a_site()
    tasks = tasks_of(site, [BAD_CLIENT])
    header, tensors = Node(site).answer(tasks_message(tasks), tasks[0].shared)
    assert set(header) == {"raised"}
    assert tensors == {}
    with pytest.raises(ClientError, match=r"client 3 failed: \w+Error: .*99") as caught:
        by_bytes(Node(site), tasks)
    assert caught.value.where == "checkpoint 1, client 3, 20 samples"
    (after,) = by_bytes(worker := Node(site), tasks_of(site, [0]))  # and the node works on
    assert_same_update(after, worker.work(tasks_of(site, [0]))[0])


def test_an_error_of_ours_keeps_its_parts_on_the_way(monkeypatch):
    def refuse(*_):
        raise DataError("no such thing", where="here", fix="look elsewhere")

    monkeypatch.setattr(node, "ended_training", refuse)
    site = a_site()
    with pytest.raises(ClientError) as caught:
        by_bytes(Node(site), tasks_of(site)[:1])
    assert (caught.value.what, caught.value.where, caught.value.fix) == ("no such thing", "here", "look elsewhere")


def test_a_question_is_answered_and_nothing_is_trained(monkeypatch):
    monkeypatch.setattr(node, "ended_training", None)
    site = a_site(n_clients=3)
    question, own = Question("energies", "own"), ClientState(model=start_of(site))
    tasks = [Task(4, client, range(0), {}, own, question) for client in (2, 0)]
    handed = Node(site).work(tasks)
    for task, result in zip(tasks, handed, strict=True):
        assert isinstance(result, ClientUpdate)
        assert (result.client, result.samples) == (task.client, len(site.indices[task.client]))
        assert list(result.counts) == site.counts(task.client).tolist()
        assert result.own.report.keys() == {"mean", "deviation"}
        assert (result.model, result.metrics) == ({}, {})  # no model and no numbers come up
    for there, here in zip(by_bytes(Node(site), tasks), handed, strict=True):
        assert_same(there.own.report, here.own.report)


def test_what_a_first_batch_would_cost_is_told_without_training():
    for settings, parts in (((), {"base"}), (("method=fedprox", "method.mu=0.5"), {"base", "align"})):
        site = a_site(*settings, n_clients=3)
        task = replace(tasks_of(site)[1], question=FIRST_LOSSES)
        (result,) = Node(site).work([task])
        expected = first_losses(site.recipe(), task)
        assert result.own.report.keys() == parts
        assert torch.equal(result.own.report["base"], expected.base)
        if expected.align is not None:
            assert torch.equal(result.own.report["align"], expected.align)
        assert (result.model, result.metrics) == ({}, {})


def test_a_client_that_cannot_answer_is_named():
    site = a_site()
    task = Task(2, BAD_CLIENT, range(0), {}, ClientState(model=start_of(site)), Question("energies", "own"))
    with pytest.raises(ClientError, match="client 3 failed") as caught:
        Node(site).work([task])
    assert caught.value.where == "checkpoint 3, client 3, 20 samples"


def test_a_state_that_is_kept_elsewhere_is_not_replaced_by_an_empty_one():
    site = a_site()
    task = replace(tasks_of(site)[0], own=ClientState(handle="0123"))
    with pytest.raises(ClientError, match="left its state on the machine that trained it"):
        Node(site).work([task])
