"""Extracts from a notebook or script the code that another process needs to register the same things.

    from each registering statement, by the global names it uses, to the statements that define them

Everything else stays behind: a cell that defines a method and then starts a run ships the method alone. Modules are
imported again and plain values are written as literals. A name that allows neither is reported before a run starts.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import symtable
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from equipoise.core.entry import Entry
from equipoise.core.errors import PluginError
from equipoise.core.origin import MAIN, Origin

PLAIN = (bool, int, float, str, bytes, type(None))
FUTURE = "__future__"


def captured(entries: Sequence[Entry[Any]]) -> str:
    """The source of these entries, which `__main__` registered; equal code gives equal text."""
    namespace = vars(sys.modules[MAIN])
    texts = [tree for tree in map(_parsed, _texts(entries, namespace)) if tree is not None]
    bundle = CellSource(dict(_definitions(texts)), namespace)
    for entry in sorted(entries, key=lambda entry: (entry.kind, entry.name)):
        bundle.take(_statement(entry), f"{entry.kind} '{entry.name}' ({entry.origin.file}, line {entry.origin.line})")
    future = {alias.name for tree in texts for alias in _future(tree)}
    head = [f"from {FUTURE} import {', '.join(sorted(future))}"] if future else []
    return "\n\n".join([*head, *bundle.lines]) + "\n"


def run_cells(name: str, source: str) -> None:
    """Run captured source as a module of that name."""
    module, file = ModuleType(name), f"<{name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    sys.modules[name] = module
    try:
        exec(compile(source, file, "exec"), vars(module))
    except BaseException:
        del sys.modules[name]
        raise


@dataclass
class CellSource:
    """Collects statements in an order in which they can be run."""

    known: Mapping[str, ast.stmt]
    namespace: Mapping[str, Any]
    lines: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def take(self, statement: ast.stmt, whose: str) -> None:
        """Add the statement, after everything it needs."""
        text = ast.unparse(statement)
        if text in self.seen:
            return
        self.seen.add(text)
        for name in sorted(_globals(text)):
            self._need(name, whose)
        self.lines.append(text)

    def _need(self, name: str, whose: str) -> None:
        if name in self.seen or name.startswith("__"):
            return
        statement, value = self.known.get(name), self.namespace.get(name)
        is_bound = name in self.namespace
        if is_bound and _is_plain(value) and not isinstance(statement, ast.FunctionDef | ast.ClassDef):
            self._write(name, f"{name} = {value!r}")
        elif statement is not None:
            self.take(statement, whose)
        elif is_bound:
            self._write(name, _import(name, value, whose))
        elif not hasattr(builtins, name):
            self.seen.add(name)  # defined nowhere: it fails in the other process as it does here

    def _write(self, name: str, line: str) -> None:
        self.seen.add(name)
        self.lines.append(line)


def _import(name: str, value: Any, whose: str) -> str:
    """The line that imports a name, or assigns its value, where no statement defines it."""
    if isinstance(value, ModuleType):
        return f"import {value.__name__} as {name}"
    module, origin = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
    if module not in {None, MAIN} and getattr(sys.modules.get(str(module)), str(origin), None) is value:
        return f"from {module} import {origin} as {name}"
    what = f"{whose} uses '{name}', whose definition cannot be found, so that no other process could run it"
    fix = "define it by a statement of its own beside it, or put all of it into a file: plugins=file.py"
    raise PluginError(what, where=f"'{name}', a {type(value).__name__}", fix=fix)


def _is_plain(value: Any) -> bool:
    """Whether its current value can be written as a literal, even if it has changed since its statement ran."""
    if isinstance(value, dict):
        return all(_is_plain(key) and _is_plain(inner) for key, inner in value.items())
    return isinstance(value, PLAIN) or (isinstance(value, tuple | list) and all(map(_is_plain, value)))


def _texts(entries: Sequence[Entry[Any]], namespace: Mapping[str, Any]) -> list[str]:
    """All known code that `__main__` ran, oldest first."""
    own = [value for value in namespace.values() if getattr(value, "__module__", None) == MAIN]
    files = [getattr(getattr(value, "__code__", None), "co_filename", "") for value in own]
    files = list(dict.fromkeys([*files, *(entry.origin.file for entry in entries)]))
    ran = namespace.get("In")
    history = [text for text in ran if isinstance(text, str)] if isinstance(ran, list) else []
    return [*("".join(linecache.getlines(file)) for file in files if file), *history]


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):  # a magic command, or a cell that never ran
        return None


def _definitions(trees: Sequence[ast.Module]) -> Iterator[tuple[str, ast.stmt]]:
    """(name, the statement that defines it), in the order in which they ran."""
    for statement in (statement for tree in trees for statement in tree.body):
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield statement.name, statement
        elif isinstance(statement, ast.Import | ast.ImportFrom) and getattr(statement, "module", "") != FUTURE:
            names = [alias.asname or alias.name.partition(".")[0] for alias in statement.names]
            yield from ((name, statement) for name in names if name != "*")
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            bound = [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
            yield from ((name, statement) for name in bound)


def _future(tree: ast.Module) -> list[ast.alias]:
    found = [each for each in tree.body if isinstance(each, ast.ImportFrom) and each.module == FUTURE]
    return [alias for each in found for alias in each.names]


def _statement(entry: Entry[Any]) -> ast.stmt:
    """The statement that registers it."""
    at = entry.origin
    tree = _parsed("".join(linecache.getlines(at.file)))
    for statement in tree.body if tree is not None else ():
        first = min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", []))])
        if first <= at.line <= (statement.end_lineno or first):
            return statement
    raise _unreadable(entry.kind, entry.name, at)


def _unreadable(kind: str, name: str, at: Origin) -> PluginError:
    what = f"the source of {kind} '{name}' cannot be read, so that no worker and no resumed run could have it"
    return PluginError(what, where=f"{at.file}, line {at.line}", fix="put it into a file, and name it: plugins=file.py")


def _globals(text: str) -> set[str]:
    """The global names that a statement uses, also inside of its functions and classes."""
    return set(_used(symtable.symtable(text, "<statement>", "exec")))


def _used(table: symtable.SymbolTable) -> Iterator[str]:
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (table.get_type() == "module" or symbol.is_global()):
            yield symbol.get_name()
    for child in table.get_children():
        yield from _used(child)
