"""Cores and memory of this machine."""

from __future__ import annotations

import os


def cores() -> int:
    """The cores this process may use; on systems without CPU affinity, all cores."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory() -> int:
    """Bytes of memory that this machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
