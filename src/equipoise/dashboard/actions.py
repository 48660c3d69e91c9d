"""What can be done from a page: ask a run to stop, resume one, start one.

A stop is a request in the store, which the run reads at its next checkpoint. Resuming and starting are commands of ours
in processes of their own, which go on when the dashboard ends. Settings are checked before anything starts; those that
would run code from a file are refused here, since a page should not be able to do more than the presets can.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from equipoise.config.aliases import CANONICAL
from equipoise.config.loader import SWEEP_KEYS, load, preset_files, read_yaml, to_yaml, value_of, walked
from equipoise.core.errors import ConfigError, Problem
from equipoise.store import read
from equipoise.store.transact import Store
from equipoise.store.watching import request

SETTING = re.compile(r"[A-Za-z_][\w.-]*=[^\n\r\0]*")
MOST_SETTINGS, MOST_GOING = 60, 8
REFUSED = ("plugins", "model.factory", "preset")
"""Keys that name code, which would be loaded when the settings are checked."""
SHOWN = 4000
"""Characters of a process's output that a page shows."""
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")


@dataclass
class Job:
    """A command that was started from a page."""

    number: int
    what: str
    process: subprocess.Popen[bytes]
    log: Path
    began: float = field(default_factory=time.time)

    @property
    def exit_code(self) -> int | None:
        return self.process.poll()

    @property
    def output(self) -> str:
        text = self.log.read_bytes()[-SHOWN:].decode("utf-8", "replace")
        return CONTROL.sub("", text)

    @property
    def run_id(self) -> str | None:
        """The run that it started, once it has said so."""
        found = re.search(r"^run ([\w.-]+):", self.log.read_bytes()[:SHOWN].decode("utf-8", "replace"), re.MULTILINE)
        return found[1] if found else None


class Actions:
    def __init__(self, store: Store, location: str) -> None:
        self.store, self.location = store, location
        self.jobs: list[Job] = []
        self._lock = threading.Lock()
        self._logs = Path(tempfile.mkdtemp(prefix="equipoise-serve-"))

    def stop(self, run_id: str) -> str:
        run = read.find_run(self.store, run_id)
        request(self.store, run.run_id, "stop")
        return run.run_id

    def resume(self, run_id: str) -> Job:
        run = read.find_run(self.store, run_id)
        if run.status in {"running", "done"}:
            raise ConfigError(f"run '{run.run_id}' is {run.status}: there is nothing to resume")
        return self._begin(f"resume {run.run_id}", ["resume", run.run_id])

    def start(self, preset: str, settings: Sequence[str]) -> Job:
        checked(preset, settings)
        return self._begin(" ".join(["run", preset, *settings]), ["run", preset, *settings])

    def _begin(self, what: str, arguments: Sequence[str]) -> Job:
        with self._lock:
            if sum(job.exit_code is None for job in self.jobs) >= MOST_GOING:
                raise ConfigError(f"{MOST_GOING} runs from here are going on", fix="wait for one, or stop one")
            log = self._logs / f"{len(self.jobs) + 1}.log"
            command = [sys.executable, "-m", "equipoise", *arguments, "--store", self.location]
            with log.open("wb") as out:
                process = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
                )
            job = Job(len(self.jobs) + 1, what, process, log)
            self.jobs.append(job)
        return job


def presets() -> list[str]:
    """The presets of single runs."""
    return [name for name, path in preset_files().items() if not set(SWEEP_KEYS) & set(read_yaml(path))]


def checked(preset: str, settings: Sequence[str]) -> str:
    """The configuration as YAML; all problems at once in a ConfigError."""
    if preset not in preset_files():
        raise ConfigError([Problem("preset", f"preset '{preset}' is not known")], fix="choose one of the list")
    if len(settings) > MOST_SETTINGS:
        raise ConfigError(f"at most {MOST_SETTINGS} settings can be given here, not {len(settings)}")
    wrong = [Problem("settings", f"'{text}' is not key=value") for text in settings if not SETTING.fullmatch(text)]
    named = [key for text in settings for key in _keys(text) if key in REFUSED or key.startswith("plugins.")]
    wrong += [Problem(key, "names code; start such a run with `equipoise run`") for key in named]
    if wrong:
        raise ConfigError(wrong)
    return to_yaml(load(preset, settings).config)


def _keys(setting: str) -> list[str]:
    """The dotted keys of one setting, also of a block such as model={name: …, factory: …}."""
    key, _, value = setting.partition("=")
    return [CANONICAL.get(each, each) for each, _ in walked(value_of(value), key)]
