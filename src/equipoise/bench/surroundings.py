"""The conditions of a measurement: version, commit if known, processor, cores, memory, torch, device."""

from __future__ import annotations

import os
import platform
import subprocess
from functools import cache
from pathlib import Path

import torch

from equipoise import __version__
from equipoise.config.check import check
from equipoise.core.machine import cores
from equipoise.run.placed import described_device


@cache
def surroundings() -> dict[str, str | int | float]:
    return {
        "version": __version__,
        "commit": _commit(),
        "processor": _processor(),
        "cores": cores(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "torch": torch.__version__,
        "capability": torch.backends.cpu.get_cpu_capability(),
        "device": described_device(check({})),
    }


def _commit() -> str:
    """The commit of the source tree that this module was imported from; "" outside a repository."""
    here = Path(__file__).parent
    asked = ["git", "-C", str(here), "rev-parse", "--short", "HEAD"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
