from __future__ import annotations

import pytest

from equipoise.core.errors import ConfigError, DataError
from equipoise.core.registry import METHODS
from equipoise.run.build import build
from tests.conftest import numbers, one_shot, records, tiny

POOL = ("data.public=0.1", "client.augment=two-view", "method.teacher_epochs=1")
FOUR = {"loss/cls", "loss/con", "loss/pf", "loss/pp"}


def losses(config) -> list[dict[str, float]]:
    """The loss terms of client 0 at each checkpoint."""
    found = numbers(records(config))
    return [
        {name: value for (at, client, name), value in found.items() if (at, client) == (step, 0) and "loss/" in name}
        for step in range(config.steps)
    ]


@pytest.fixture(scope="module")
def staged() -> list[dict[str, float]]:
    cycle = ("method.cycle=2", "method.first=1")
    return losses(one_shot("method=two-stage", *POOL, *cycle, epochs=4, checkpoints=4))


def test_the_first_epoch_of_a_cycle_has_the_contrast_alone(staged):
    for step in (0, 2):
        assert staged[step].keys() & FOUR == {"loss/con"}
        assert staged[step]["loss/base"] == staged[step]["loss/con"]


def test_the_other_epochs_have_all_four_terms(staged):
    for step in (1, 3):
        assert staged[step].keys() >= FOUR
        assert staged[step]["loss/base"] == pytest.approx(sum(staged[step][name] for name in FOUR), rel=1e-5)


def test_without_a_first_stage_it_never_trains_the_contrast_alone():
    (terms,) = losses(one_shot("method=two-stage", "method.first=0", *POOL, epochs=1, checkpoints=1))
    assert terms.keys() >= FOUR


def test_the_settings_of_the_report():
    options = METHODS.find("two-stage").options()
    assert (options.tau, options.teacher_epochs, options.features) == (0.5, 20, 4096)
    assert (options.cycle, options.first) == (5, 1)


@pytest.mark.parametrize(("balance", "lam"), [("constant", 5), ("none", 0)])
def test_public_bank_weighs_the_contrast_by_the_balance_block(balance, lam):
    found = numbers(records(one_shot("method=public-bank", f"balance={balance}", *POOL, epochs=1, checkpoints=1)))
    assert found[0, 0, "lam/used"] == lam
    assert found[0, 0, "loss/align"] > 0
    parts = [found[0, 0, f"loss/{name}"] for name in ("cls", "pf", "pp")]
    assert found[0, 0, "loss/base"] == pytest.approx(sum(parts), rel=1e-5)
    assert (0, 0, "loss/con") not in found


@pytest.mark.parametrize("method", ["two-stage", "public-bank"])
def test_public_features_go_down_once(method):
    config = one_shot(f"method={method}", *POOL, epochs=2, checkpoints=2)
    found = numbers(records(config))
    federation = build(config)
    model = sum(tensor.numel() * tensor.element_size() for tensor in federation.start.values())
    n = len(federation.judge.evaluator.splits.public)
    assert n == 20  # a tenth of 200 images
    broadcast = n * 16 * 4 + n * 8  # 16 features in single precision and a label each
    assert found[0, None, "bytes/down"] == 3 * (model + broadcast)
    assert found[1, None, "bytes/down"] == 0


def test_no_client_has_an_image_of_the_pool():
    federation = build(tiny("method=two-stage", *POOL))
    assert sum(len(index) for index in federation.site.indices) == 200 - 20 - 20


@pytest.mark.parametrize("method", ["two-stage", "public-bank"])
def test_without_a_pool_it_is_refused(method):
    with pytest.raises(
        ConfigError, match=rf"data\.public: method '{method}' needs a public pool: set data\.public=0\.1"
    ):
        build(tiny(f"method={method}"))


def test_a_pool_of_one_image_is_too_small_to_learn_from():
    with pytest.raises(DataError, match="a public pool of 1 samples is too small"):
        build(tiny("method=two-stage", "data.public=0.005"))
