"""The hash of code: of a text, of a file, or of all files of a package."""

from __future__ import annotations

import hashlib
from pathlib import Path


def content_hash(content: str | Path, module: str = "") -> str:
    """SHA-256 of a text or a file. If the file is `module` of a package, all its Python files are hashed."""
    if isinstance(content, str):
        return hashlib.sha256(content.encode()).hexdigest()
    root = root_folder(module, content)
    if root == content:
        return hashlib.sha256(content.read_bytes()).hexdigest()
    digest = hashlib.sha256()
    for file in sorted(root.rglob("*.py")):
        digest.update(f"{file.relative_to(root).as_posix()}\0".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def root_folder(module: str, file: Path) -> Path:
    """The folder of a module's top-level package, or the file itself if it belongs to no package.

    >>> str(root_folder("a.b.c", Path("/x/a/b/c.py"))), str(root_folder("a", Path("/x/a/__init__.py")))
    ('/x/a', '/x/a')
    >>> str(root_folder("a", Path("/x/a.py")))
    '/x/a.py'
    """
    depth = module.count(".") + (file.name == "__init__.py")
    return file.parents[depth - 1] if depth else file
