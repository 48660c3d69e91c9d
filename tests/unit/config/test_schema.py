from __future__ import annotations

import pytest

from equipoise.config.check import check
from equipoise.config.loader import load
from equipoise.config.named import NAMED, PLAIN
from equipoise.config.schema import Config
from equipoise.core.errors import ConfigError


def complaints(raw: dict) -> dict[str, str]:
    with pytest.raises(ConfigError) as caught:
        check(raw)
    return dict(caught.value.problems)


def test_nothing_given_is_fedavg_on_digits_in_ten_rounds():
    config = check({})
    assert (config.method.name, config.data.name, config.rounds, config.steps) == ("fedavg", "digits", 10, 10)
    assert config.partition.alpha == 0.5  # the settings of the default splitter, not of the bare block
    assert not config.is_one_shot


def test_a_one_shot_run_has_as_many_checkpoints_as_epochs_up_to_ten():
    assert check({"communication": "one-shot", "client": {"epochs": 4}}).checkpoints == 4
    assert check({"communication": "one-shot", "client": {"epochs": 300}}).checkpoints == 10
    assert check({"communication": "one-shot", "client": {"epochs": 30}, "checkpoints": 15}).steps == 15


@pytest.mark.parametrize(
    ("raw", "key", "message"),
    [
        ({"communication": "one-shot", "rounds": 3}, "rounds", "a one-shot run has no rounds; set checkpoints"),
        ({"checkpoints": 3}, "checkpoints", "belongs to communication=one-shot"),
        (
            {"communication": "one-shot", "checkpoints": 4, "client": {"epochs": 3}},
            "checkpoints",
            "4 checkpoints need at least as many client.epochs, got 3",
        ),
        ({"server": {"predict": "anchor"}}, "server.predict", "'anchor' is not known; did you mean 'anchors'?"),
    ],
)
def test_settings_that_contradict_each_other(raw, key, message):
    assert message in complaints(raw)[key]


@pytest.mark.parametrize(
    "given",
    [
        "client.augment=two-view",
        "server.predict=logit-ensemble",
        "server.common=patches",
        "evaluate.clients=3",
        "evaluate.beside=each",
    ],
)
def test_settings_of_images_are_refused_where_histories_are_learnt_from(given):
    with pytest.raises(ConfigError) as caught:
        load("rec/feddmmr", [given])
    assert dict(caught.value.problems) == {given.split("=")[0]: "is for images, and data 'planted' holds interactions"}


def test_a_setting_of_images_at_its_default_says_nothing():
    assert load("rec/feddmmr", ["client.augment=none", "evaluate.clients=20"]).config == load("rec/feddmmr").config


@pytest.mark.parametrize("given", [["model.heads=3"], ["model.width=33"]])
def test_heads_that_do_not_share_the_width_equally_are_refused(given):
    with pytest.raises(ConfigError) as caught:
        load("rec/feddmmr", given)
    assert "is not a multiple of" in dict(caught.value.problems)["model.heads"]


def test_contradictions_are_listed_together():
    raw = {"communication": "one-shot", "rounds": 2, "checkpoints": 5, "client": {"epochs": 2}}
    assert complaints(raw | {"server": {"predict": "nothing"}}).keys() == {"rounds", "checkpoints", "server.predict"}


@pytest.mark.parametrize("value", [3, ["digits"], None, 1.5])
def test_a_named_block_is_a_name_or_settings(value):
    assert complaints({"data": value}) == {"data": f"expected a name or a block of settings, got {value!r}"}


def test_a_name_alone_is_a_block():
    assert check({"model": "mlp"}) == check({"model": {"name": "mlp"}})


def test_blocks_of_one_configuration_cover_the_schema():
    blocks = {key for key, field in Config.model_fields.items() if not isinstance(field.default, str | int | None)}
    assert blocks == {*NAMED, *PLAIN, "limits", "plugins"}


def test_every_setting_of_every_block_is_described():
    kinds = [*PLAIN.values(), *(entry.options for registry in NAMED.values() for entry in registry)]
    missing = [
        f"{kind.__name__}.{name}"
        for kind in kinds
        for name, field in kind.model_fields.items()
        if name != "name" and not field.description
    ]
    assert missing == []


@pytest.mark.parametrize(
    "same", ["name=other", "engine=processes", "engine.name=local", "evaluate.every=1", "method=fedavg"]
)
def test_what_cannot_move_a_number_is_not_in_the_fingerprint(same):
    assert load("fedavg", [same]).config.fingerprint() == load("fedavg").config.fingerprint()


@pytest.mark.parametrize(
    "other",
    ["seed=1", "engine.threads=9", "lr=0.04", "rounds=11", "method=ensemble", "data.limit=100", "evaluate.every=2"],
)
def test_everything_else_is(other):
    assert load("fedavg", [other]).config.fingerprint() != load("fedavg").config.fingerprint()


def test_workers_are_not_in_the_fingerprint_and_threads_are():
    plain = load("fedavg", ["engine=processes"]).config.fingerprint()
    assert load("fedavg", ["engine=processes", "engine.workers=3"]).config.fingerprint() == plain
    assert load("fedavg", ["engine=processes", "engine.threads=3"]).config.fingerprint() != plain


ONE_SHOT = {"communication": "one-shot", "client": {"epochs": 4}}


@pytest.mark.parametrize(
    ("raw", "beside", "shown"),
    [
        ({}, None, [False, True]),  # with rounds, at the end
        (ONE_SHOT, None, [True, True]),
        ({}, "each", [True, True]),
        (ONE_SHOT, "last", [False, True]),
        (ONE_SHOT, "never", [False, False]),
    ],
)
def test_when_every_way_to_predict_is_shown(raw, beside, shown):
    config = check(raw | {"evaluate": {"beside": beside}})
    assert [config.shows_beside(is_last) for is_last in (False, True)] == shown


@pytest.mark.parametrize("same", ["name=other", "server.predict=anchors", "server.merge=unit", "engine=processes"])
def test_how_the_server_merges_and_predicts_moves_no_one_shot_client(same):
    assert load("fafi", [same]).config.training_fingerprint() == load("fafi").config.training_fingerprint()


@pytest.mark.parametrize("other", ["seed=1", "lr=0.04", "server.fraction=0.5", "engine.threads=9", "evaluate.every=2"])
def test_everything_else_may_or_is_scored_otherwise(other):
    assert load("fafi", [other]).config.training_fingerprint() != load("fafi").config.training_fingerprint()


def test_with_rounds_the_server_moves_the_clients():
    assert load("fedavg").config.training_fingerprint() is None


def test_a_way_to_predict_is_written_down_by_its_name():
    by_alias, by_name = (check({"server": {"predict": name}}) for name in ("model", "parameter-average"))
    assert by_alias == by_name
    assert by_alias.fingerprint() == by_name.fingerprint()
