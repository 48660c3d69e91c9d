"""A run in a process of its own: killed with SIGKILL, resumed by another, and compared with one never stopped."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from equipoise.api.demo.part import StoryPart
from equipoise.api.handle import RunHandle
from equipoise.core.errors import EngineError

if TYPE_CHECKING:
    from equipoise.store.transact import Store

POLICY = "equilibrium"
"""The row of the policies whose first run is done again."""
NAME = "killed"
PATIENCE, POLL = 300.0, 0.02
"""Seconds that one process may take, and between two looks at the store."""
ATTEMPTS = 3
"""A small run may be done before the signal arrives; then it is started again."""
CLOCK = "seconds"
"""The recorded number that is a clock reading."""


@dataclass(frozen=True)
class Interrupted:
    """The same run twice, the second time killed after `after` of `steps` checkpoints, and resumed."""

    after: int
    steps: int
    n: int
    """Recorded numbers; clock readings are left out."""
    n_equal: int
    """Those that are the same to the last bit."""
    runs: Mapping[str, str]
    """What happened to it → its id."""
    accuracy: Mapping[str, float | None]


@dataclass(frozen=True)
class Program:
    """What does the run again, in a store of its own, so that no table takes it for the run that never stopped."""

    store: str
    command: Sequence[str] = (sys.executable, "-m", "equipoise")
    """Starts the program."""


def measured(whole: RunHandle, program: Program, note: Callable[[str], None]) -> StoryPart:
    """`whole` is the run that never stopped."""
    steps = whole.config.steps
    run, after = killed(whole, max(1, steps // 3), program)
    note(f"{run.id}: SIGKILL after checkpoint {after} of {steps}; a new process resumes it")
    with _started(program, "resume", run.id) as child:
        _ended(child)
    runs = {"never interrupted": whole, "killed and resumed": run}
    ids, values = (
        {label: each.id for label, each in runs.items()},
        {label: each.value for label, each in runs.items()},
    )
    return told(Interrupted(after, steps, *compared(whole, run), ids, values))


def killed(whole: RunHandle, after: int, program: Program) -> tuple[RunHandle, int]:
    """The run once more, killed as soon as it has that many checkpoints: (the run, how many it has)."""
    from equipoise.config.loader import dump_yaml
    from equipoise.store.database import open_store

    with open_store(program.store) as store, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{NAME}.yaml"
        file.write_text(dump_yaml({**whole.record.config, "name": NAME}), encoding="utf-8")
        for _ in range(ATTEMPTS):
            with _started(program, "run", str(file)) as child:
                run_id = _struck(child, store, after)
            if run_id is not None:
                return RunHandle(run_id, program.store), _committed(store, run_id)
    what = f"the run was done before it could be killed, {ATTEMPTS} times"
    raise EngineError(what, where=f"after checkpoint {after}", fix="run the demo again when the machine is less busy")


@dataclass(frozen=True)
class ChildProcess:
    """A process, what it prints on stderr, and until when it may take."""

    process: subprocess.Popen[str]
    err: TextIO
    deadline: float

    def refuse(self, what: str) -> EngineError:
        """An error with the last lines that it printed."""
        self.err.seek(0)
        said = self.err.read().strip().splitlines()[-5:]
        return EngineError(f"{what}: {' · '.join(said) or 'it printed nothing'}", where="the run that the demo kills")

    def wait(self) -> None:
        """Sleep a moment; too many of them are an error."""
        if time.monotonic() > self.deadline:
            raise self.refuse(f"the process did nothing that was waited for in {PATIENCE:.0f} s")
        time.sleep(POLL)


@contextmanager
def _started(program: Program, *arguments: str) -> Iterator[ChildProcess]:
    """The command there, as a process of its own that does not outlive the block."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as err:
        process = subprocess.Popen(
            [*program.command, *arguments],
            env={**os.environ, "EQUIPOISE_STORE": program.store},
            stdout=subprocess.DEVNULL,
            stderr=err,
            text=True,
        )
        try:
            yield ChildProcess(process, err, time.monotonic() + PATIENCE)
        finally:
            process.kill()
            process.wait()


def _struck(child: ChildProcess, store: Store, after: int) -> str | None:
    """Kill the process once its run has committed so many checkpoints: the run, or None if it was done before."""
    from equipoise.store.read import find_run

    while child.process.poll() is None:
        run_id = _run_of(store, child.process.pid)
        if run_id is not None and _committed(store, run_id) >= after:
            child.process.kill()
            child.process.wait()
            return run_id if find_run(store, run_id).status == "killed" else None
        child.wait()
    if child.process.returncode != 0:
        raise child.refuse(f"the process ended with {child.process.returncode} before it was killed")
    return None


def _run_of(store: Store, pid: int) -> str | None:
    """The run of that process of this machine."""
    from equipoise.store import read

    here = socket.gethostname()
    runs = read.runs(store, status="running")
    owners = {(run.environment.get("host"), run.environment.get("pid")): run.run_id for run in runs}
    return owners.get((here, pid))


def _committed(store: Store, run_id: str) -> int:
    from equipoise.store import read

    return max((each.step + 1 for each in read.checkpoints(store, run_id)), default=0)


def _ended(child: ChildProcess) -> None:
    while child.process.poll() is None:
        child.wait()
    if child.process.returncode != 0:
        raise child.refuse(f"the process ended with {child.process.returncode}")


def compared(first: RunHandle, second: RunHandle) -> tuple[int, int]:
    """(recorded numbers of both, how many of them are the same to the last bit); clock readings are left out."""
    ours, theirs = (_numbers(run) for run in (first, second))
    keys = ours.keys() | theirs.keys()
    return len(keys), sum(ours.get(key) == theirs.get(key) for key in keys)


def _numbers(run: RunHandle) -> dict[tuple[object, ...], str]:
    """(step, client, name) → the bits of the value."""
    rows = run.metrics()
    return {
        (step, client, name): float(value).hex()
        for step, client, name, value in rows.select("step", "client", "name", "value").iter_rows()
        if name != CLOCK
    }


def told(found: Interrupted) -> StoryPart:
    others = "" if found.n == found.n_equal else f"; {found.n - found.n_equal:,} are NOT"
    return StoryPart(
        name="killing",
        says=f"Killed with SIGKILL after checkpoint {found.after} of {found.steps}, resumed by a new process: "
        f"{found.n_equal:,} of {found.n:,} recorded numbers are equal to the last bit{others}.",
        numbers=[
            {"run": label, "run_id": run_id, "accuracy": found.accuracy[label], "n": found.n, "equal": found.n_equal}
            for label, run_id in found.runs.items()
        ],
        columns=["run", "id", "accuracy"],
        rows=[[label, run_id, _digits(found.accuracy[label])] for label, run_id in found.runs.items()],
    )


def _digits(value: float | None) -> str:
    """Every digit, in per cent."""
    return "–" if value is None else f"{100 * value:.15g} %"
