"""Install the wheel by name into an empty environment, leave the source tree, and run `equipoise doctor` and the demo.

    python -m scripts.try_wheel                         with this Python, without extras
    python -m scripts.try_wheel --extras postgres,track --seeds 1 --pythons 3.11 3.12 3.13

Of Pythons other than this one, those that are not found, and those for which pip finds no torch of the version in
constraints.txt, are named and left out. Anything else that goes wrong ends the script with exit code 1.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
THIS = f"{sys.version_info.major}.{sys.version_info.minor}"
NO_TORCH = "No matching distribution found for torch"
OURS = "EQUIPOISE_"


@dataclass(frozen=True)
class Trial:
    """What is installed, and how long its demo is."""

    wheel: Path
    extras: str
    seeds: int

    @property
    def version(self) -> str:
        return self.wheel.name.split("-")[1]

    @property
    def requirement(self) -> str:
        extras = f"[{self.extras}]" if self.extras else ""
        return f"equipoise{extras}=={self.version}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="folder of the wheel; `make package` fills it")
    parser.add_argument("--extras", default="", help="extras to install, as in postgres,track")
    parser.add_argument("--seeds", type=int, default=3, help="random seeds of the demo")
    parser.add_argument("--pythons", nargs="*", default=[THIS], help="versions of Python to try, as in 3.11 3.12")
    given = parser.parse_args()
    wheel = newest(given.dist)
    outcomes = [tried(Trial(wheel, given.extras, given.seeds), version) for version in given.pythons]
    if not any(outcomes):
        raise SystemExit("the wheel was tried with no Python at all")


def newest(folder: Path) -> Path:
    wheels = sorted(folder.glob("equipoise-*.whl"), key=lambda path: path.stat().st_mtime)
    if not wheels:
        raise SystemExit(f"there is no wheel in {folder}: run `make package`")
    return wheels[-1].resolve()


def tried(trial: Trial, version: str) -> bool:
    """Whether there was a Python of that version to try the wheel with."""
    python = interpreter(version)
    if python is None:
        say(f"python{version} was not found: not tried")
        return False
    with tempfile.TemporaryDirectory(prefix="equipoise-wheel-") as folder:
        started = time.monotonic()
        environment = Path(folder) / "environment"
        run([python, "-m", "venv", str(environment)], Path(folder))
        if not installed(trial, environment, Path(folder)):
            say(f"python{version}: pip finds no torch of constraints.txt for it: not tried")
            return False
        say(f"python{version}: {trial.requirement} installed in {time.monotonic() - started:.0f} s")
        require_the_wheel(trial, environment)
        use(trial, environment, Path(folder) / "elsewhere")
    return True


def interpreter(version: str) -> str | None:
    """A Python of that version that starts: this one, one on the PATH, or one of pyenv's."""
    if version == THIS:
        return sys.executable
    theirs = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for program in (f"python{version}", *(str(path) for path in sorted(theirs.glob(f"{version}.*/bin/python")))):
        try:
            done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
        except OSError:
            continue
        if done.returncode == 0 and done.stdout.startswith(f"Python {version}."):
            return program
    return None


def installed(trial: Trial, environment: Path, folder: Path) -> bool:
    """False where there is no torch for that Python."""
    pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pinned = ["-c", str(ROOT / "constraints.txt"), "--find-links", str(trial.wheel.parent)]
    done = outcome([*pip, *pinned, trial.requirement], folder)
    if done.returncode != 0 and NO_TORCH not in done.stderr:
        raise SystemExit(f"pip could not install {trial.requirement}:\n{done.stderr}")
    return done.returncode == 0


def require_the_wheel(trial: Trial, environment: Path) -> None:
    """pip looks for the name elsewhere too: what it installed must be, byte for byte, what is in this wheel."""
    (place,) = environment.glob("lib/python*/site-packages")
    with zipfile.ZipFile(trial.wheel) as archive:
        ours = [name for name in archive.namelist() if name.startswith("equipoise/")]
        other = [name for name in ours if not is_there(place / name, archive.read(name))]
    if other:
        raise SystemExit(f"pip did not install {trial.wheel}: {other[0]} is missing or another")


def is_there(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content


def use(trial: Trial, environment: Path, folder: Path) -> None:
    """Run the commands in a folder of their own, as a user who has never seen the source."""
    folder.mkdir()
    equipoise = str(environment / "bin" / "equipoise")
    if run([equipoise, "--version"], folder).split() != ["equipoise", trial.version]:
        raise SystemExit(f"`equipoise --version` does not say {trial.version}")
    for words in (["doctor"], ["presets"], ["demo", "--seeds", str(trial.seeds)]):
        started = time.monotonic()
        printed = run([equipoise, *words], folder)
        say(f"equipoise {' '.join(words)}: done in {time.monotonic() - started:.1f} s")
        if words[0] != "presets":
            print(printed, flush=True)
    if not list(folder.rglob("*.html")):
        raise SystemExit("the demo wrote no report")


def run(words: list[str], folder: Path) -> str:
    """What a command prints; the script ends where the command fails."""
    done = outcome(words, folder)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def outcome(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run without our variables and without a source tree on the search path, which pip would take as installed."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith((OURS, "PYTHON", "VIRTUAL_ENV"))}
    return subprocess.run(words, cwd=folder, env=kept, capture_output=True, text=True, check=False)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
