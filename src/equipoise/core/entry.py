"""What a registry holds of a thing: what it is called, what it can be told, and how it is made."""

from __future__ import annotations

import ast
import importlib
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from inspect import getdoc
from pathlib import Path
from types import FunctionType
from typing import Generic, TypeVar, cast

from equipoise.core.options import Options
from equipoise.core.origin import Origin, located

T = TypeVar("T")
ROOT = __name__.partition(".")[0]
"""The package whose things need no examination: the tests have seen them."""


@dataclass(frozen=True)
class Shape:
    """What all things of a kind have in common: what each takes, and where the settings are that it has by default."""

    takes: tuple[str, ...] = ()
    """Names of its arguments; nothing: it is not called."""
    options: str = "equipoise.core.options:Options"


@dataclass(frozen=True)
class Entry(Generic[T]):
    """A registered thing: what it is called, what it can be told, and how it is made."""

    kind: str
    name: str
    aliases: tuple[str, ...]
    given: type[Options] | None
    """Its settings; None: those that all of its kind have."""
    source: T | str
    """The thing itself, or where it is: `module:name`."""
    module: str
    traits: frozenset[str]
    """What sets it apart from others of its kind, for those who choose among them."""
    origin: Origin
    shape: Shape = Shape()

    @property
    def options(self) -> type[Options]:
        if self.given is not None:
            return self.given
        module, _, name = self.shape.options.partition(":")
        return cast(type[Options], getattr(importlib.import_module(module), name))

    @property
    def make(self) -> T:
        """The thing itself, imported now if nobody asked for it before."""
        if isinstance(self.source, str):
            if self.origin.root == ROOT:
                module, _, name = self.source.partition(":")
                return cast(T, getattr(importlib.import_module(module), name))
            return cast(T, located(f"{self.kind} '{self.name}'", self.source, self.shape.takes, self.origin))
        return self.source

    @property
    def doc(self) -> str:
        """The module's docstring: purpose first, then the formula. The module is not run for it. A plugin's thing may
        have one of its own."""
        if self.origin.root != ROOT and isinstance(self.source, FunctionType | type) and self.source.__doc__:
            return getdoc(self.source) or ""  # a plugin may have several things in one file
        if self.module in sys.modules:
            return (sys.modules[self.module].__doc__ or "").strip()
        spec = find_spec(self.module)
        assert spec is not None
        assert spec.origin is not None
        return (ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))) or "").strip()

    @property
    def summary(self) -> str:
        return self.doc.split("\n", 1)[0]

    @property
    def package(self) -> str:
        """The package that brought it, with its version; empty for what comes with the product."""
        from equipoise.core.plugins import package_of

        return package_of(self)
