from __future__ import annotations

import torch

from equipoise.server.merge import ServerState, keep
from tests.conftest import update


def test_keep_merges_nothing():
    state = ServerState({"w": torch.zeros(1)})
    assert keep(state, [update(0, 1, {"w": torch.ones(1)})]) is state
    assert state.memory == {}
