"""Things chosen by name: each lives in one file of its room, or in a plugin, and registers itself there.

A room is read when a name in it is first asked for, so a new file is all a new thing needs:

    @SPLITTERS.register("iid")
    def iid(labels, n_classes, options, rng): ...

Settings are checked without torch, so importing a room must not import it. Where the code itself needs torch, the room
has one light file of settings that says where the code is:

    MODELS.declare("cnn", "equipoise.models.cnn:cnn", options=CnnOptions)

Third-party packages register in the same way; `core/plugins.py` finds and loads them.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any, Generic, TypeVar

from equipoise.core.entry import Entry, Shape
from equipoise.core.errors import PluginError, Problem, UnknownName
from equipoise.core.options import Options
from equipoise.core.origin import MAIN, origin, require_shape

T = TypeVar("T")


def suggestion(name: str, known: list[str]) -> str:
    """ "; did you mean 'x'?" for the nearest known name, otherwise the list of all names."""
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    return f"; did you mean '{near[0]}'?" if near else f"; known: {', '.join(sorted(known))}"


class Registry(Generic[T]):
    """All things of one kind, found in the modules of one package, or declared in one of its files; and in plugins."""

    def __init__(self, kind: str, package: str, declared_in: str | None = None, shape: Shape | None = None) -> None:
        self.kind, self.package, self.declared_in = kind, package, declared_in
        self.shape = shape or Shape()
        self._entries: dict[str, Entry[T]] = {}
        self._is_read = False

    def register(
        self,
        name: str,
        *,
        aliases: tuple[str, ...] = (),
        options: type[Options] | None = None,
        traits: Iterable[str] = (),
        module: str | None = None,
    ) -> Callable[[T], T]:
        """A decorator; without `options` the thing has only the settings that all things of its kind have."""

        def add(make: T) -> T:
            where = module or str(getattr(make, "__module__", self.package))
            at = origin(where)
            if self.shape.takes and at.root != self.root:
                require_shape(f"{self.kind} '{name}'", make, self.shape.takes, at)
            self._add(Entry(self.kind, name, aliases, options, make, where, frozenset(traits), at, self.shape))
            return make

        return add

    def declare(
        self,
        name: str,
        at: str,
        *,
        aliases: tuple[str, ...] = (),
        options: type[Options] | None = None,
        traits: Iterable[str] = (),
    ) -> None:
        """Register a thing whose code, `module:name`, is imported when it is made."""
        module = at.partition(":")[0]
        self._add(Entry(self.kind, name, aliases, options, at, module, frozenset(traits), origin(module), self.shape))

    def _add(self, entry: Entry[T]) -> None:
        if entry.origin.root != self.root:
            self._read()  # built-in names are taken before a plugin can take them
        keys = (entry.name, *entry.aliases)
        for key in keys:
            if key in self._entries and not _replaces(entry, self._entries[key]):
                raise _clash(self._entries[key], entry, key)
        self._entries |= dict.fromkeys(keys, entry)

    @property
    def root(self) -> str:
        """The package whose built-in things these are."""
        return self.package.partition(".")[0]

    def has(self, entry: Entry[Any]) -> bool:
        """Whether that very entry is registered now."""
        return self._entries.get(entry.name) is entry

    def forget(self, module: str) -> None:
        """Remove everything that a module registered."""
        self._entries = {key: entry for key, entry in self._entries.items() if entry.origin.module != module}

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Keep what is registered in this context only if nothing is raised."""
        before = dict(self._entries)
        try:
            yield
        except BaseException:
            now = self._entries.items()
            self._entries = before | {key: entry for key, entry in now if entry.origin.root == self.root}
            raise

    def _read(self) -> None:
        if not self._is_read:
            self._is_read = True
            for module in [self.declared_in] if self.declared_in else self._modules():
                importlib.import_module(f"{self.package}.{module}")

    def _modules(self) -> list[str]:
        return [found.name for found in pkgutil.iter_modules(importlib.import_module(self.package).__path__)]

    def find(self, name: str, path: str = "") -> Entry[T]:
        """The entry of that name or alias; an unknown name is an error that suggests the nearest."""
        self._read()
        if name not in self._entries:
            from equipoise.core.plugins import installed, require_whole

            installed()
            if name not in self._entries:
                require_whole(f"{self.kind} '{name}'", name)
        if name in self._entries:
            return self._entries[name]
        message = f"{self.kind} '{name}' is not known{suggestion(name, list(self._entries))}"
        raise UnknownName([Problem(path or self.kind, message)])

    def __iter__(self) -> Iterator[Entry[T]]:
        from equipoise.core.plugins import installed

        self._read()
        installed()
        return iter(sorted(set(self._entries.values()), key=lambda entry: entry.name))

    def names(self) -> list[str]:
        return sorted(entry.name for entry in self)


def _clash(old: Entry[Any], new: Entry[Any], key: str) -> PluginError:
    fix = "give one of them another name, or leave one of the two packages out"
    if new.origin.is_cell and old.origin.module == MAIN:
        fix = "the notebook's code has changed since: go on in another process (`equipoise resume`), or restart it"
    where = f"{old.origin} and {new.origin}"
    return PluginError(f"{new.kind} '{key}' is registered twice", where=where, fix=fix)


def _replaces(new: Entry[Any], old: Entry[Any]) -> bool:
    """Whether the same code runs again: a reloaded module, or a cell of a notebook."""
    if new.origin.module == MAIN:
        return old.origin.is_cell
    if new.source is old.source:
        return True
    names = [getattr(entry.source, "__qualname__", "") for entry in (new, old)]
    return new.origin.module == old.origin.module and names[0] == names[1]


def _shape(options: str, *takes: str) -> Shape:
    return Shape(takes, f"equipoise.config.blocks:{options}")


Make = Callable[..., Any]
DATASETS: Registry[Make] = Registry("data", "equipoise.data", shape=_shape("ImageOptions", "options", "folder"))
SPLITTERS: Registry[Make] = Registry(
    "partition",
    "equipoise.partition",
    shape=_shape("PartitionOptions", "labels", "n_classes", "options", "rng"),
)
MODELS: Registry[Make] = Registry(
    "model", "equipoise.models", "settings", _shape("ModelOptions", "options", "shape", "n_classes")
)
TERMS: Registry[Make] = Registry("term", "equipoise.objective", "settings", Shape(("view",)))
BALANCES: Registry[Make] = Registry("balance", "equipoise.balance", shape=_shape("BalanceOptions", "options"))
AGGREGATES: Registry[Make] = Registry(
    "aggregate", "equipoise.server", "aggregates", _shape("AggregateOptions", "options")
)
PREDICTS: Registry[Make] = Registry("predict", "equipoise.server", "settings", Shape(("view", "merged")))
METHODS: Registry[Make] = Registry("method", "equipoise.method", shape=_shape("MethodOptions", "options"))
KINDS: Registry[Any] = Registry("kind", "equipoise.kind")
SUMMARIES: Registry[Make] = Registry("summary", "equipoise.server", declared_in="settings")
ENGINES: Registry[Make] = Registry("engine", "equipoise.engine", "settings", _shape("EngineOptions", "site"))
RULES: Registry[Any] = Registry("rule", "equipoise.diagnose.rules")

REGISTRIES: tuple[Registry[Any], ...] = (
    DATASETS, SPLITTERS, MODELS, TERMS, BALANCES, AGGREGATES, PREDICTS, METHODS, KINDS, SUMMARIES, ENGINES,
    RULES,
)  # fmt: skip
"""All registries that plugins can add to."""

__all__ = [
    "AGGREGATES", "BALANCES", "DATASETS", "ENGINES", "KINDS", "METHODS", "MODELS", "PREDICTS", "REGISTRIES", "RULES",
    "SPLITTERS", "SUMMARIES", "TERMS", "Entry", "Make", "Registry", "suggestion",
]  # fmt: skip
