"""`make release` in a clone: dry it changes nothing; otherwise version, notes, commit, tag and packages, or nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from equipoise import __version__
from tests.package.conftest import ROOT, tracked

pytestmark = pytest.mark.package
MAJOR = int(__version__.split(".")[0])
NEXT = f"{MAJOR}.99.0"
WHO = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b.c", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b.c"}


@dataclass(frozen=True)
class Clone:
    """A repository of its own, with our files as they are now as its only commit."""

    folder: Path

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=self.folder, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def release(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "scripts.release", *words]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)

    def text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clone:
    for key, value in WHO.items():
        monkeypatch.setenv(key, value)
    made = Clone(tmp_path / "clone")
    for name in tracked():
        path = made.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((ROOT / name).read_bytes())
    made.git("init", "--quiet")
    made.git("add", "--all", "--force")
    made.git("commit", "--quiet", "--message", "everything")
    return made


def write_unreleased(clone: Clone, said: str) -> None:
    """A CHANGELOG with that under Fixed, and nothing under the other parts, of what is unreleased."""
    older = clone.text("CHANGELOG.md").partition("\n## Unreleased")[2].partition("\n## ")[2]
    parts = "### Added\n\n### Changed\n\n### Fixed\n" + said + "\n\n### Removed\n\n### Numbers\n"
    (clone.folder / "CHANGELOG.md").write_text(f"# Changelog\n\n## Unreleased\n\n{parts}\n## {older}", encoding="utf-8")
    clone.git("commit", "--quiet", "--all", "--message", "changelog")


def test_a_dry_release_prints_its_notes_and_changes_nothing(clone: Clone) -> None:
    before = clone.git("rev-parse", "HEAD")
    done = clone.release(NEXT, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert f"{__version__} → {NEXT}" in done.stdout
    assert "### Added" in done.stdout
    assert clone.git("rev-parse", "HEAD") == before
    assert clone.git("status", "--porcelain") == ""
    assert clone.git("tag") == ""


def test_a_release_has_version_notes_commit_tag_and_packages(clone: Clone) -> None:
    write_unreleased(clone, "* A bug was\n  a feature.")
    done = clone.release(NEXT)
    assert done.returncode == 0, done.stderr
    assert clone.git("tag", "--points-at", "HEAD") == f"v{NEXT}"
    assert clone.git("status", "--porcelain") == ""
    assert f'__version__ = "{NEXT}"' in clone.text("src/equipoise/__init__.py")
    assert clone.text(f"dist/release-notes-{NEXT}.md") == f"# {NEXT}\n\n### Fixed\n* A bug was\n  a feature.\n"
    built = sorted(path.name for path in (clone.folder / "dist").glob("equipoise-*"))
    assert built == [f"equipoise-{NEXT}-py3-none-any.whl", f"equipoise-{NEXT}.tar.gz"]


def test_after_a_release_the_changelog_has_it_with_its_date_under_an_empty_unreleased(clone: Clone) -> None:
    write_unreleased(clone, "* A bug.")
    assert clone.release(NEXT).returncode == 0
    parts = re.split(r"^## ", clone.text("CHANGELOG.md"), flags=re.MULTILINE)[1:]
    assert re.sub(r"### \w+", "", parts[0]).split() == ["Unreleased"]
    assert re.match(rf"{re.escape(NEXT)} \(\d{{4}}-\d\d-\d\d\)\n", parts[1])
    assert "* A bug." in parts[1]
    for part in parts:
        assert re.findall(r"^### (\w+)$", part, re.MULTILINE) == ["Added", "Changed", "Fixed", "Removed", "Numbers"]


@pytest.mark.parametrize(
    ("version", "said"),
    [(__version__, "is not after"), ("0.0.1", "is not after"), ("1.2", "is no version"), ("", "is no version")],
)
def test_a_version_that_cannot_be_next_is_refused(clone: Clone, version: str, said: str) -> None:
    done = clone.release(version)
    assert done.returncode == 1
    assert said in done.stderr
    assert clone.git("status", "--porcelain") == clone.git("tag") == ""


def test_nothing_is_released_from_a_tree_with_changes(clone: Clone) -> None:
    (clone.folder / "README.md").write_text("other", encoding="utf-8")
    done = clone.release(NEXT)
    assert done.returncode == 1
    assert "README.md" in done.stderr


def test_a_tag_that_is_there_is_never_moved(clone: Clone) -> None:
    clone.git("tag", f"v{NEXT}")
    done = clone.release(NEXT)
    assert done.returncode == 1
    assert "is there already" in done.stderr


def test_nothing_is_released_when_nothing_has_changed(clone: Clone) -> None:
    write_unreleased(clone, "")
    done = clone.release(NEXT)
    assert done.returncode == 1
    assert "nothing to release" in done.stderr


def test_packages_that_no_index_would_take_leave_the_tree_as_it_was(clone: Clone) -> None:
    path = clone.folder / "pyproject.toml"
    path.write_text(
        path.read_text(encoding="utf-8").replace('readme = "README.md"', 'readme = "NONE.md"'), encoding="utf-8"
    )
    clone.git("commit", "--quiet", "--all", "--message", "a readme that is not there")
    done = clone.release(NEXT)
    assert done.returncode == 1
    assert "`long_description` missing" in done.stderr
    assert clone.git("status", "--porcelain") == clone.git("tag") == ""


def test_make_release_is_dry_unless_told_otherwise(clone: Clone) -> None:
    words = ["make", "--dry-run", "release", f"VERSION={NEXT}"]
    dry = subprocess.run(words, cwd=clone.folder, capture_output=True, text=True, check=True).stdout
    wet = subprocess.run([*words, "DRY="], cwd=clone.folder, capture_output=True, text=True, check=True).stdout
    assert f"scripts.release '{NEXT}' --dry-run" in dry
    assert f"scripts.release '{NEXT}'" in wet
    assert "--dry-run" not in wet
