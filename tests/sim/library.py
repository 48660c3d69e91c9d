"""Compiles sim.cpp, once for each source, torch and Python; the result is kept in a cache folder."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).with_name("sim.cpp")
FLAGS = ("-std=c++20", "-O1", "-fPIC", "-shared")


class NoCompiler(RuntimeError):
    """g++ is not installed."""


def cache() -> Path:
    return Path(os.environ.get("EQUIPOISE_SIM_CACHE") or Path.home() / ".cache" / "equipoise" / "sim")


def build() -> Path:
    """The compiled library. One process compiles at a time; the others wait, and use what it made."""
    import torch

    key = hashlib.sha256("\0".join((SOURCE.read_text("utf-8"), *FLAGS, torch.__version__, sys.version)).encode())
    library = cache() / f"sim-{key.hexdigest()[:16]}.so"
    if library.exists():
        return library
    library.parent.mkdir(parents=True, exist_ok=True)
    with library.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not library.exists():
            _compile(Path(torch.__file__).parent, library)
    return library


def _compile(torch_folder: Path, library: Path) -> None:
    compiler = shutil.which("g++")
    if compiler is None:
        raise NoCompiler(
            "the simulated device needs g++, which is not on the PATH: install g++ (Debian: apt install g++)"
        )
    includes = [f"-I{torch_folder / 'include' / part}" for part in ("", "torch/csrc/api/include")]
    # without an rpath: torch has loaded these libraries already, wherever it is installed
    links = [f"-L{torch_folder / 'lib'}", "-ltorch", "-ltorch_cpu", "-lc10"]
    unfinished = library.with_suffix(f".{os.getpid()}.part")
    command = [compiler, *FLAGS, *includes, str(SOURCE), "-o", str(unfinished), *links]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        unfinished.unlink(missing_ok=True)
        raise RuntimeError(f"g++ cannot compile {SOURCE.name}, exit code {result.returncode}:\n{result.stderr[-4000:]}")
    unfinished.rename(library)  # atomic: nobody loads half a library, even if this process is killed
