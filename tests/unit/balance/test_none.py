from __future__ import annotations

import numpy as np
import torch

from equipoise.balance.none import none
from equipoise.core.values import Losses, Moment

MOMENT = Moment(0.5, np.array([3, 4]))


def test_the_network_sees_the_local_task_alone():
    base, align = torch.tensor(2.0), torch.tensor(100.0)
    for given in (align, None):
        weighed = none().weigh(Losses(base, given, {}, torch.tensor(0.0)), {}, MOMENT)
        assert weighed.network is base
        assert weighed.policy is None
        assert (weighed.lam, weighed.schedule, weighed.used, weighed.scale) == (0.0, 1.0, 0.0, 1.0)


def test_a_client_keeps_nothing():
    assert none().start(MOMENT.counts) == {}
