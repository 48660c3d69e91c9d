"""The `equipoise` command for tests: within this process, which has torch loaded, or in a process of its own.

`run_here` is the default, because a process spends seconds on its imports. It gives what a process gives: exit code,
stdout and stderr down to the file descriptors, so that what child processes print is caught too. Warnings are errors
as everywhere in the tests, and environment, folder, arguments and signal handlers are afterwards as they were.
`tests/e2e/test_processes.py` holds the two ways against each other. What is killed, sent a signal, or must not have
imported something needs `run_process`.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TextIO

import pytest
import vl_convert

import equipoise.__main__ as program
from equipoise.cli import main
from equipoise.engine.wire import receive, send

PATIENCE = 1200.0
"""Seconds after which a process that was to end by itself is given up: more than ten times what the longest needs."""

bundle = cache(vl_convert.javascript_bundle)
"""The scripts of every report, which are always the same and take a second."""


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Equipoise = Callable[..., Outcome]
"""equipoise("run", "fedavg", …, code=0, VARIABLE="value") → exit code, stdout, stderr."""


def environment(**extra: str) -> dict[str, str]:
    """That of a user: none of our variables but those given."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("EQUIPOISE_")}
    return {**kept, "OMP_NUM_THREADS": "1", "COLUMNS": "120", **extra}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "equipoise", *arguments]


def run_process(folder: Path, *arguments: str, **variables: str) -> Outcome:
    """`python -m equipoise` in that folder."""
    done = subprocess.run(
        command(*arguments),
        cwd=folder,
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def run_here(folder: Path, *arguments: str, **variables: str) -> Outcome:
    """The same without a process; the cells of a sweep are threads."""
    with (
        pytest.MonkeyPatch.context() as patch,
        kept_handlers(),
        tempfile.TemporaryFile("w+", encoding="utf-8") as out,
        tempfile.TemporaryFile("w+", encoding="utf-8") as err,
    ):
        patch.chdir(folder)
        for key in os.environ.keys() - environment(**variables).keys():
            patch.delenv(key)
        for key, value in environment(**variables).items():
            patch.setenv(key, value)
        patch.setattr(sys, "argv", [str(program.__file__), *arguments])
        patch.setitem(sys.modules, "__main__", program)  # its name is in the usage line
        patch.setattr("equipoise.run.cell_processes.Child", CellHere)
        patch.setattr(vl_convert, "javascript_bundle", bundle)
        with written_to(1, out), written_to(2, err), pytest.raises(SystemExit) as end:
            main()
        code = end.value.code
        return Outcome(code if isinstance(code, int) else int(code is not None), content(out), content(err))


WAITING = """
import os, sys, time
from equipoise.cli import main

def wait():
    print("waiting", file=sys.stderr, flush=True)
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(0.02)
    os._exit(1)
"""


@contextmanager
def waiting(folder: Path, code: str, *arguments: str, **variables: str) -> Iterator[subprocess.Popen[str]]:
    """A process of the command that has come to where `code` lets it call `wait()`; killed in the end if it is there.

    There it can be struck at leisure: however slow the machine is, it does not finish before.
    """
    process = subprocess.Popen(
        [sys.executable, "-c", f"{WAITING}{code}\nmain()", *arguments],
        cwd=folder,
        env=environment(**variables),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        said = ""
        while not said.endswith("waiting\n"):
            line = process.stderr.readline()
            assert line, f"it ended before it came there: {said}"
            said += line
        yield process
    finally:
        process.kill()
        process.communicate()


@contextmanager
def kept_handlers() -> Iterator[None]:
    """Ctrl-C and SIGTERM are handled afterwards as they were before."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def written_to(descriptor: int, file: TextIO) -> Iterator[None]:
    """stdout (1) or stderr (2), of this process and its children, goes to a file meanwhile."""
    name = {1: "stdout", 2: "stderr"}[descriptor]
    before, kept = getattr(sys, name), os.dup(descriptor)
    before.flush()
    os.dup2(file.fileno(), descriptor)
    stream = open(os.dup(descriptor), "w", encoding="utf-8")  # noqa: SIM115
    setattr(sys, name, stream)
    try:
        yield
    finally:
        stream.close()
        setattr(sys, name, before)
        os.dup2(kept, descriptor)
        os.close(kept)


def content(file: TextIO) -> str:
    file.seek(0)
    return file.read()


class CellHere:
    """A sweep's child process as a thread of this one. It speaks the same frames; one at a time is at work."""

    turn = threading.Lock()

    def __init__(self, module: str) -> None:
        assert module == "equipoise.run.cell"
        self.socket, theirs = socket.socketpair()
        self.thread = threading.Thread(target=self._work, args=(theirs,))
        self.thread.start()

    def _work(self, parent: socket.socket) -> None:
        from equipoise.run.cell import run_cell

        with parent:
            while (order := receive(parent)) is not None:
                with self.turn:
                    answer = run_cell(json.loads(order))
                send(parent, json.dumps(answer).encode())

    def close(self) -> None:
        self.socket.close()
        self.thread.join()


def run_lines(folder: Path, text: str) -> str:
    """What `equipoise …` commands of a documentation block print, line by line, 80 columns wide.

    A line may end in `> FILE` and in a comment. Whatever else a shell would understand is refused, none of it ignored.
    """
    printed = ""
    for line in text.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words = list(lexer)
        file = words[-1] if words[-2:-1] == [">"] else None
        program, *arguments = words[: -2 if file else None]
        is_plain = not any(set(word) <= set("();<>|&") for word in arguments) and not set(line) & set("$`*?~")
        assert program == "equipoise", f"a line that is not ours to run: {line}"
        assert is_plain, f"a line that needs a shell: {line}"
        done = run_here(folder, *arguments, COLUMNS="80")
        assert done.code == 0, f"{line}\n{done.err}"
        if file:
            (folder / file).write_text(done.out, encoding="utf-8")
        else:
            printed += done.out
    return printed
