"""The key `plugins`: modules and files, found from every folder, and their content in the fingerprint."""

from __future__ import annotations

from pathlib import Path

import pytest

from equipoise.config.check import check
from equipoise.config.loader import load, to_yaml
from equipoise.core.errors import ConfigError, PluginError
from equipoise.core.registry import METHODS
from equipoise.run.grid import load_grid

MINE = '''"""Mine."""
from equipoise.core.registry import METHODS
from equipoise.method.answers import Method

@METHODS.register("mine")
def mine(options):
    return Method()
'''
pytestmark = pytest.mark.usefixtures("own_plugins")


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


def test_a_file_on_the_command_line_lies_in_the_working_folder(mine, monkeypatch):
    monkeypatch.chdir(mine.parent)
    config = load("fedavg", ["plugins=mine.py", "method=mine"]).config
    assert [(plugin.name, plugin.path) for plugin in config.plugins] == [("mine", str(mine))]
    assert METHODS.find("mine").package == "mine"


def test_a_file_named_in_a_file_lies_beside_it(mine):
    preset = mine.parent / "p.yaml"
    preset.write_text("preset: fedavg\nplugins: [mine.py]\nmethod: mine\n")
    assert load(preset).config.plugins[0].path == str(mine)


def test_a_sweep_file_may_name_plugins_too(mine):
    sweep = mine.parent / "s.yaml"
    sweep.write_text("plugins: [mine.py]\nseeds: 1\ngrid: {method: [mine, fedavg]}\n")
    assert [cell.config.method.name for cell in load_grid(str(sweep)).cells] == ["mine", "fedavg"]


def test_several_files_on_the_command_line_are_no_axis(mine):
    other = mine.parent / "other.py"
    other.write_text(MINE.replace("mine", "other"))
    grid = load_grid("fedavg", [f"plugins={mine},{other}", "method=mine,other"], seeds="1")
    assert [cell.label for cell in grid.cells] == ["method=mine", "method=other"]


def test_the_resolved_configuration_is_a_preset_that_works_from_any_folder(mine, tmp_path_factory, monkeypatch):
    config = load("fedavg", [f"plugins={mine}", "method=mine"]).config
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "again.yaml").write_text(to_yaml(config))
    monkeypatch.chdir(elsewhere)
    assert load("again.yaml").config == config


def test_the_fingerprint_has_the_content_and_not_the_place(mine, tmp_path_factory):
    copy = tmp_path_factory.mktemp("copy") / "mine.py"
    copy.write_text(MINE)
    raw = load("fedavg", [f"plugins={mine}", "method=mine"]).config.model_dump()
    here = check(raw).fingerprint()
    moved = check(raw).model_copy(update={"plugins": [check(raw).plugins[0].model_copy(update={"path": str(copy)})]})
    other = check(raw).model_copy(update={"plugins": [check(raw).plugins[0].model_copy(update={"sha256": "0" * 64})]})
    assert moved.fingerprint() == here
    assert other.fingerprint() != here


def test_without_plugins_the_fingerprint_is_what_it_was_before_there_were_any():
    config = load("fedavg").config
    assert config.fingerprint() == "55a8bb7c744cd135b5c0de4b0fe1551823edc025ce392802d19db4463ac9ce31"
    old = {key: value for key, value in config.model_dump().items() if key != "plugins"}
    assert check(old).fingerprint() == config.fingerprint()


def test_what_changed_since_is_refused(mine):
    stored = load("fedavg", [f"plugins={mine}", "method=mine"]).config.model_dump()
    mine.write_text(MINE + "\n# another one\n")
    with pytest.raises(PluginError, match="plugin 'mine' is not what it was: its hash is") as caught:
        check(stored)
    assert caught.value.where == str(mine)


def test_an_edited_file_is_read_again_where_no_hash_is_asked_for(mine):
    load("fedavg", [f"plugins={mine}", "method=mine"])
    mine.write_text(MINE.replace('register("mine")', 'register("mine", aliases=("ours",))'))
    assert load("fedavg", [f"plugins={mine}", "method=ours"]).config.method.name == "mine"


def test_a_module_by_name(mine, monkeypatch):
    monkeypatch.syspath_prepend(mine.parent)
    config = load("fedavg", ["plugins=mine", "method=mine"]).config
    assert (config.plugins[0].name, config.plugins[0].path) == ("mine", str(mine))


def test_a_module_that_somebody_imported_is_carried_along_without_being_listed(mine, monkeypatch):
    monkeypatch.syspath_prepend(mine.parent)
    import mine as module

    config = load("fedavg", ["method=mine"]).config
    assert [plugin.path for plugin in config.plugins] == [module.__file__]


def test_plugins_of_a_preset_and_of_the_command_add_up(mine):
    other = mine.parent / "other.py"
    other.write_text(MINE.replace("mine", "other"))
    preset = mine.parent / "p.yaml"
    preset.write_text("preset: fedavg\nplugins: [mine.py]\nmethod: mine\n")
    assert [plugin.name for plugin in load(preset, [f"plugins={other}"]).config.plugins] == ["mine", "other"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("nowhere.py", "there is no plugin file .*nowhere.py"),
        ("no_such_module_here", "there is no plugin module 'no_such_module_here'"),
        ("no/module", "expected a module such as my_plugin, or a file such as mine.py, got 'no/module'"),
        ("3", "expected a list of modules and files, got 3"),
        ("{nam: x}", "expected a list"),
        ("[{nam: x}]", "plugins.name: Field required"),
    ],
)
def test_what_cannot_be_a_plugin(value, said):
    with pytest.raises(ConfigError, match=said):
        load("fedavg", [f"plugins={value}"])


def test_a_file_that_fails_says_where(tmp_path):
    (tmp_path / "bad.py").write_text("import os\nos.no_such_thing\n")
    with pytest.raises(PluginError, match="plugin 'bad' cannot be loaded: AttributeError") as caught:
        load("fedavg", [f"plugins={tmp_path / 'bad.py'}"])
    assert caught.value.where == f"{tmp_path / 'bad.py'}, line 2"
