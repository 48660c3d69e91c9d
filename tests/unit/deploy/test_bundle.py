from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

from equipoise.core.errors import ConfigError
from equipoise.deploy.bundle import Bundle


@pytest.fixture
def package(tmp_path, monkeypatch):
    """package(a="…", b="…") writes modules of a package `mine`; mine.a is returned."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(**texts: str) -> ModuleType:
        (tmp_path / "mine").mkdir()
        for name, text in {"__init__": "", **texts}.items():
            Path(tmp_path, "mine", f"{name}.py").write_text(f"from __future__ import annotations\n{text}")
        importlib.invalidate_caches()
        return importlib.import_module("mine.a")

    yield make
    for name in [name for name in sys.modules if name.partition(".")[0] == "mine"]:
        del sys.modules[name]


def ran(bundle: Bundle) -> dict[str, object]:
    space: dict[str, object] = {"__name__": __name__}
    exec(compile(f"from __future__ import annotations\n{bundle.text()}", "bundle", "exec"), space)
    return space


def test_what_a_function_uses_comes_along_and_nothing_else(package):
    module = package(
        a="import math\nfrom mine.b import double\ndef f(x):\n    return double(x) + math.pi\ndef unused(): pass\n",
        b="import os\nBY = 2\n'''How much.'''\ndef double(x):\n    return BY * x\n",
    )
    bundle = Bundle({"mine"})
    assert bundle.add(module.f) == "f"
    assert ran(bundle)["f"](1) == module.f(1)
    text = bundle.text()
    assert "How much." in text
    assert "unused" not in text
    assert "import os" not in text
    assert "mine import" not in text
    assert "from mine" not in text.replace("# From mine", "")


def test_two_things_of_one_name_are_told_apart_and_variables_keep_theirs(package):
    module = package(
        a="from mine.b import scale as other\n"
        "def scale(x):\n    return 10 * x\n"
        "def f(x):\n    θ = [scale(x) for x in (x,)]  # scale stays in comments\n    return θ[0] + other(x) + own(x)\n"
        "def own(scale):\n    return (lambda scale: scale)(scale)\n",
        b="def scale(x):\n    return 100 * x\n",
    )
    bundle = Bundle({"mine"})
    bundle.add(module.f)
    assert ran(bundle)["f"](1) == module.f(1) == 111
    assert {"scale", "a_scale"} == {name for name in bundle.names.values() if "scale" in name}


def test_imports_within_functions_are_followed(package):
    module = package(
        a="def f(x):\n    import math\n    from mine.b import g\n    return g(x) + math.floor(0.5)\n",
        b="from mine import a\ndef g(x):\n    return x if x else 7\n",
    )
    bundle = Bundle({"mine"})
    bundle.add(module.f)
    assert ran(bundle)["f"](0) == 7


def test_relative_imports_reexports_and_classes_in_their_order(package):
    module = package(
        a="from . import Base\nclass Child(Base):\n    extra: Unknown = 1\n    def both(self):\n"
        "        return self.size + self.extra\n",
        __init__="from .b import Base\n",
        b="from dataclasses import dataclass\n@dataclass\nclass Base:\n    size: int = 2\n",
    )
    bundle = Bundle({"mine"})
    bundle.add(module.Child)
    assert ran(bundle)["Child"]().both() == 3


def test_only_the_methods_that_are_wanted_are_kept(package):
    module = package(
        a="class C:\n    def wanted(self):\n        return self._helper()\n\n"
        "    def _helper(self):\n        return 5\n\n"
        "    def other(self):\n        return far(self)\n\ndef far(c): ...\n"
    )
    bundle = Bundle({"mine"})
    bundle.add(module.C, keep=("wanted",))
    assert ran(bundle)["C"]().wanted() == 5
    assert "other" not in bundle.text()
    assert "far" not in bundle.text()


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"a": "from mine import b\ndef f():\n    return b.g()\n", "b": "def g(): ...\n"}, "imported as a whole"),
        ({"a": "import mine.b\ndef f():\n    return mine.b.g()\n", "b": "def g(): ...\n"}, "imported as a whole"),
        ({"a": "def f():\n    return later\n"}, "'later', which 'f' uses, is not found"),
        ({"a": "def make():\n    def f(): ...\n    return f\nf = make()\n"}, "made by another function"),
    ],
)
def test_what_cannot_be_written_down_is_refused_in_words(package, texts, message):
    module = package(**texts)
    with pytest.raises(ConfigError, match=message):
        Bundle({"mine"}).add(module.f)


def test_code_without_a_file_is_refused_in_words(monkeypatch):
    cell = ModuleType("cell")
    exec("def f(): ...", vars(cell))
    monkeypatch.setitem(sys.modules, "cell", cell)
    cell.f.__module__ = "cell"
    with pytest.raises(ConfigError, match="source of module 'cell' cannot be read"):
        Bundle({"cell"}).add(cell.f)
