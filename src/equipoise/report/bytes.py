"""Formats sizes for people."""

from __future__ import annotations


def bytes_text(size: float) -> str:
    """A size with its unit.

    >>> bytes_text(512), bytes_text(2_500_000)
    ('512 B', '2.5 MB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.3g} {unit}"
        size /= 1000
    raise AssertionError
