from __future__ import annotations

import pytest
import torch

from equipoise.core.errors import ConfigError
from equipoise.deploy.finished import finished
from equipoise.deploy.parts import model_of, parts_of
from tests.conftest import one_shot, tiny, untouched_rng

from .conftest import WAYS, accuracy_of, recorded, run_of, test_samples


@pytest.mark.parametrize(("trained", "predict"), WAYS)
def test_the_model_gives_the_accuracy_that_the_run_recorded(store, servers, trained, predict):
    run = servers[trained, predict]
    model = model_of(store, run)
    assert accuracy_of(model, test_samples(run)) == pytest.approx(recorded(store, run), abs=1e-9)
    assert model.card["recorded"]["value"] == recorded(store, run)


@pytest.mark.parametrize(
    "config",
    [
        tiny(),
        tiny("server.fraction=0.7", model="resnet8"),
        tiny("method=ensemble", "server.fraction=0.7"),
        tiny("method=fafi", "server.predict=common-gate"),
        tiny("method=fedproto"),
        tiny("method=fedetf"),
        tiny("method=centralised"),
        tiny("server.predict=recalibrated-average", "model.width=4", model="resnet8"),
        tiny("server.personal=[head]"),
        one_shot("method=statistics", "checkpoints=1", model="filters"),
        one_shot("method=two-stage", "data.public=0.2", "method.teacher_epochs=1"),
    ],
    ids=lambda config: f"{config.method.name}-{config.server.predict}-{config.model.name}-{config.server.fraction}",
)
def test_runs_in_rounds_and_of_other_methods_do_so_too(store, config):
    run = run_of(store, config)
    assert accuracy_of(model_of(store, run), test_samples(run)) == pytest.approx(recorded(store, run), abs=1e-9)


def test_what_nobody_reads_stays_behind(store, servers):
    def names(*key):
        return {name.rsplit(".", 1)[0] for name in parts_of(store, servers[key]).tensors}

    assert names("mlp", "parameter-average") == {
        "models.merged.encoder.1", "models.merged.head"
    }  # fmt: skip
    assert names("mlp", "common") == {"common", "values.once"}
    assert parts_of(store, servers["mlp", "common"]).card["clients"] == []
    assert not any(name.startswith("values.answer") for name in names("mlp", "statistics-exchange"))


def test_one_image_at_a_time_gives_what_a_batch_gives(store, servers):
    for key in (("resnet8", "parameter-average"), ("mlp", "typicality-gate")):
        model, samples = model_of(store, servers[key]), test_samples(servers[key])
        images = torch.from_numpy(samples.inputs[:5])
        with torch.no_grad():
            torch.testing.assert_close(torch.cat([model(image[None]) for image in images]), model(images))
            assert model(images).sum(1) == pytest.approx([1.0] * 5, abs=1e-5)


def test_the_model_is_plain_pytorch(store, servers):
    model = model_of(store, servers["resnet8", "probability-ensemble"])
    assert model.classes == tuple(str(digit) for digit in range(10))
    assert not any(module.training for module in model.modules())
    again = model_of(store, servers["resnet8", "probability-ensemble"])
    for tensor in again.state_dict().values():
        tensor.zero_()
    again.load_state_dict(model.state_dict())
    images = torch.from_numpy(test_samples(servers["resnet8", "probability-ensemble"]).inputs[:3])
    torch.testing.assert_close(again(images), model(images))
    loss = -model(images)[:, 0].log().sum()
    loss.backward()
    assert all(param.grad is not None for name, param in model.named_parameters() if "encoder" in name)


def test_images_that_are_not_stored_bytes_are_refused(store, servers):
    model = model_of(store, servers["mlp", "parameter-average"])
    with pytest.raises(TypeError, match="expected uint8"):
        model(torch.rand(2, 1, 8, 8))


def test_making_a_model_leaves_generators_and_threads_as_they_were(store, servers):
    torch.set_num_threads(2)
    with untouched_rng():
        model_of(store, servers["mlp", "common-gate"])
    assert torch.get_num_threads() == 2


def test_without_a_merge_a_client_has_to_be_named(store):
    run = run_of(store, tiny("method=local-only"))
    with pytest.raises(ConfigError, match=r"merges nothing[^$]*name a client: 0, 1, 2"):
        model_of(store, run)
    model = model_of(store, run, client=1)
    assert accuracy_of(model, test_samples(run)) == pytest.approx(model.card["recorded"]["value"])
    assert (model.card["client"], model.card["recorded"]["metric"]) == (1, "accuracy/test")


def test_a_client_without_a_model_of_its_own_is_refused(store, servers):
    with pytest.raises(ConfigError, match=r"client 0 .* nobody has: the merged model went back"):
        model_of(store, run_of(store, tiny()), client=0)
    with pytest.raises(ConfigError, match=r"client 9 .* those with one: 0, 1, 2"):
        model_of(store, servers["mlp", "anchors"], client=9)


def test_a_client_with_a_personal_head_has_its_own_model(store):
    run = run_of(store, tiny("server.personal=[head]"))
    own, merged = model_of(store, run, client=0), model_of(store, run)
    weights = [model.state_dict() for model in (own, merged)]
    assert torch.equal(*(state["models.merged.encoder.1.weight"] for state in weights))
    assert not torch.equal(*(state["models.merged.head.weight"] for state in weights))


def test_of_two_networks_side_by_side_the_personal_one_is_taken(store):
    """As a plain network of the configured kind."""
    run = run_of(store, tiny("method=ditto", "balance=constant", "balance.lam=1"))
    found, taken = finished(store, run), model_of(store, run, client=1).state_dict()["models.merged.head.weight"]
    assert torch.equal(taken, found.own[1].model["personal.head.weight"])
    assert not torch.equal(taken, found.merged().model["shared.head.weight"])


def test_the_state_that_validation_chose_is_the_one_taken(store):
    run = run_of(store, tiny("rounds=8", "evaluate.patience=1", "client.lr=0.9"))
    model = model_of(store, run)
    best = model.card["state"]
    assert best["is"] == "best by validation"
    assert best["step"] < max(row.step for row in rows(store, run))
    (value,) = [row.value for row in rows(store, run) if row.step == best["step"]]
    assert (
        accuracy_of(model, test_samples(run)) == pytest.approx(value) == pytest.approx(model.card["recorded"]["value"])
    )


def rows(store, run):
    from equipoise.store import read

    return read.rows(store, run.run_id, names=["accuracy/merged"], client="server")
