"""Plugins of installed packages: found by entry points, loaded when needed, and no danger to anybody else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from equipoise.core.errors import PluginError, UnknownName
from equipoise.core.plugins import INSTALLED, installed, offered, plugins_of, preset_folders
from equipoise.core.registry import BALANCES, METHODS

METHOD = '''
from equipoise.core.registry import METHODS
from equipoise.method.answers import Method

@METHODS.register("{name}")
def {function}(options):
    """What it is."""
    return Method()
'''


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_plugins):
    """install("acme", text of acme/__init__.py): as pip would, and nothing was looked for yet."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(INSTALLED, "is_read", False)

    def put(name: str, text: str) -> Path:
        package, facts = tmp_path / name, tmp_path / f"{name}-1.2.dist-info"
        package.mkdir()
        facts.mkdir()
        (package / "__init__.py").write_text(text)
        (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-dist\nVersion: 1.2\n")
        (facts / "entry_points.txt").write_text(f"[equipoise.plugins]\n{name} = {name}\n")
        return package

    return put


def method(name: str) -> str:
    return METHOD.format(name=name, function=name.replace("-", "_"))


def test_an_installed_package_is_found_by_what_it_brings(install):
    install("acme_here", method("acme-method"))
    entry = METHODS.find("acme-method")
    assert entry.package == "acme_here-dist 1.2"
    assert entry.summary == "What it is."
    assert "acme-method" in METHODS.names()
    (plugin,) = plugins_of([entry, METHODS.find("fedavg"), entry])
    assert (plugin.name, plugin.package, plugin.version, plugin.path) == ("acme_here", "acme_here-dist", "1.2", None)
    assert re.fullmatch("[0-9a-f]{64}", plugin.sha256)


def test_our_own_names_are_found_without_importing_anybody(install):
    install("acme_lazy", "raise RuntimeError('imported')")
    assert METHODS.find("fedavg").package == ""
    assert not INSTALLED.is_read
    assert list(offered()) == ["acme_lazy"]


def test_a_plugin_that_fails_to_import_hinders_nobody_and_is_named_when_it_is_asked_for(install):
    broken = install("acme_broken", method("lost-method") + "\nimport there_is_no_such_module\n")
    install("acme_whole", method("whole-method"))
    assert METHODS.find("whole-method").name == "whole-method"
    assert "lost-method" not in METHODS.names()
    (left_out,) = installed()
    assert "acme_broken-dist 1.2" in str(left_out)
    with pytest.raises(PluginError, match="ModuleNotFoundError: No module named 'there_is_no_such_module'") as caught:
        METHODS.find("lost-method")
    assert caught.value.exit_code == 2
    assert caught.value.where == f"{broken / '__init__.py'}, line 10"
    with pytest.raises(UnknownName):
        METHODS.find("of-nobody")


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        ("x = (", "SyntaxError", 1),
        ("\nimport sys\nsys.exit(3)", "SystemExit: 3", 3),
        ("\n\n1 / 0", "ZeroDivisionError: division by zero", 3),
    ],
)
def test_where_it_failed_is_said_with_file_and_line(install, text, said, line):
    package = install("acme_wrong", text)
    (left_out,) = installed()
    assert said in left_out.error.what
    assert left_out.error.where == f"{package / '__init__.py'}, line {line}"


def test_a_name_taken_twice_names_both_packages_files_and_lines(install):
    first = install("acme_a", method("same-name"))
    second = install("acme_b", method("same-name"))
    (left_out,) = installed()
    assert left_out.error.what == "method 'same-name' is registered twice"
    assert f"acme_a ({first / '__init__.py'}, line 5)" in left_out.error.where
    assert f"acme_b ({second / '__init__.py'}, line 5)" in left_out.error.where
    assert METHODS.find("same-name").origin.root == "acme_a"


def test_a_name_of_ours_cannot_be_taken(install):
    install("acme_greedy", method("fedavg"))
    (left_out,) = installed()
    assert "method 'fedavg' is registered twice" in left_out.error.what
    assert METHODS.find("fedavg").package == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "from equipoise.core.registry import METHODS\n@METHODS.register('m')\ndef m(): pass",
            r"method 'm' has the wrong signature: expected \(options\), found m\(\)",
        ),
        (
            "from equipoise.core.registry import SPLITTERS\n@SPLITTERS.register('s')\ndef s(labels, options): pass",
            r"expected \(labels, n_classes, options, rng\), found s\(labels, options\)",
        ),
        (
            "from equipoise.core.registry import BALANCES\nBALANCES.register('b')(3)",
            r"balance 'b' is not a function: expected one that takes \(options\), found int",
        ),
    ],
)
def test_the_wrong_shape_is_refused_when_it_is_registered(install, text, said):
    package = install("acme_shape", text)
    (left_out,) = installed()
    assert re.search(said, left_out.error.what)
    assert f"{package / '__init__.py'}, line" in left_out.error.where
    assert "constant" in BALANCES.names()


def test_a_declared_function_that_is_not_there_is_named_when_it_is_made(install):
    install("acme_far", "from equipoise.core.registry import MODELS\nMODELS.declare('far', 'acme_far:missing')")
    from equipoise.core.registry import MODELS

    with pytest.raises(PluginError, match="declared at acme_far:missing, and there is no 'missing' in acme_far"):
        MODELS.find("far").make  # noqa: B018


def test_registering_without_options_gives_those_of_the_kind(install):
    install("acme_plain", method("plain-method"))
    from equipoise.config.blocks import MethodOptions
    from equipoise.config.check import check

    assert METHODS.find("plain-method").options is MethodOptions
    assert check({"method": "plain-method"}).method == MethodOptions(name="plain-method")


def test_presets_of_a_package_stand_under_its_name(install):
    package = install("acme_sets", "")
    (package / "presets").mkdir()
    (package / "presets" / "mine.yaml").write_text(
        "# Mine.   equipoise run acme_sets/mine\npreset: fedavg\nrounds: 3\n"
    )
    from equipoise.config.loader import find_preset, load, preset_files

    assert preset_folders() == {"acme_sets": package / "presets"}
    assert find_preset("acme_sets/mine") == preset_files()["acme_sets/mine"] == package / "presets" / "mine.yaml"
    assert load("acme_sets/mine").config.rounds == 3
