from __future__ import annotations

import pytest
import torch
from torch import nn

from equipoise.core.errors import ConfigError
from equipoise.deploy.bundle import Bundle
from equipoise.deploy.model_file import expression, model_file
from equipoise.deploy.parts import parts_of
from equipoise.models.heads import AnchorHead, PrototypeHead


class Forgetful(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layer = nn.Linear(size, 2)


def test_a_head_is_made_anew_from_what_it_keeps():
    head = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2, bias=False))
    text = expression(head, Bundle())
    again = eval(text, vars(nn) | {"torch": torch})
    shapes = [{name: tensor.shape for name, tensor in each.state_dict().items()} for each in (head, again)]
    assert shapes[0] == shapes[1]
    assert [type(layer) for layer in again] == [type(layer) for layer in head]
    for ours in (PrototypeHead(torch.ones(3, 2), torch.ones(3, 2), 16.0), AnchorHead(torch.ones(3, 2), 4.0)):
        again = eval(expression(ours, Bundle()), {"torch": torch, type(ours).__name__: type(ours)})
        assert again.kappa == ours.kappa
        assert again.anchors.shape == ours.anchors.shape


def test_a_head_that_does_not_keep_an_argument_is_refused():
    with pytest.raises(ConfigError, match=r"does not keep its argument 'size'[^$]*set self\.size"):
        expression(Forgetful(3), Bundle({"tests"}))


def test_the_file_reads_as_our_source_does(store, servers):
    text = model_file(parts_of(store, servers["resnet8", "anchors"]))
    assert text.startswith('"""The model of run ')
    assert "class ResidualBlock(nn.Module):" in text
    assert '"""y = relu(conv(relu(conv(x))) + shortcut(x)), with normalisation after each convolution."""' in text
    assert "two_views" not in text
    assert "Needs safetensors and torch." in text
    compile(text, "model.py", "exec")
