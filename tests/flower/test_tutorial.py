"""docs/tutorials/real-machines.md, word by word: its commands in order, on ports that are free."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from equipoise.engine.flower.children import free_port
from tests.commands import PATIENCE
from tests.docs.documents import DOCS
from tests.docs.test_examples import prepare
from tests.docs.test_tutorials import shown_only
from tests.flower.test_howto import READY, Terminals

pytestmark = pytest.mark.flower
PAGE = DOCS / "tutorials" / "real-machines.md"


def refused(terminals: Terminals, *given: str) -> str:
    """What a command says that must end with exit code 2."""
    done = subprocess.run(
        [sys.executable, "-m", "equipoise", *given], cwd=terminals.folder, env=terminals.environment,
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stdout + done.stderr
    return done.stderr


def test_every_command_works_in_order(tmp_path: Path) -> None:
    prepare(PAGE, tmp_path)
    ports = {"9092": str(free_port()), "9093": str(free_port())}
    driver = ["--driver-port", ports["9093"]]
    more = {"federation serve": ["--port", ports["9092"], *driver], "federation status": driver}
    terminals, printed, denied = Terminals(tmp_path), "", ""
    try:
        for line in [line.removeprefix("equipoise ") for line in shown_only(PAGE.name)]:
            given = [re.sub("909[23]", lambda found: ports[found.group()], word) for word in line.split()]
            given += next((words for start, words in more.items() if line.startswith(start)), [])
            waits = next((text for start, text in READY.items() if line.startswith(start)), None)
            if waits is not None:
                terminals.stay(waits, *given)
            elif "scaffold" in line:
                denied = refused(terminals, *given)
            else:
                printed += terminals.run(*given)
    finally:
        terminals.close()
    assert printed.count("online") == 3
    assert "round 3/3  clients 3/3" in printed
    assert "note class-blind" in printed
    assert "error: 3 machines cannot take part:" in denied
    assert "'scaffold' is not allowed here; allowed: fedavg, fedprox" in denied
