"""The library is compiled once; child processes know the device, with the settings of their environment."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.sim import NoCompiler, build, environment, fixtures
from tests.sim.loading import configure

ROOT = Path(__file__).parents[3]


def output_of(program: str, **variables: str) -> list[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SIM_") and name != "PYTHONPATH"}
    command = [sys.executable, "-P", "-c", program]
    result = subprocess.run(command, env=clean | variables, capture_output=True, text=True, check=False, timeout=300)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def raised(use: str) -> str:
    """A program's line that prints the error of `use`."""
    return f"try: {use}\nexcept Exception as error: print(type(error).__name__, str(error)[:40])\n"


def test_a_child_knows_the_device_with_its_settings():
    program = (
        "import os, torch\n"
        "print(torch.accelerator.current_accelerator(), torch.accelerator.device_count())\n"
        "print(torch.accelerator.get_memory_info(0)[1])\n"
        + raised("torch.zeros(3000, device='sim')")
        + raised("torch.zeros(1, device='sim', dtype=torch.float64)")
        + "one = torch.empty(1, device='sim:1')\n"
        "for _ in range(5): one.fill_(1)\n" + raised("one.fill_(1)") + "if os.fork(): os.wait()\n"
        'else: exec("' + raised("torch.zeros(1, device='sim')").replace("\n", "\\n") + '")\n'
    )
    settings = environment(devices=3, memory=10_000, lacks=["float64"], lose={1: 5})
    assert output_of(program, **settings) == [
        "sim 3",
        "10000",
        "OutOfMemoryError sim out of memory. Tried to allocate 120",
        "TypeError sim does not support Double: use another",
        "RuntimeError sim error: device lost (sim:1)",
        "RuntimeError Cannot re-initialize sim in forked subpr",
    ]


def test_nothing_changes_without_the_folder_and_a_late_load_says_so():
    program = (
        "import torch\n"
        "print(hasattr(torch, 'sim'), torch.accelerator.current_accelerator())\n"
        "torch.ones(1, requires_grad=True).backward()\n"
        "from tests.sim import load\n" + raised("load()")
    )
    assert output_of(program, PYTHONPATH=str(ROOT)) == [
        "False None",
        "RuntimeError sim was loaded after the first backward(",
    ]


def test_a_child_may_have_no_device():
    program = "import torch; print(torch.sim.device_count(), torch.accelerator.is_available())\n" + raised(
        "torch.zeros(1, device='sim')"
    )
    assert output_of(program, **environment(devices=0)) == [
        "0 False",
        "RuntimeError sim error: no device 0, there are 0",
    ]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("SIM_DEVICES", "9", "at most 8"),
        ("SIM_MEMORY", "8GB", "SIM_MEMORY: '8GB' is not a whole number"),
        ("SIM_LACKS", "double64", "SIM_LACKS: 'double64' is not a dtype"),
        ("SIM_LOSE", "1:soon", "SIM_LOSE: 'soon' is not a whole number"),
        ("SIM_LOSE", "2:5", "no device 2, there are 2"),
    ],
)
def test_a_wrong_setting_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str):
    for other in ("SIM_DEVICES", "SIM_MEMORY", "SIM_LACKS", "SIM_LOSE"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, value)
    with pytest.raises((ValueError, RuntimeError), match=message):
        configure()


@pytest.fixture
def empty_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("EQUIPOISE_SIM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def compiler(folder: Path, script: str) -> str:
    """A PATH on which g++ is this script."""
    (folder / "g++").write_text(f"#!/bin/sh\necho $$ >> {folder}/runs\n{script}\n")
    (folder / "g++").chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def test_several_processes_compile_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, empty_cache: Path):
    script = 'sleep 0.1; while [ "$1" != -o ]; do shift; done; echo library > "$2"'
    monkeypatch.setenv("PATH", compiler(tmp_path, script))
    with ThreadPoolExecutor(4) as threads:
        libraries = {future.result() for future in [threads.submit(build) for _ in range(4)]}
    assert [library.read_text() for library in libraries] == ["library\n"]
    assert len((tmp_path / "runs").read_text().splitlines()) == 1
    assert sorted(path.suffix for path in empty_cache.iterdir()) == [".lock", ".so"]


def test_an_error_of_the_compiler_is_shown_and_leaves_nothing(monkeypatch, tmp_path: Path, empty_cache: Path):
    monkeypatch.setenv("PATH", compiler(tmp_path, "echo no such header >&2; exit 1"))
    with pytest.raises(RuntimeError, match="exit code 1:\nno such header"):
        build()
    assert [path.suffix for path in empty_cache.iterdir()] == [".lock"]


def test_without_a_compiler_tests_skip_unless_the_device_is_required(monkeypatch, tmp_path: Path, empty_cache: Path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoCompiler, match=r"needs g\+\+"):
        build()
    monkeypatch.setattr(fixtures, "load", build)
    monkeypatch.delenv("EQUIPOISE_SIM_REQUIRED", raising=False)
    assert isinstance(fixtures.load_unless_impossible(), NoCompiler)
    monkeypatch.setenv("EQUIPOISE_SIM_REQUIRED", "1")
    with pytest.raises(NoCompiler):
        fixtures.load_unless_impossible()
