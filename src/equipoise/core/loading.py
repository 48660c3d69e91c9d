"""Loads a plugin into this process: an installed module, a file, or source captured from a notebook.

Loading is all or nothing: if a plugin raises, everything it registered is removed.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib import metadata
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from equipoise.core.cells import run_cells
from equipoise.core.contents import content_hash, root_folder
from equipoise.core.entry import Entry
from equipoise.core.errors import PluginError
from equipoise.core.options import Options
from equipoise.core.origin import CELLS, failure
from equipoise.core.registry import REGISTRIES

FILES = "equipoise_plugin_"
"""Begins the module names of plugins that are single files."""


class Plugin(Options):
    """A module that registers things. Its name or file is enough; the other fields are filled in."""

    name: str = Field(min_length=1, description="module name; for a file, its name without .py")
    package: str | None = Field(None, description="the package that provides it")
    version: str | None = Field(None, description="version of that package")
    path: str | None = Field(None, description="its file, if it is not an installed package")
    sha256: str | None = Field(None, description="hash of its content; code with another hash is refused")
    source: str | None = Field(None, description="its source code, if it was written in a notebook or a script")

    @model_serializer(mode="wrap")
    def _what_is_known(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        content: dict[str, Any] = handler(self)
        return {key: value for key, value in content.items() if value is not None}

    def __str__(self) -> str:
        return f"{self.package or self.name} {self.version or ''}".strip()

    @property
    def is_file(self) -> bool:
        """Whether it is a single file outside any package."""
        return self.path is not None and "." not in self.name and Path(self.path).name != "__init__.py"


@dataclass
class Loaded:
    """The plugins loaded in this process."""

    plugins: dict[str, Plugin] = field(default_factory=dict)
    """By module name in this process."""
    cells: dict[str, list[Entry[Any]]] = field(default_factory=dict)
    """Code of this notebook or script, by the hash of its source."""

    def has_cells(self, digest: str) -> bool:
        """Whether the notebook's own code with that hash is still what is registered."""
        entries = self.cells.get(digest)
        return entries is not None and all(any(each.has(entry) for each in REGISTRIES) for entry in entries)


LOADED = Loaded()


def load(plugin: Plugin) -> Plugin:
    """Load the plugin and fill in its record; refused if its content has another hash than recorded."""
    with ExitStack() as stack:
        for registry in REGISTRIES:
            stack.enter_context(registry.all_or_nothing())
        if plugin.source is not None:
            return _of_cells(plugin, plugin.source)
        if plugin.is_file:
            return _of_file(plugin, Path(str(plugin.path)))
        return _of_module(plugin)


def _of_cells(plugin: Plugin, source: str) -> Plugin:
    digest = content_hash(source)
    require_same(plugin, digest)
    module = f"{CELLS}{digest[:16]}"
    if module not in LOADED.plugins and not LOADED.has_cells(digest):
        _run(module, plugin.model_copy(update={"sha256": digest}), lambda: run_cells(module, source))
    return plugin


def _of_file(plugin: Plugin, path: Path) -> Plugin:
    if not path.is_file():
        raise PluginError(f"there is no plugin file {path}", where="plugins", fix="correct the path, or bring it back")
    digest = content_hash(path)
    require_same(plugin, digest)
    here = plugin.model_copy(update={"sha256": digest})
    if getattr(sys.modules.get(plugin.name), "__file__", None) == str(path):
        return here  # already imported under its own name
    module = _file_module(plugin.name, path)
    known = LOADED.plugins.get(module)
    if known is None or known.sha256 != digest:
        for registry in REGISTRIES:
            registry.forget(module)
        _run(module, here, lambda: _run_file(module, path))
    return here


def _file_module(name: str, path: Path) -> str:
    return f"{FILES}{name}_{content_hash(str(path))[:8]}"


def loaded_module(plugin: Plugin) -> ModuleType:
    """The module of a loaded plugin that was not written in a notebook."""
    if not plugin.is_file:
        return sys.modules[plugin.name]
    return sys.modules.get(_file_module(plugin.name, Path(str(plugin.path)))) or sys.modules[plugin.name]


def _run(module: str, plugin: Plugin, code: Callable[[], None]) -> None:
    LOADED.plugins[module] = plugin
    try:
        code()
    except (Exception, SystemExit) as error:
        del LOADED.plugins[module]
        raise failure(f"plugin '{plugin}'", error) from error


def _run_file(name: str, path: Path) -> None:
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise


def _of_module(plugin: Plugin) -> Plugin:
    module = _imported(plugin)
    here = described(module, plugin)
    require_same(plugin, str(here.sha256))
    return LOADED.plugins.setdefault(module.__name__, here)


def _imported(plugin: Plugin) -> ModuleType:
    if plugin.name in sys.modules:
        return sys.modules[plugin.name]
    try:
        if plugin.path is not None and not _is_there(plugin.name):
            sys.path.append(str(root_folder(plugin.name, Path(plugin.path)).parent))
        if not _is_there(plugin.name):
            fix = f"install {plugin.package or plugin.name}, or name a file: plugins=path/to/{plugin.name}.py"
            raise PluginError(f"there is no plugin module '{plugin.name}'", where="plugins", fix=fix)
        return importlib.import_module(plugin.name)
    except (Exception, SystemExit) as error:
        raise failure(f"plugin '{plugin}'", error) from error


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError as error:
        if error.name is not None and name.startswith(error.name):
            return False
        raise


def described(module: ModuleType, plugin: Plugin | None = None) -> Plugin:
    """The full record of an imported module, which an installed package may provide."""
    name, file = module.__name__, getattr(module, "__file__", None)
    if file is None:
        what = f"the code of '{name}' lies in no file, so that no other process could load it"
        raise PluginError(what, where="plugins", fix="put it into a file, and name that: plugins=file.py")
    digest = content_hash(Path(file), name)
    if plugin is not None and plugin.package is not None and plugin.path is None:
        return plugin.model_copy(update={"name": name, "sha256": digest})
    root = name.partition(".")[0]
    return Plugin(name=name, package=root, version=_version(root), path=file, sha256=digest)


def _version(root: str) -> str | None:
    try:
        return metadata.version(root)
    except metadata.PackageNotFoundError:
        given = getattr(sys.modules.get(root), "__version__", None)
        return None if given is None else str(given)


def require_same(plugin: Plugin, digest: str) -> None:
    if plugin.sha256 is not None and plugin.sha256 != digest:
        what = (
            f"plugin '{plugin}' is not what it was: its hash is {digest[:12]}, and {plugin.sha256[:12]} was asked for"
        )
        fix = "bring the old code back, or start a new run; in a file of settings, take out its sha256"
        raise PluginError(what, where=plugin.path or plugin.name, fix=fix)
