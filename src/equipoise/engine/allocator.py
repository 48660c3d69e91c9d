"""Keeps freed memory in the process: training frees and allocates the same large blocks at every step.

By default glibc returns each block above its threshold to the kernel, which clears the pages again at the next
allocation. Raising the thresholds halves the time of a forward pass; other C libraries are left as they are. Methods
that train nothing leave it out: their sums are large and few, and would leave gaps that nothing fits into.
"""

from __future__ import annotations

import ctypes
from functools import cache

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
ONE_GIBIBYTE = 2**30


@cache
def keep_freed_memory() -> bool:
    """Whether the allocator accepted the setting."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(M_MMAP_THRESHOLD, ONE_GIBIBYTE)) and bool(mallopt(M_TRIM_THRESHOLD, ONE_GIBIBYTE))
