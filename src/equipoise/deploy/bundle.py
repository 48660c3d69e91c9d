"""Writes functions and classes, with everything that they use of Equipoise and of plugins, as the text of one file.

Modules are sorted by their imports, and definitions keep their order within a module, so every definition comes after
those that it needs. Imports of other packages remain imports. If two definitions have the same name, the second one is
renamed after its module.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from equipoise.core.errors import ConfigError
from equipoise.deploy.chunk import chunk, renamed
from equipoise.deploy.modules import Import, SourceModule, source_of

OURS = "equipoise"
AT_HAND = ("torch", *sys.stdlib_module_names)
"""Packages that may be imported for an annotation alone."""


class Bundle:
    """Collects definitions; `text` is the file so far."""

    def __init__(self, plugins: Collection[str] = ()) -> None:
        """`plugins`: packages whose code is included like ours."""
        self.roots = {OURS, *plugins}
        self.imports: dict[str, Import] = {"Any": Import("typing", "Any")}
        """Name in the file → its import."""
        self.names: dict[tuple[str, str], str] = {}
        """(module, name there) → name in the file."""
        self.parts: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
        """Module → line and text of each included definition."""
        self.before: defaultdict[str, set[str]] = defaultdict(set)
        """Module → the modules that it imports from."""
        self._annotated: dict[str, SourceModule] = {}
        self._sources: dict[str, SourceModule] = {}

    def add(self, thing: Any, keep: Collection[str] | None = None) -> str:
        """Add a function or class with everything it needs; returns its name in the file."""
        if "<" in thing.__qualname__:
            what = (
                f"'{thing.__qualname__}' of {thing.__module__} is made by another function: it has no text of its own"
            )
            raise ConfigError(what, where=thing.__module__, fix="define it at the top of its module")
        return self._define(thing.__module__, thing.__name__, keep)

    def is_ours(self, module: str) -> bool:
        return module.partition(".")[0] in self.roots

    def _define(self, module: str, name: str, keep: Collection[str] | None = None) -> str:
        if (module, name) in self.names:
            return self.names[module, name]
        if module not in self._sources:
            self._sources[module] = source_of(module)
        source = self._sources[module]
        statement = source.statement(name)
        if statement is None:
            return self._imported(source, name)
        free = name if not self._is_taken(name) else f"{module.rpartition('.')[2]}_{name}"
        self.names[module, name] = free
        text = _literal(source, statement, name, free)
        text = self._text(source, statement, name, keep) if text is None else text
        self.parts[module].append((statement.lineno, text))
        return free

    def _text(self, source: SourceModule, statement: ast.stmt, name: str, keep: Collection[str] | None) -> str:
        module = source.module.__name__
        found = chunk(source, statement, self.is_ours, keep)
        own = {need: self.names[module, need] for need in found.needs if (module, need) in self.names}
        for need in sorted(found.needs - own.keys() - {name}):
            if need in found.inner:
                own[need] = self._follow(found.inner[need], need)
            elif source.statement(need) is not None:
                own[need] = self._define(module, need)
            elif source.imported(need) is not None:
                own[need] = self._imported(source, need)
            elif not hasattr(builtins, need):
                raise ConfigError(f"'{need}', which '{name}' uses, is not found in its module", where=module)
        self._annotated |= dict.fromkeys(found.annotated, source)
        own[name] = self.names[module, name]
        return renamed(found.text, {before: after for before, after in own.items() if before != after})

    def _imported(self, source: SourceModule, name: str) -> str:
        at, module = source.imported(name), source.module.__name__
        if at is None:
            raise ConfigError(f"'{name}' is not found in module {module}", where=module)
        if self.is_ours(at.module):
            self.before[module].add(at.module)
        return self._follow(at, name)

    def _follow(self, at: Import, name: str) -> str:
        if self.is_ours(at.module):
            if at.name is None or f"{at.module}.{at.name}" in sys.modules:
                what = f"module '{at.module}' is imported as a whole, so what is used of it cannot be told"
                raise ConfigError(what, where=name, fix="import the names that are used: from … import …")
            return self._define(at.module, at.name)
        known = [alias for alias, other in self.imports.items() if other == at]
        if known:
            return known[0]
        free = name if not self._is_taken(name) else f"{at.module.replace('.', '_')}_{name}"
        self.imports[free] = at
        return free

    def _is_taken(self, name: str) -> bool:
        return name in self.imports or name in self.names.values()

    def need(self, name: str, at: Import) -> str:
        """Add an import that the file uses beside its definitions; returns its name there."""
        return self._follow(at, name)

    def text(self) -> str:
        """Imports, then definitions, grouped by the module they come from."""
        unknown = self._settle_annotations()
        lines = list(_import_lines(self.imports))
        if unknown:
            lines += ["", "# Names that only annotations use.", f"{' = '.join(unknown)} = Any"]
        for module in self._ordered():
            lines += ["", "", f"# From {module}", f"# {self._sources[module].summary}"]
            for _, text in sorted(self.parts[module]):
                lines += ["" if _is_line(text) else "\n", text.rstrip()]
        return "\n".join(lines) + "\n"

    def _ordered(self) -> list[str]:
        graph = {module: self.before[module] - {module} for module in [*self.parts, *self.before]}
        try:
            return [module for module in TopologicalSorter(graph).static_order() if module in self.parts]
        except CycleError as error:
            circle = " → ".join(error.args[1])
            raise ConfigError(f"modules import each other in a circle: {circle}", fix="break the circle") from error

    def _settle_annotations(self) -> list[str]:
        """Import names that only annotations use, if that costs nothing; returns the other names."""
        unknown = []
        for name, source in sorted(self._annotated.items()):
            at = source.imported(name)
            if self._is_taken(name) or hasattr(builtins, name):
                continue
            if at is not None and _root(at) in AT_HAND:
                self.imports[name] = at
            else:
                unknown.append(name)
        return unknown

    def packages(self) -> list[str]:
        """Packages that the file needs beside Python."""
        found = {_root(at) for at in self.imports.values()}
        return sorted(found - set(sys.stdlib_module_names) - {"__future__"})


def _is_line(text: str) -> bool:
    return not text.startswith(("def ", "class ", "@"))


def _import_lines(imports: Mapping[str, Import]) -> Iterator[str]:
    """Import lines, the standard library first; names from one module share a line."""
    for is_python in (True, False):
        found = {alias: at for alias, at in imports.items() if (_root(at) in sys.stdlib_module_names) == is_python}
        yield from sorted(at.line(alias) for alias, at in found.items() if at.name is None)
        modules = sorted({at.module for at in found.values() if at.name is not None})
        for module in modules:
            lines = sorted(at.line(alias) for alias, at in found.items() if at.module == module and at.name is not None)
            yield f"from {module} import {', '.join(line.partition(' import ')[2] for line in lines)}"
        if is_python:
            yield ""


def _root(at: Import) -> str:
    return at.module.partition(".")[0]


def _literal(source: SourceModule, statement: ast.stmt, name: str, free: str) -> str | None:
    """A plain constant as a literal: `N = 64` for `N = Options().n`, which would need the options class."""
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return None
    is_alone = isinstance(statement, ast.AnnAssign) or isinstance(statement.targets[0], ast.Name)
    if is_alone and statement.value is not None and _is_literal(ast.unparse(statement.value)):
        return None
    value: Any = vars(source.module)[name]
    return f"{free} = {value!r}\n" if _is_literal(repr(value)) else None


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError):
        return False
    return True
