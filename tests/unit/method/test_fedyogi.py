from __future__ import annotations

import torch

from tests.conftest import records, tiny


def test_where_updates_shrink_it_parts_from_adam():
    yogi, adam = (records(tiny(f"method={name}", "rounds=4"))[-1].snapshot.server for name in ("fedyogi", "fedadam"))
    assert yogi.memory.keys() == adam.memory.keys()
    assert any(not torch.equal(yogi.memory[name], adam.memory[name]) for name in adam.memory if name.startswith("v/"))
