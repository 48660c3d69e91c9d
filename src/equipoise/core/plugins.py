"""Third-party code: found by entry point, by name, by file, or in a notebook.

    [project.entry-points."equipoise.plugins"]        plugins: [my_plugin, extra.py]        @METHODS.register("mine")
    my-plugin = "my_plugin"                           a key of a configuration              in a cell of a notebook

A configuration lists the plugins that it uses, with the hash of their content. So workers, the cells of a sweep and a
resumed run load the same code, or refuse other code. An installed plugin that cannot be loaded affects only requests
for its own names.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from equipoise.core.cells import captured
from equipoise.core.contents import content_hash
from equipoise.core.entry import ROOT, Entry
from equipoise.core.errors import PluginError
from equipoise.core.loading import LOADED, Plugin, described, load
from equipoise.core.origin import MAIN

GROUP = "equipoise.plugins"
HERE = "this notebook or script"


@dataclass(frozen=True)
class Broken:
    """An installed plugin that cannot be loaded, and why."""

    plugin: Plugin
    error: PluginError

    def __str__(self) -> str:
        return f"plugin '{self.plugin}' is left out\n  why:   {str(self.error).replace(chr(10), chr(10) + '  ')}"


@dataclass
class Installed:
    """The plugins of installed packages, searched for once."""

    is_read: bool = False
    broken: list[Broken] = field(default_factory=list)


INSTALLED = Installed()


def installed() -> list[Broken]:
    """Load the plugins of installed packages, once; returns those that cannot be loaded."""
    if not INSTALLED.is_read:
        INSTALLED.is_read = True
        for plugin in offered().values():
            try:
                load(plugin)
            except PluginError as error:
                INSTALLED.broken.append(Broken(plugin, error))
    return INSTALLED.broken


def offered() -> dict[str, Plugin]:
    """The plugins of installed packages by entry-point name; none of them is imported."""
    points = sorted(metadata.entry_points(group=GROUP), key=lambda point: point.name)
    return {point.name: Plugin(name=point.module, **_distribution(point)) for point in points}


def _distribution(point: metadata.EntryPoint) -> dict[str, Any]:
    return {} if point.dist is None else {"package": point.dist.name, "version": point.dist.version}


def require_whole(what: str, name: str) -> None:
    """Refuse a name that occurs in the code of a plugin that cannot be loaded."""
    for each in INSTALLED.broken:
        if any(f'"{name}"' in text or f"'{name}'" in text for text in _texts(each.plugin)):
            said = f"{what} is in plugin '{each.plugin}', which cannot be loaded: {each.error.what}"
            raise PluginError(said, where=each.error.where, fix=each.error.fix) from each.error


def _texts(plugin: Plugin) -> Iterator[str]:
    spec = find_spec(plugin.name.partition(".")[0])
    file = Path(spec.origin) if spec is not None and spec.origin is not None else None
    for each in [] if file is None else file.parent.rglob("*.py") if file.name == "__init__.py" else [file]:
        yield each.read_text(encoding="utf-8", errors="replace")


def plugins_of(entries: Iterable[Entry[Any]]) -> list[Plugin]:
    """The plugins that these entries come from, each once; code of a notebook becomes a plugin with its source."""
    foreign = [entry for entry in entries if entry.origin.root != ROOT]
    cells = [entry for entry in foreign if entry.origin.module == MAIN]
    found = [_plugin_of(entry) for entry in foreign if entry.origin.module != MAIN]
    return once([*found, *([_captured(cells)] if cells else [])])


def once(plugins: Sequence[Plugin]) -> list[Plugin]:
    """The plugins without repetitions, in order."""
    found: dict[tuple[str, str | None], Plugin] = {}
    for plugin in plugins:
        found.setdefault((plugin.name, plugin.sha256), plugin)
    return list(found.values())


def _plugin_of(entry: Entry[Any]) -> Plugin:
    """The loaded plugin that registered it, otherwise the module that did."""
    module, root = entry.origin.module, entry.origin.root
    alike = [plugin for name, plugin in LOADED.plugins.items() if name.partition(".")[0] == root]
    found = LOADED.plugins.get(module) or (alike[0] if alike else None)
    return found or described(sys.modules[module])


def _captured(entries: list[Entry[Any]]) -> Plugin:
    source = captured(entries)
    plugin = Plugin(name="notebook", sha256=content_hash(source), source=source)
    LOADED.cells[str(plugin.sha256)] = entries
    return plugin


def package_of(entry: Entry[Any]) -> str:
    """Where it comes from: a package with its version, a file, this notebook; empty for built-in things."""
    if entry.origin.root == ROOT:
        return ""
    return HERE if entry.origin.module == MAIN else str(_plugin_of(entry))


def running(error: BaseException) -> str:
    """The plugin whose code was running when an error was raised, with file and line; empty if it was none's."""
    known = {module.partition(".")[0]: f"plugin '{plugin}'" for module, plugin in LOADED.plugins.items()}
    known[MAIN] = HERE
    place, is_within, traceback = "", False, error.__traceback__
    while traceback is not None:
        root = str(traceback.tb_frame.f_globals.get("__name__", "")).partition(".")[0]
        is_within = is_within or root == ROOT  # what called us does not count
        if is_within and root in known:
            place = f"{known[root]} ({traceback.tb_frame.f_code.co_filename}, line {traceback.tb_lineno})"
        traceback = traceback.tb_next
    return place


def preset_folders() -> dict[str, Path]:
    """The folder `presets` of each installed plugin that has one, by entry-point name."""
    found = {}
    for name, plugin in offered().items():
        spec = find_spec(plugin.name.partition(".")[0])
        for place in (spec.submodule_search_locations or ()) if spec is not None else ():
            if (Path(place) / "presets").is_dir():
                found[name] = Path(place) / "presets"
    return found
