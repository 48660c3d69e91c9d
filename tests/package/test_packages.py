"""What the wheel and the source distribution hold, and what an index would say of them."""

from __future__ import annotations

import email
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.message import Message
from pathlib import Path

import pytest

from equipoise import __version__
from tests.package.conftest import ROOT, tracked

pytestmark = pytest.mark.package
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture
def wheel(packages: Path) -> zipfile.ZipFile:
    (path,) = packages.glob("*.whl")
    return zipfile.ZipFile(path)


@pytest.fixture
def metadata(wheel: zipfile.ZipFile) -> Message:
    return email.message_from_bytes(wheel.read(f"equipoise-{__version__}.dist-info/METADATA"))


def test_the_wheel_holds_every_file_of_the_package_and_no_other(wheel: zipfile.ZipFile) -> None:
    ours = {name.removeprefix("src/") for name in tracked("src/equipoise")}
    assert {name for name in ours if not name.endswith(".py")}, "there are files beside the code to be checked"
    assert {name for name in wheel.namelist() if ".dist-info/" not in name} == ours


def test_the_source_distribution_holds_what_its_tests_and_pages_need(packages: Path) -> None:
    (path,) = packages.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        held = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    assert set(tracked()) <= held
    assert {name for name in held - set(tracked()) if "egg-info" not in name} == {"PKG-INFO", "setup.cfg"}


def test_an_index_would_take_both(packages: Path) -> None:
    files = sorted(map(str, packages.iterdir()))
    done = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *files], capture_output=True, text=True, check=False
    )
    assert len(files) == 2
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("PASSED") == 2


def test_the_metadata_say_what_the_project_says(metadata: Message) -> None:
    assert metadata["Version"] == __version__
    assert metadata["Requires-Python"] == PROJECT["requires-python"]
    assert metadata["License-Expression"] == PROJECT["license"]
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert set(metadata.get_all("Provides-Extra", [])) == set(PROJECT["optional-dependencies"])
    assert str(metadata.get_payload()).startswith("# Equipoise")


def test_the_wheel_brings_the_command_and_says_that_it_is_typed(wheel: zipfile.ZipFile) -> None:
    points = wheel.read(f"equipoise-{__version__}.dist-info/entry_points.txt").decode()
    assert "equipoise = equipoise.cli:main" in points
    assert "equipoise/py.typed" in wheel.namelist()


def test_the_wheel_by_name_in_an_empty_environment_has_a_green_doctor_and_tells_the_demo(packages: Path) -> None:
    """The minutes of an installation and of the demo with one seed."""
    words = [sys.executable, "-m", "scripts.try_wheel", "--dist", str(packages), "--seeds", "1"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "all that is needed works" in done.stdout
    assert "equal to the last bit" in " ".join(done.stdout.split())
