"""TAB in a real bash: its own words, its own function, and once the key itself on a terminal."""

from __future__ import annotations

import os
import pty
import select
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from equipoise.config.loader import preset_names
from equipoise.core.registry import SPLITTERS
from equipoise.store.database import open_store
from equipoise.store.write import create_run
from tests.commands import environment
from tests.unit.store.conftest import a_run

BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None, reason="there is no bash")
Complete = Callable[..., list[str]]
PROGRAM = f"""#!{sys.executable} -P
from equipoise.cli import main
main()
"""
ASK = """
eval "$(equipoise --show-completion)"
COMP_WORDS=({words}); COMP_CWORD={last}; _equipoise_completion equipoise
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
PATIENCE = 120.0


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def variables(tmp_path: Path, cache: Path) -> dict[str, str]:
    """Those of a user with the command on the path, and a home of their own."""
    program = tmp_path / "bin" / "equipoise"
    program.parent.mkdir()
    program.write_text(PROGRAM, encoding="utf-8")
    program.chmod(0o755)
    (tmp_path / "home").mkdir()
    path = f"{program.parent}:{os.environ['PATH']}"
    return environment(PATH=path, HOME=str(tmp_path / "home"), EQUIPOISE_CACHE=str(cache), PS1="$ ")


@pytest.fixture
def complete(tmp_path: Path, variables: dict[str, str]) -> Complete:
    """What bash would offer for the last of these words; "=" is a word of its own, as bash cuts it."""

    def ask(*words: str) -> list[str]:
        script = ASK.format(words=" ".join(map(shlex.quote, ("equipoise", *words))), last=len(words))
        done = in_bash(script, tmp_path, variables)
        return [line for line in done.splitlines() if line]

    return ask


def in_bash(script: str, folder: Path, variables: dict[str, str]) -> str:
    words = [str(BASH), "--norc", "--noprofile", "-c", script]
    done = subprocess.run(
        words, cwd=folder, env=variables, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_commands_presets_and_names(complete: Complete) -> None:
    assert complete("doc") == ["doctor"]
    assert complete("run", "fedp") == [name for name in preset_names() if name.startswith("fedp")]
    assert complete("data", "check", "cifar") == ["cifar10", "cifar100"]
    assert complete("ls", "--status", "s") == ["stopped"]


def test_keys_are_those_of_the_chosen_names(complete: Complete) -> None:
    assert "method.mu=" not in complete("run", "fedavg", "method.")
    assert complete("run", "fedavg", "method", "=", "fedprox", "method.m")[0] == "method.mu="
    assert complete("run", "fedprox", "method.m")[0] == "method.mu="


def test_values_come_without_what_bash_has_already(complete: Complete) -> None:
    assert complete("run", "fedavg", "partition", "=") == SPLITTERS.names()
    assert complete("run", "fedavg", "partition", "=", "ii") == ["iid"]
    assert complete("run", "fedavg", "guard", "=", "") == ["off", "warn", "stop", "heal"]


def test_a_key_that_is_alone_comes_with_its_value_so_that_bash_puts_no_space_behind_it(complete: Complete) -> None:
    assert complete("run", "fedavg", "client.ep") == ["client.epochs=", "client.epochs=2"]


def test_where_bash_does_not_cut_at_the_sign_whole_words_come_back(complete: Complete) -> None:
    assert complete("run", "fedavg", "partition=ii") == ["partition=iid"]


def test_runs_of_the_store_that_the_line_names(complete: Complete, tmp_path: Path) -> None:
    for name, run_ids in (("runs/equipoise.db", ["fedavg-000001", "fedavg-000002"]), ("other.db", ["moon-000003"])):
        with open_store(tmp_path / name) as store:
            for run_id in run_ids:
                create_run(store, a_run(run_id))
    assert set(complete("show", "")) == {"latest", "fedavg-000001", "fedavg-000002"}
    assert complete("compare", "fedavg-000001", "fed") == ["fedavg-000002"]
    assert complete("show", "--store", "other.db", "m") == ["moon-000003"]


def test_a_file_that_is_no_store_and_one_that_is_not_there_have_no_runs(complete: Complete, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("no database " * 100, encoding="utf-8")
    assert complete("show", "--store", "notes", "") == ["latest"]
    assert complete("show", "--store", "none.db", "") == ["latest"]
    assert not (tmp_path / "none.db").exists()


LOADED = """
import sys, atexit
atexit.register(lambda: print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr))
sys.argv = ["equipoise"]
from equipoise.cli import main
main()
"""


def loaded(folder: Path, variables: dict[str, str], line: str) -> set[str]:
    """The packages that are loaded for a TAB at the end of that line."""
    words = ["equipoise", *line.split()]
    asked = {"_EQUIPOISE_COMPLETE": "complete_bash", "COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1)}
    command = [sys.executable, "-c", LOADED]
    done = subprocess.run(command, cwd=folder, env={**variables, **asked}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    return set(done.stderr.split())


HEAVY = {"torch", "numpy", "pydantic", "sqlalchemy", "polars", "sklearn"}


def test_the_first_tab_needs_no_torch_and_the_next_nothing_heavy(variables: dict[str, str], tmp_path: Path) -> None:
    variables = {**variables, "EQUIPOISE_CACHE": str(tmp_path / "empty")}
    assert "torch" not in loaded(tmp_path, variables, "run fedavg partition=d")
    assert not HEAVY & loaded(tmp_path, variables, "run fedavg partition=d")


@pytest.mark.parametrize("line", ["doc", "show lat", "ls --status d"])
def test_commands_and_runs_need_nothing_heavy_at_all(variables: dict[str, str], tmp_path: Path, line: str) -> None:
    assert not HEAVY & loaded(tmp_path, {**variables, "EQUIPOISE_CACHE": str(tmp_path / "empty")}, line)


def test_the_key_itself_on_a_terminal(variables: dict[str, str], tmp_path: Path) -> None:
    """bash completes the unfinished words, without a space behind a key, and what stands on the line is run."""
    ready = 'eval "$(equipoise --show-completion)"; echo rea""dy\n'
    line = 'equipoise run fedpr\tx client.ep\t5 partition=ii\t--dry-run; echo do""ne\n'
    shown = typed_in_bash([(ready, "ready"), (line, "done")], tmp_path, {**variables, "TERM": "dumb"})
    typed = shown.replace("\r", "").replace("\x07", "")
    assert "equipoise run fedprox client.epochs=5 partition=iid --dry-run" in typed
    assert "error" not in typed


def typed_in_bash(steps: list[tuple[str, str]], folder: Path, variables: dict[str, str]) -> str:
    """Type each text on a terminal of bash, and wait until it shows the answer; everything that was shown."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.execve(str(BASH), ["bash", "--norc", "--noprofile", "-i"], variables)
    shown, until = "", time.monotonic() + PATIENCE
    try:
        for text, answer in steps:
            before = len(shown)
            os.write(terminal, text.encode())
            while answer not in shown[before:] and time.monotonic() < until:
                if select.select([terminal], [], [], 1.0)[0]:
                    shown += os.read(terminal, 4096).decode(errors="replace")
            assert answer in shown[before:], shown
    finally:
        os.kill(process, 9)
        os.waitpid(process, 0)
        os.close(terminal)
    return shown


@pytest.mark.parametrize(
    ("shell", "file"),
    [
        ("bash", ".bash_completions/equipoise.sh"),
        ("zsh", ".zfunc/_equipoise"),
        ("fish", ".config/fish/completions/equipoise.fish"),
    ],
)
def test_completion_can_be_installed(variables: dict[str, str], tmp_path: Path, shell: str, file: str) -> None:
    variables = {**variables, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    in_bash(f"equipoise --install-completion {shell}", tmp_path, variables)
    text = (tmp_path / "home" / file).read_text(encoding="utf-8")
    assert f"_EQUIPOISE_COMPLETE=complete_{shell}" in text


def test_zsh_and_fish_are_answered_in_whole_words(variables: dict[str, str], tmp_path: Path) -> None:
    asked = {**variables, "_TYPER_COMPLETE_ARGS": "equipoise run fedavg partition=ii"}
    fish = {"_EQUIPOISE_COMPLETE": "complete_fish", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    assert in_bash("equipoise", tmp_path, {**asked, **fish}).strip() == "partition=iid"
    zsh = {"_EQUIPOISE_COMPLETE": "complete_zsh"}
    assert '"partition=iid"' in in_bash("equipoise", tmp_path, {**asked, **zsh})
