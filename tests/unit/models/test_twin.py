from __future__ import annotations

import torch

from equipoise.models.build import build_model
from equipoise.models.settings import MlpOptions
from equipoise.models.twin import Twin, personal


def made() -> Twin:
    return Twin(build_model(MlpOptions(hidden=4), (3, 2, 2), 3, 0))


def test_both_begin_alike_and_then_go_their_own_way():
    twin, images = made(), torch.ones(2, 3, 2, 2)
    seen = twin(images)
    assert torch.equal(seen.logits, seen.shared.logits)
    with torch.no_grad():
        twin.personal.head.weight.zero_()
    after = twin(images)
    assert torch.equal(after.shared.logits, seen.shared.logits)
    assert not torch.equal(after.logits, seen.logits)


def test_every_weight_is_in_one_of_two_groups():
    twin = made()
    shared, own = twin.groups["shared"], twin.groups["personal"]
    assert sorted([*shared, *own]) == sorted(name for name, _ in twin.named_parameters())
    assert personal(twin) == own
    assert len(own) == len(shared) == 4


def test_in_evaluation_the_personal_one_answers_alone():
    twin, images = made().eval(), torch.ones(2, 3, 2, 2)
    with torch.no_grad():
        twin.shared.head.weight.zero_()
    assert torch.equal(twin(images).logits, twin.personal(images).logits)
    assert len(twin(images)) == 2
