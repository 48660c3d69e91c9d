"""A module's source: which statement defines a name, or where it is imported from."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import resolve_name
from types import ModuleType

from equipoise.core.errors import ConfigError


@dataclass(frozen=True)
class Import:
    """`from module import name`, or `import module` if there is no name."""

    module: str
    name: str | None

    def line(self, alias: str) -> str:
        if self.name is None:
            return f"import {self.module}" if alias == self.module else f"import {self.module} as {alias}"
        return f"from {self.module} import {self.name}" + ("" if alias == self.name else f" as {alias}")


@dataclass(frozen=True)
class SourceModule:
    module: ModuleType
    lines: tuple[str, ...]
    body: tuple[ast.stmt, ...]

    @property
    def summary(self) -> str:
        return (self.module.__doc__ or "").strip().split("\n", 1)[0]

    def statement(self, name: str) -> ast.stmt | None:
        """The last top-level statement that defines the name."""
        found = [statement for statement in self.body if name in defined_by(statement)]
        return found[-1] if found else None

    def docstring_end(self, statement: ast.stmt) -> int | None:
        """The last line of a constant's docstring, if there is one below it."""
        after = self.body[self.body.index(statement) + 1 :]
        text = after[0].value if after and isinstance(after[0], ast.Expr) else None
        return after[0].end_lineno if isinstance(text, ast.Constant) and isinstance(text.value, str) else None

    def imported(self, name: str) -> Import | None:
        """Where the name comes from; imports for type checkers count too."""
        found = [at for statement in self.body for bound, at in imports_in(statement, self.package) if bound == name]
        return found[-1] if found else None

    @property
    def package(self) -> str:
        return str(self.module.__package__ or "")


def source_of(name: str) -> SourceModule:
    """The module's source; refused for a module without a file, such as a cell of a notebook."""
    module = importlib.import_module(name)
    try:
        text = inspect.getsource(module)
    except (OSError, TypeError) as error:
        what = f"the source of module '{name}' cannot be read, so a model of it cannot be written as a file"
        raise ConfigError(what, where=name, fix="put its code into a file, and run again with that file") from error
    return SourceModule(module, tuple(text.splitlines()), tuple(ast.parse(text).body))


def defined_by(statement: ast.stmt) -> set[str]:
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, ast.Assign):
        return {node.id for target in statement.targets for node in ast.walk(target) if isinstance(node, ast.Name)}
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return {statement.target.id}
    return set()


def imports_in(statement: ast.stmt, package: str) -> Iterator[tuple[str, Import]]:
    """(bound name, its import); imports inside functions and classes are ignored."""
    if isinstance(statement, ast.If):
        for inner in (*statement.body, *statement.orelse):
            yield from imports_in(inner, package)
    elif isinstance(statement, ast.Import):
        for alias in statement.names:
            whole = alias.name if alias.asname else alias.name.partition(".")[0]
            yield alias.asname or whole, Import(whole, None)
    elif isinstance(statement, ast.ImportFrom):
        module = resolve_name("." * statement.level + (statement.module or ""), package or None)
        for alias in statement.names:
            yield alias.asname or alias.name, Import(module, alias.name)
