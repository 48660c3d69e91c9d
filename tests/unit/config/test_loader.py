from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from equipoise.config.loader import PRESETS, find_preset, load, preset_names, to_yaml, value_of
from equipoise.core.errors import ConfigError, UnknownName


@pytest.fixture
def written(tmp_path):
    """A YAML file with that text."""

    def write(text: str, name: str = "mine.yaml") -> Path:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def problems(source, *overrides: str) -> dict[str, str]:
    with pytest.raises(ConfigError) as caught:
        load(source, overrides)
    assert caught.value.exit_code == 2
    return dict(caught.value.problems)


def test_a_preset_is_found_by_its_name_below_any_folder():
    assert {"fedavg", "one-shot/fedavg", "studies/demo"} <= set(preset_names())
    assert find_preset("one-shot/fedavg") == PRESETS / "one-shot" / "fedavg.yaml"
    assert load("one-shot/fedavg").config.is_one_shot


def test_a_preset_is_called_after_its_file_unless_it_says_otherwise(written):
    assert load("fedavg").config.name == "fedavg"
    assert load("one-shot/fedavg").config.name == "one-shot-fedavg"
    assert load(written("rounds: 2\n", "trial.yml")).config.name == "trial"
    assert load({"rounds": 2}).config.name == "run"


def test_layers_preset_then_file_then_override(written):
    file = written("preset: fedavg\nclient: {lr: 0.3, batch: 8}\n")
    config = load(file, ["lr=0.7"]).config
    assert (config.client.epochs, config.client.batch, config.client.lr) == (2, 8, 0.7)


def test_every_problem_at_once_with_suggestions():
    wrong = ["rounds=0", "alpha=-1", "fraction=2", "lr=nan", "modl=cnn", "partition.alpa=3", "method=fedavgg"]
    found = problems("fedavg", *wrong)
    assert found.keys() == {
        "rounds", "partition.alpha", "server.fraction", "client.lr", "modl", "partition.alpa", "method",
    }  # fmt: skip
    assert "did you mean 'model'" in found["modl"]
    assert "did you mean 'alpha'" in found["partition.alpa"]
    assert "did you mean 'fedavg'" in found["method"]
    assert "greater than 0, got -1" in found["partition.alpha"]


def test_an_unknown_key_of_a_plain_block_suggests_the_nearest():
    assert problems("fedavg", "client.epoch=1") == {"client.epoch": "unknown key; did you mean 'epochs'?"}


@pytest.mark.parametrize(
    ("override", "key"),
    [
        ("partition.alpha=0", "partition.alpha"),
        ("partition.alpha=lots", "partition.alpha"),
        ("server.fraction=1.01", "server.fraction"),
        ("server.fraction=0", "server.fraction"),
        ("client.lr=nan", "client.lr"),
        ("client.lr=.nan", "client.lr"),
        ("client.lr=.inf", "client.lr"),
        ("client.lr=", "client.lr"),
        ("client.clip=0", "client.clip"),
        ("client.momentum=1", "client.momentum"),
        ("rounds=0", "rounds"),
        ("rounds=2.5", "rounds"),
        ("seed=-1", "seed"),
        ("name=a b", "name"),
        ("communication=sometimes", "communication"),
        ("client.optimiser=lion", "client.optimiser"),
        ("client=3", "client"),
        ("data=5", "data"),
        ("engine.threads=0", "engine.threads"),
        ("evaluate.every=0", "evaluate.every"),
    ],
)
def test_wrong_type_or_range(override, key):
    assert problems("fedavg", override).keys() == {key}


def test_the_short_form_combines_with_dotted_keys():
    config = load("fedavg", ["data=synthetic", "data.limit=50", "data.classes=4", "model=mlp", "model.hidden=8"]).config
    assert (config.data.name, config.data.limit, config.data.classes) == ("synthetic", 50, 4)
    assert (config.model.name, config.model.hidden) == ("mlp", 8)
    assert load("fedavg", ["data.limit=50", "data=digits"]).config.data.limit == 50


def test_a_things_alias_is_printed_as_its_name():
    config = load("fedavg", ["method=central", "partition=lda", "engine=sequential"]).config
    assert (config.method.name, config.partition.name, config.engine.name) == ("centralised", "dirichlet", "local")


def test_another_name_drops_the_old_ones_settings_and_keeps_common_ones():
    config = load("fedavg", ["partition.clients=9"]).config
    assert (config.partition.name, config.partition.alpha, config.partition.clients) == ("dirichlet", 0.1, 9)
    other = load(config.model_dump(), ["partition=iid"]).config
    assert other.partition.model_dump() == {"name": "iid", "clients": 9, "min_size": 2}
    model = load("fedavg", ["model=resnet8"]).config.model
    assert (model.width, model.name) == (16, "resnet8")
    assert not hasattr(model, "features")


def test_the_same_name_again_drops_nothing():
    assert load("fedavg", ["partition=dirichlet"]).config.partition.alpha == 0.1
    assert load("fedavg", ["partition=lda"]).config.partition.alpha == 0.1


def test_a_setting_given_with_the_new_name_is_checked_not_dropped():
    found = problems("fedavg", "partition=iid", "alpha=0.3")
    assert found == {"partition.alpha": "not a setting of partition 'iid'; known: clients, min_size"}
    found = problems("fedavg", "model=mlp", "model.hiden=3")
    assert found == {"model.hiden": "not a setting of model 'mlp'; did you mean 'hidden'?"}


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (("method=ensemble", "method.mu=1"), "not a setting of method 'ensemble', which has none"),
        (("method=central", "method.mu=1"), "not a setting of method 'centralised', which has none"),
        (
            ("data=cifar10", "data.clases=3"),
            "not a setting of data 'cifar10'; known: limit, local_test, public, test_limit, validation",
        ),
    ],
)
def test_a_setting_of_another_thing_is_told_of_the_thing_that_was_chosen(overrides, message):
    assert list(problems("fedavg", *overrides).values()) == [message]


def test_an_unknown_new_name_is_one_problem():
    assert problems("fedavg", "partition=dirichlett") == {
        "partition": "partition 'dirichlett' is not known; did you mean 'dirichlet'?"
    }


def test_a_data_folder_never_comes_from_a_preset(written):
    for text in ("data.path: /somewhere\n", "preset: fedavg\ndata: {name: cifar10, path: /somewhere}\n"):
        assert "never comes from a preset" in problems(written(text))["data.path"]


@pytest.mark.parametrize("folder", ["/somewhere/else", "123", "010", "2024-01-01", "1e3", "yes"])
def test_a_data_folder_from_the_command_is_no_part_of_the_configuration(folder):
    request = load("fedavg", [f"data.path={folder}"])
    assert request.data_path == Path(folder)
    assert "path" not in request.config.data.model_dump()
    assert request.config == load("fedavg").config
    assert load("fedavg").data_path is None


@pytest.mark.parametrize(("text", "value"), [("1e-3", 1e-3), ("1E-3", 1e-3), ("5e-2", 0.05), (".5", 0.5), ("2.", 2.0)])
def test_a_number_is_a_number(text, value, written):
    assert load("fedavg", [f"lr={text}"]).config.client.lr == value
    assert load(written(f"client: {{lr: {text}}}\n")).config.client.lr == value


def test_null_takes_a_limit_away():
    assert load("fedavg", ["evaluate.client_images=null"]).config.evaluate.client_images is None


def test_a_key_given_twice():
    assert problems("fedavg", "alpha=1", "beta=2") == {"partition.alpha": "given twice, as 1 and 2"}
    assert load("fedavg", ["alpha=1", "partition.alpha=1"]).config.partition.alpha == 1


def test_what_is_not_key_value():
    found = problems("fedavg", "alpha", "=3", "lr=0.1")
    assert found.keys() == {"alpha", "=3"}
    assert "expected key=value" in found["alpha"]


def test_a_value_is_not_a_block():
    assert "'rounds' is a value here" in problems("fedavg", "rounds.x=1")["rounds.x"]


def test_a_block_on_the_command_changes_only_what_it_names():
    config = load("fedavg", ["client={batch: 8, lr: 0.3}", "model={name: cnn, width: 4}"]).config
    assert (config.client.epochs, config.client.batch, config.client.lr) == (2, 8, 0.3)
    assert (config.model.width, config.model.features) == (4, 64)


def test_an_empty_block_changes_nothing(written):
    text = "preset: fedavg\nclient: {}\nmodel: {}\nserver: {}\n"
    assert load(written(text, "fedavg.yaml")).config == load("fedavg").config


def test_an_empty_block_that_does_not_exist_is_still_unknown(written):
    assert problems(written("preset: fedavg\nclint: {}\n"))["clint"] == "unknown key; did you mean 'client'?"


def test_an_empty_file_of_nothing_but_braces_is_all_defaults(written):
    assert load(written("{}\n", "run.yaml")).config == load({}).config


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a\n- b\n", "expected keys and values, got list"),
        ("just words\n", "expected keys and values, got str"),
        ("", "expected keys and values, got NoneType"),
        ("a: [1\n", "cannot read"),
        ("a: b: c\n", "cannot read"),
    ],
)
def test_a_file_that_is_not_a_configuration(written, text, message):
    with pytest.raises(ConfigError, match=message) as caught:
        load(written(text))
    assert "mine.yaml" in str(caught.value)


def test_a_file_that_is_not_text(tmp_path):
    (tmp_path / "mine.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="cannot read"):
        load(tmp_path / "mine.yaml")


def test_a_missing_file_and_an_unknown_preset():
    with pytest.raises(ConfigError, match=r"there is no file nowhere\.yaml"):
        load("nowhere.yaml")
    with pytest.raises(UnknownName, match="preset 'fedavgg' is not known; did you mean 'fedavg'"):
        load("fedavgg")


def test_a_preset_underneath_itself_is_refused(written, tmp_path):
    written(f"preset: {tmp_path}/b.yaml\n", "a.yaml")
    written(f"preset: {tmp_path}/a.yaml\n", "b.yaml")
    with pytest.raises(ConfigError, match="preset: a is underneath itself"):
        load(tmp_path / "a.yaml")


def test_another_communication_drops_the_other_ones_axis():
    config = load("fedavg", ["communication=one-shot"]).config
    assert (config.rounds, config.checkpoints) == (None, 2)  # as many as client.epochs, at most 10
    assert load("one-shot/fedavg", ["communication=rounds"]).config.rounds == 10


def test_words_that_are_not_yaml_are_words():
    assert problems("fedavg", "name=[a").keys() == {"name"}


def test_the_resolved_configuration_is_a_preset(written):
    config = load("fedprox", ["alpha=0.07", "seed=3", "data=synthetic"]).config
    file = written(to_yaml(config), "resolved.yaml")
    assert load(file).config == config
    assert yaml.safe_load(file.read_text())["method"] == {"name": "fedprox", "mu": 0.1}


@pytest.mark.parametrize("name", ["1e5", "08", "12", "yes", "null", "2024-01-01", "1.5", "0x1f"])
def test_a_name_that_looks_like_something_else_comes_back_as_a_name(written, name):
    config = load({"name": name}).config
    assert load(written(to_yaml(config))).config == config


def test_a_sweep_is_not_a_run():
    with pytest.raises(ConfigError, match="'studies/demo' is a sweep, not one run") as caught:
        load("studies/demo")
    assert caught.value.fix == "equipoise sweep studies/demo"


@pytest.mark.parametrize("empty", ["rounds=", "client.lr=", "data="])
def test_a_key_without_a_value_is_refused(empty):
    key = empty.removesuffix("=")
    assert problems("fedavg", empty)[key].startswith(f"has no value; to leave it open, write {key}=null")


@pytest.mark.parametrize("text", ["rounds: 2\nrounds: 3\n", "client:\n  lr: 0.1\n  epochs: 1\n  lr: 0.2\n"])
def test_a_key_that_stands_twice_in_a_file_is_refused(written, text):
    with pytest.raises(ConfigError, match=r"the key '(rounds|lr)' stands there twice"):
        load(written(text))


@pytest.mark.parametrize("key", ["rounds", "client.epochs", "client.batch", "partition.clients"])
def test_a_number_that_nothing_can_count_to_is_refused(key):
    found = problems("fedavg", f"{key}=99999999999999999999")
    assert "expected a whole number of at most 2147483647" in found[key]
    assert load("fedavg", ["seed=4000000000"]).config.seed == 4_000_000_000


def test_a_split_file_does_not_inherit_the_number_of_clients():
    assert load("fedavg").config.partition.clients == 5
    assert load("fedavg", ["partition=file"]).config.partition.clients is None
    assert load("fedavg", ["partition=file", "K=7"]).config.partition.clients == 7
    assert load("fedavg", ["partition=shards"]).config.partition.clients == 5


@pytest.mark.parametrize("text", ["2020-13-45", "&a {b: *a}", "{x: &a [1], y: *a}", "[&a 1, *a]"])
def test_a_value_that_is_no_date_or_refers_to_itself_is_a_text(text):
    assert value_of(text) == text
    with pytest.raises(ConfigError, match="rounds"):
        load("fedavg", [f"rounds={text}"])


def test_a_file_may_use_a_value_twice(tmp_path):
    path = tmp_path / "twice.yaml"
    path.write_text("preset: fedavg\nseed: &n 3\nrounds: *n\n", encoding="utf-8")
    config = load(str(path)).config
    assert (config.seed, config.rounds) == (3, 3)
