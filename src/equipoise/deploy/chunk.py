"""The source of one definition: the names it refers to, and its text with clashing names replaced.

Decorators of registries are left out, and so are imports inside functions of code that is included in the same file.
"""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from equipoise.core.registry import Registry
from equipoise.deploy.modules import Import, SourceModule, imports_in
from equipoise.server.predict import asks

IsOurs = Callable[[str], bool]
"""Module → whether its code is included instead of imported."""


@dataclass(frozen=True)
class Chunk:
    text: str
    needs: frozenset[str]
    """Global names that it needs to run."""
    annotated: frozenset[str]
    """Names that only annotations use."""
    inner: Mapping[str, Import]
    """Names that it imports inside functions from included code."""


def chunk(source: SourceModule, statement: ast.stmt, is_ours: IsOurs, keep: Collection[str] | None) -> Chunk:
    """`keep` lists the methods of a class to include, with the methods that they use; None: all."""
    gone: list[ast.AST] = [mark for mark in getattr(statement, "decorator_list", ()) if _is_mark(source, mark)]
    if keep is not None and isinstance(statement, ast.ClassDef):
        wanted = _used(statement, keep)
        gone += [node for node in statement.body if isinstance(node, ast.FunctionDef) and node.name not in wanted]
    inner: dict[str, Import] = {}
    for node in ast.walk(statement):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found = dict(imports_in(node, source.package))
            if any(is_ours(each.module) for each in found.values()):
                inner |= found
                gone.append(node)
    text = _without(source, statement, gone)
    tree = ast.parse(text)
    annotated = {node.id for part in _annotations(tree) for node in ast.walk(part) if isinstance(node, ast.Name)}
    needs = _globals(symtable.symtable(ast.unparse(_Bare().visit(tree)), "chunk", "exec"))
    return Chunk(text, frozenset(needs), frozenset(annotated - needs), inner)


def _is_mark(source: SourceModule, mark: ast.expr) -> bool:
    root: ast.AST = mark
    while isinstance(root, (ast.Call, ast.Attribute)):
        root = root.func if isinstance(root, ast.Call) else root.value
    value = vars(source.module).get(root.id) if isinstance(root, ast.Name) else None
    return value is asks or isinstance(value, Registry)


def _used(statement: ast.ClassDef, keep: Collection[str]) -> set[str]:
    """Those methods, and the methods of `self` that they call."""
    methods = {node.name: node for node in statement.body if isinstance(node, ast.FunctionDef)}
    wanted, left = set[str](), [name for name in (*keep, "__init__", "__post_init__") if name in methods]
    while left:
        name = left.pop()
        wanted.add(name)
        reached = {node.attr for node in ast.walk(methods[name]) if isinstance(node, ast.Attribute)}
        left += [other for other in reached & methods.keys() if other not in wanted]
    return wanted


def _without(source: SourceModule, statement: ast.stmt, gone: Collection[ast.AST]) -> str:
    first = min([statement.lineno, *(mark.lineno for mark in getattr(statement, "decorator_list", ()))])
    last = source.docstring_end(statement) if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
    removed: set[int] = set()
    for node in gone:
        start = min([node.lineno, *(mark.lineno for mark in getattr(node, "decorator_list", ()))])  # type: ignore[attr-defined]
        removed |= set(range(start, node.end_lineno + 1))  # type: ignore[attr-defined]
    numbers = range(first, (last or statement.end_lineno or first) + 1)
    text = "\n".join(source.lines[number - 1] for number in numbers if number not in removed)
    return re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"


def _annotations(tree: ast.AST) -> list[ast.expr]:
    found: list[ast.expr | None] = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.arg, ast.AnnAssign)):
            found.append(node.annotation)
        elif isinstance(node, ast.FunctionDef):
            found.append(node.returns)
    return [each for each in found if each is not None]


class _Bare(ast.NodeTransformer):
    """Removes annotations."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        node.annotation = ast.Constant(None)
        self.generic_visit(node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = None
        self.generic_visit(node)
        return node


def _globals(table: symtable.SymbolTable) -> set[str]:
    """Names that are looked up outside the definition."""
    is_top = table.get_type() == "module"
    symbols = [symbol for symbol in table.get_symbols() if symbol.is_referenced()]
    found = {symbol.get_name() for symbol in symbols if symbol.is_global() or (is_top and not symbol.is_assigned())}
    return found.union(*(_globals(child) for child in table.get_children()))


def renamed(text: str, names: Mapping[str, str]) -> str:
    """The text with global names replaced; local variables keep their names."""
    if not names:
        return text
    tree, lines = ast.parse(text), [line.encode() for line in text.split("\n")]
    places = sorted(
        ((node.lineno, node.col_offset, node.id) for node in _names(tree, names, frozenset())), reverse=True
    )
    for line, column, name in places:
        before = lines[line - 1]
        lines[line - 1] = before[:column] + names[name].encode() + before[column + len(name.encode()) :]
    changed = b"\n".join(lines).decode()
    for name, other in names.items():
        changed = re.sub(rf"^(def|class) {name}\b", rf"\1 {other}", changed, count=1, flags=re.MULTILINE)
    return changed


def _names(node: ast.AST, names: Collection[str], own: frozenset[str]) -> list[ast.Name]:
    if isinstance(node, ast.Name):
        return [node] if node.id in names and node.id not in own else []
    if isinstance(node, (ast.FunctionDef, ast.Lambda)):
        bound = {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
        inner = [each for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
        own = own | bound | {each.id for each in inner}
    return [name for child in ast.iter_child_nodes(node) for name in _names(child, names, own)]
