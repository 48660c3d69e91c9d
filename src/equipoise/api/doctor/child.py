"""Starts the process that imports, and makes checkups of what it says, or of what it died of."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import Any

from equipoise.api.doctor.checkup import Checkup
from equipoise.api.doctor.imported import MODULES, REINSTALL

PROGRAM = "equipoise.api.doctor.imported"
PATIENCE = 300.0
"""Seconds after which the process is given up: a hundred times what it needs."""


def begun() -> subprocess.Popen[str]:
    """-P: the current folder is not searched, as for the `equipoise` command."""
    words = [sys.executable, "-P", "-m", PROGRAM]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> list[Checkup]:
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        return said(out, f"did not come to an end in {PATIENCE:.0f} s", err)
    return said(out, manner(process.returncode), err)


def manner(code: int) -> str:
    """How a process ended; empty if it ended well."""
    if code < 0:
        return f"ended Python with signal {-code} ({signal.Signals(-code).name})"
    return f"ended Python with exit code {code}" if code else ""


def said(out: str, end: str, err: str) -> list[Checkup]:
    """The checkups of a process; what it had begun and not ended is what it died of."""
    lines: list[dict[str, Any]] = [json.loads(line) for line in out.splitlines()]
    found = [Checkup(**each) for line in lines for each in line.get("found", [])]
    if not end:
        return found
    open_ones = {line["begins"] for line in lines if "begins" in line} - {line.get("ends") for line in lines}
    name = next(iter(open_ones), "python")
    last = err.strip().splitlines()[-1:] or [""]
    says = f"{end}{': ' if last[0] else ''}{last[0]}; what comes after it was not looked at"
    fix = REINSTALL.format(name=name) if name in MODULES else "look at the plugins that are installed, one by one"
    return [*found, Checkup("packages" if name in MODULES else "plugins", name, "broken", says, fix)]
