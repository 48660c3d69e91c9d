from __future__ import annotations

import re
import sys

import pytest

from equipoise.core.errors import PluginError, UnknownName
from equipoise.core.options import Options
from equipoise.core.registry import (
    BALANCES,
    DATASETS,
    ENGINES,
    METHODS,
    MODELS,
    PREDICTS,
    SPLITTERS,
    Registry,
    suggestion,
)

KINDS = """
from equipoise.core.registry import Registry
THINGS = Registry("thing", "a_room_for_tests")
"""
CIRCLE = '''
"""Round: the first line.

x² + y² = r²
"""
from a_room_for_tests.kinds import THINGS

@THINGS.register("circle", aliases=("disc", "ring"))
def circle(options):
    return "a circle"
'''
SQUARE = """
from a_room_for_tests.kinds import THINGS

@THINGS.register("square", traits=["corners", "sides"])
def square(options):
    return "a square"
"""


@pytest.fixture
def things(tmp_path, monkeypatch):
    """A registry over a package of three files."""
    room = tmp_path / "a_room_for_tests"
    room.mkdir()
    for name, text in (("__init__", ""), ("kinds", KINDS), ("circle", CIRCLE), ("square", SQUARE)):
        (room / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    from a_room_for_tests.kinds import THINGS

    yield THINGS
    for name in [name for name in sys.modules if name.startswith("a_room_for_tests")]:
        del sys.modules[name]


def test_a_file_in_the_room_is_all_a_new_thing_needs(things):
    assert things.names() == ["circle", "square"]
    assert things.find("square").make(None) == "a square"


def test_an_alias_finds_the_same_entry(things):
    assert things.find("disc") is things.find("ring") is things.find("circle")
    assert things.find("disc").name == "circle"
    assert [entry.name for entry in things] == ["circle", "square"]


def test_documentation_is_the_docstring_of_the_file(things):
    assert things.find("circle").summary == "Round: the first line."
    assert things.find("circle").doc.endswith("x² + y² = r²")
    assert things.find("square").doc == ""


def test_options_default_to_none_at_all(things):
    assert things.find("circle").options is Options


def test_traits_set_things_of_a_kind_apart(things):
    assert [entry.name for entry in things if "corners" in entry.traits] == ["square"]
    assert things.find("square").traits == {"corners", "sides"}
    assert things.find("circle").traits == frozenset()


def test_an_unknown_name_suggests_the_nearest(things):
    with pytest.raises(UnknownName, match=r"shape: thing 'cirle' is not known; did you mean 'circle'\?"):
        things.find("cirle", "shape")


def test_a_name_like_no_other_lists_what_there_is(things):
    with pytest.raises(UnknownName, match=r"^thing 'zzz' is not known; known: circle, disc, ring, square"):
        things.find("zzz")


def test_two_files_cannot_claim_one_name(things):
    def intruder(options):
        return None

    assert things.names() == ["circle", "square"]
    for name, aliases in (("circle", ()), ("other", ("disc",))):
        with pytest.raises(PluginError, match="is registered twice") as caught:
            things.register(name, aliases=aliases)(intruder)
        assert re.search(
            r"a_room_for_tests \(.*circle\.py, line 8\) and tests \(.*test_registry\.py, line \d+\)", caught.value.where
        )
    assert things.names() == ["circle", "square"]


def test_the_same_file_may_be_read_again(things):
    entry = things.find("circle")
    things.register("circle", aliases=("disc", "ring"))(entry.make)
    assert things.names() == ["circle", "square"]


def test_suggestion():
    assert suggestion("alpa", ["alpha", "beta"]) == "; did you mean 'alpha'?"
    assert suggestion("zzz", ["beta", "alpha"]) == "; known: alpha, beta"


def test_something_without_a_module_belongs_to_the_room():
    class Bare:
        def __getattribute__(self, name):
            raise AttributeError(name)

    registry = Registry("thing", "equipoise.balance")
    registry.register("bare")(Bare())
    assert registry.find("bare").module == "equipoise.balance"


@pytest.mark.parametrize(
    "registry", [DATASETS, SPLITTERS, MODELS, BALANCES, PREDICTS, METHODS, ENGINES], ids=lambda r: r.kind
)
def test_every_registered_thing_says_what_it_is(registry):
    assert registry.names()
    for entry in registry:
        assert entry.summary
        assert issubclass(entry.options, Options)
        assert {registry.find(alias).name for alias in entry.aliases} <= {entry.name}
