from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.func import functional_call, grad, stack_module_state, vmap

from equipoise.core.values import Moment
from equipoise.models.build import build_model, state_of
from equipoise.models.classifier import ModelOutput
from equipoise.models.mlp import MlpOptions
from equipoise.objective.align import proximal
from equipoise.objective.classify import cross_entropy
from equipoise.objective.compose import Batch, Net, View, objective

LABELS = torch.tensor([0, 1, 1])
NOW = Moment(0.5, np.array([1, 2]))


def net(logits, params=None) -> Net:
    return Net(lambda images: ModelOutput(images, torch.tensor(logits)), params or {})


def test_base_is_the_sum_of_its_parts():
    terms = {
        "half": lambda view: view.features.sum() / 2,
        "square": lambda view: view.features.square().sum(),
        "three": lambda view: torch.tensor(3.0),
    }
    losses = objective(terms)(net([[1.0, 0.0]] * 3), Batch(torch.tensor([1.0, 2.0, 3.0]), LABELS), {}, NOW)
    assert {name: part.item() for name, part in losses.parts.items()} == {"half": 3, "square": 14, "three": 3}
    assert losses.base.item() == 3 + 14 + 3
    assert losses.align is None


def test_hit_is_the_share_classified_right():
    given = net([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    losses = objective({"cls": cross_entropy})(given, Batch(LABELS, LABELS), {}, NOW)
    assert losses.hit.item() == pytest.approx(2 / 3)


def test_alignment_is_beside_base_not_in_it():
    given = net([[0.0, 0.0]] * 3, {"w": torch.tensor([2.0])})
    received = {"w": torch.tensor([5.0])}
    losses = objective({"cls": cross_entropy}, align=proximal)(given, Batch(LABELS, LABELS), received, NOW)
    assert losses.align is not None
    assert losses.align.item() == 9 / 2
    assert losses.base.item() == pytest.approx(torch.tensor(2.0).log().item())


def test_a_term_sees_everything_and_the_network_runs_once():
    calls, views = [], []

    def forward(images):
        calls.append(images)
        return ModelOutput(images + 1, images.reshape(3, 1).float())

    def look(view: View):
        views.append(view)
        return view.features.float().sum()

    params, received = {"w": torch.ones(1)}, {"w": torch.zeros(1)}
    objective({"a": look, "b": look}, align=look)(Net(forward, params), Batch(LABELS, LABELS), received, NOW)
    assert len(calls) == 1
    assert len(views) == 3
    assert views[0] is views[1] is views[2]
    assert (views[0].params, views[0].received) == (params, received)
    assert views[0].moment is NOW
    assert views[0].features.tolist() == [1, 2, 2]


@pytest.fixture
def clients(seed):
    """Three perceptrons and a batch for each."""
    generator = torch.Generator().manual_seed(seed)
    models = [build_model(MlpOptions(hidden=6), (3, 4, 4), 5, number) for number in range(3)]
    images = torch.randn(3, 7, 3, 4, 4, generator=generator)
    labels = torch.randint(5, (3, 7), generator=generator)
    return models, images, labels


def test_many_clients_along_a_leading_axis_give_what_each_gives_alone(clients):
    models, images, labels = clients
    received = state_of(build_model(MlpOptions(hidden=6), (3, 4, 4), 5, 9))
    both = objective({"cls": cross_entropy}, align=proximal)
    stacked, _ = stack_module_state(models)

    def of_one(params, batch, answers):
        network = Net(lambda x: functional_call(models[0], params, (x,)), params)
        losses = both(network, Batch(batch, answers), received, NOW)
        return losses.base + 0.3 * losses.align, (losses.base, losses.align, losses.hit)

    gradients, (base, align, hit) = vmap(grad(of_one, has_aux=True))(stacked, images, labels)
    for k, model in enumerate(models):
        losses = both(Net(model, dict(model.named_parameters())), Batch(images[k], labels[k]), received, NOW)
        (losses.base + 0.3 * losses.align).backward()
        assert torch.allclose(base[k], losses.base, rtol=1e-5)
        assert torch.allclose(align[k], losses.align, rtol=1e-5)
        assert hit[k].item() == pytest.approx(losses.hit.item())
        for name, parameter in model.named_parameters():
            assert torch.allclose(gradients[name][k], parameter.grad, rtol=1e-4, atol=1e-6), name
