"""Things chosen by name: each lives in one file of its room and registers itself there.

A room is read when a name in it is first asked for, so a new file is all a new thing needs:

    @SPLITTERS.register("iid")
    def iid(labels, options, rng): ...

Settings are checked without torch, so no room may need it to be read. Where the code itself cannot do without, the room
has one light file of settings that says where the code is:

    MODELS.declare("cnn", "equipoise.models.cnn:cnn", options=CnnOptions)
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from equipoise.core.errors import Problem, UnknownName
from equipoise.core.options import Options

T = TypeVar("T")


@dataclass(frozen=True)
class Entry(Generic[T]):
    """A registered thing: what it is called, what it can be told, and how it is made."""

    name: str
    aliases: tuple[str, ...]
    options: type[Options]
    source: T | str
    """The thing itself, or where it is: `module:name`."""
    module: str
    traits: frozenset[str] = frozenset()
    """What sets it apart from others of its kind, for those who choose among them."""

    @property
    def make(self) -> T:
        """The thing itself, imported now if nobody asked for it before."""
        if isinstance(self.source, str):
            module, _, name = self.source.partition(":")
            return cast(T, getattr(importlib.import_module(module), name))
        return self.source

    @property
    def doc(self) -> str:
        """The module's docstring: purpose first, then the formula. The module is not run for it."""
        if self.module in sys.modules:
            return (sys.modules[self.module].__doc__ or "").strip()
        spec = find_spec(self.module)
        assert spec is not None
        assert spec.origin is not None
        return (ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))) or "").strip()

    @property
    def summary(self) -> str:
        return self.doc.split("\n", 1)[0]


def suggestion(name: str, known: list[str]) -> str:
    """ "; did you mean 'x'?" for the nearest known name, otherwise the list of what there is."""
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    return f"; did you mean '{near[0]}'?" if near else f"; known: {', '.join(sorted(known))}"


class Registry(Generic[T]):
    """All things of one kind, found in the modules of one package, or declared in one of its files."""

    def __init__(self, kind: str, package: str, declared_in: str | None = None) -> None:
        self.kind, self.package, self.declared_in = kind, package, declared_in
        self._entries: dict[str, Entry[T]] = {}
        self._is_read = False

    def register(
        self,
        name: str,
        *,
        aliases: tuple[str, ...] = (),
        options: type[Options] = Options,
        traits: Iterable[str] = (),
        module: str | None = None,
    ) -> Callable[[T], T]:
        def add(make: T) -> T:
            where = module or str(getattr(make, "__module__", self.package))
            self._add(Entry(name, aliases, options, make, where, frozenset(traits)))
            return make

        return add

    def declare(
        self,
        name: str,
        at: str,
        *,
        aliases: tuple[str, ...] = (),
        options: type[Options] = Options,
        traits: Iterable[str] = (),
    ) -> None:
        """A thing whose code, `module:name`, is imported when it is made."""
        self._add(Entry(name, aliases, options, at, at.partition(":")[0], frozenset(traits)))

    def _add(self, entry: Entry[T]) -> None:
        for key in (entry.name, *entry.aliases):
            taken = self._entries.get(key)
            assert taken is None or taken.module == entry.module, f"{self.kind} '{key}' is registered twice"
            self._entries[key] = entry

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
        if name in self._entries:
            return self._entries[name]
        message = f"{self.kind} '{name}' is not known{suggestion(name, list(self._entries))}"
        raise UnknownName([Problem(path or self.kind, message)])

    def __iter__(self) -> Iterator[Entry[T]]:
        self._read()
        return iter(sorted(set(self._entries.values()), key=lambda entry: entry.name))

    def names(self) -> list[str]:
        return sorted(entry.name for entry in self)


Make = Callable[..., Any]
DATASETS: Registry[Make] = Registry("data", "equipoise.data")
SPLITTERS: Registry[Make] = Registry("partition", "equipoise.partition")
MODELS: Registry[Make] = Registry("model", "equipoise.models", declared_in="settings")
BALANCES: Registry[Make] = Registry("balance", "equipoise.balance")
PREDICTS: Registry[Make] = Registry("predict", "equipoise.server", declared_in="settings")
METHODS: Registry[Make] = Registry("method", "equipoise.method")
KINDS: Registry[Any] = Registry("kind", "equipoise.kind")
SUMMARIES: Registry[Make] = Registry("summary", "equipoise.server", declared_in="settings")
ENGINES: Registry[Make] = Registry("engine", "equipoise.engine", declared_in="settings")
