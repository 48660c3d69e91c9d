"""One entry of a registry: a name, its settings, and how to make the registered thing."""

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
"""The package whose entries are not checked at registration: the tests cover them."""


@dataclass(frozen=True)
class Shape:
    """What all entries of one registry share: their arguments, and where their default settings are defined."""

    takes: tuple[str, ...] = ()
    """Names of the arguments; empty for things that are not called."""
    options: str = "equipoise.core.options:Options"


@dataclass(frozen=True)
class Entry(Generic[T]):
    """A registered thing: its name, its settings, and how to make it."""

    kind: str
    name: str
    aliases: tuple[str, ...]
    given: type[Options] | None
    """The class of its settings; None: the default of its registry."""
    source: T | str
    """The thing itself, or its import path `module:name`."""
    module: str
    traits: frozenset[str]
    """Traits (see `config/traits`) that decide what it can be combined with."""
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
        """The thing itself, imported on first use."""
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
        """The package it comes from, with its version; empty for built-in things."""
        from equipoise.core.plugins import package_of

        return package_of(self)
