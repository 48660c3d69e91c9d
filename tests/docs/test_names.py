"""One name, one thing: no public class name of the package is defined twice."""

from __future__ import annotations

import ast
from collections import defaultdict

from tests.docs.documents import ROOT

SOURCE = ROOT / "src" / "equipoise"


def public_classes() -> dict[str, set[str]]:
    """Name of a class at the top of a module → the files that define one."""
    found = defaultdict(set)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].add(path.relative_to(SOURCE).as_posix())
    return found


def test_public_class_names_are_unique() -> None:
    found = public_classes()
    assert len(found) > 100
    assert {name: files for name, files in found.items() if len(files) > 1} == {}


def test_no_file_is_longer_than_one_can_hold_in_mind() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCE.rglob("*.py")}
    assert {str(path): length for path, length in lengths.items() if length > 250} == {}
