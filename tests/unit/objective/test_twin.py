from __future__ import annotations

import numpy as np
import torch
from torch.nn import functional as F

from equipoise.core.values import Moment
from equipoise.models.build import build_model, state_of
from equipoise.models.settings import MlpOptions
from equipoise.models.twin import Twin
from equipoise.objective.compose import Batch, Net
from equipoise.objective.twin import twins


def test_each_gets_the_gradient_that_it_would_have_alone():
    twin = Twin(build_model(MlpOptions(hidden=4), (3, 2, 2), 3, 0))
    with torch.no_grad():
        for param in twin.personal.parameters():
            param.add_(0.5)
    sent, lam = state_of(twin), 3.0
    batch = Batch(torch.randn(5, 3, 2, 2, generator=torch.Generator().manual_seed(0)), torch.tensor([0, 1, 2, 1, 0]))
    losses = twins()(Net(twin, dict(twin.named_parameters())), batch, sent, Moment(0.0, np.array([2, 2, 1])))
    (losses.base + lam * losses.align).backward()
    for part, pull in (("shared", 0.0), ("personal", lam)):
        alone = build_model(MlpOptions(hidden=4), (3, 2, 2), 3, 0)
        alone.load_state_dict(getattr(twin, part).state_dict())
        F.cross_entropy(alone(batch.images).logits, batch.labels).backward()
        for name, param in alone.named_parameters():
            expected = param.grad + pull * (param - sent[f"shared.{name}"])
            assert torch.allclose(getattr(twin, part).get_parameter(name).grad, expected, atol=1e-6), (part, name)
