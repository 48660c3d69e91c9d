"""Make a release: version, CHANGELOG, notes, a commit, a tag, packages that an index would take. Nothing is sent.

    python -m scripts.release 1.2.3 --dry-run      what would happen
    python -m scripts.release 1.2.3                it happens, in this repository

The version stands in one place, `__version__` of src/equipoise/__init__.py. In the CHANGELOG, "Unreleased" becomes the
version with today's date, under a new and empty "Unreleased". Its text is also written to dist/release-notes-1.2.3.md.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSIONED = Path("src/equipoise/__init__.py")
CHANGELOG = Path("CHANGELOG.md")
PARTS = ("Added", "Changed", "Fixed", "Removed", "Numbers")
LINE = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)
UNRELEASED = "## Unreleased\n"
EMPTY = UNRELEASED + "".join(f"\n### {part}\n" for part in PARTS)


@dataclass(frozen=True)
class Release:
    """A version to be, with what its files will contain."""

    version: str
    before: str
    code: str
    changelog: str
    notes: str

    @property
    def tag(self) -> str:
        return f"v{self.version}"

    @property
    def notes_file(self) -> Path:
        return Path("dist") / f"release-notes-{self.version}.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version", help="as in 1.2.3")
    parser.add_argument("--dry-run", action="store_true", help="print what would happen, and change nothing")
    given = parser.parse_args()
    release = planned(given.version, datetime.now(UTC).strftime("%Y-%m-%d"))
    if given.dry_run:
        print(f"{release.before} → {release.version}; would commit, tag {release.tag}, and build. Its notes:\n")
        print(release.notes)
    else:
        carry_out(release)


def planned(version: str, day: str) -> Release:
    """Everything that a release needs, checked before anything is changed."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise SystemExit(f"'{version}' is no version: make release VERSION=1.2.3")
    code = (ROOT / VERSIONED).read_text(encoding="utf-8")
    before = LINE.findall(code)[0]
    if numbers(version) <= numbers(before):
        raise SystemExit(f"version {version} is not after {before}")
    if git("status", "--porcelain"):
        raise SystemExit(f"there are changes that are not committed:\n{git('status', '--short')}")
    if git("tag", "--list", f"v{version}"):
        raise SystemExit(f"the tag v{version} is there already")
    changelog = (ROOT / CHANGELOG).read_text(encoding="utf-8")
    notes = unreleased(changelog)
    renewed = changelog.replace(UNRELEASED, f"{EMPTY}\n## {version} ({day})\n", 1)
    return Release(version, before, LINE.sub(f'__version__ = "{version}"', code), renewed, f"# {version}\n\n{notes}\n")


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def unreleased(changelog: str) -> str:
    """The parts under "Unreleased" in which something stands."""
    _, found, rest = changelog.partition(UNRELEASED)
    if not found:
        raise SystemExit(f'{CHANGELOG} has no part "Unreleased"')
    parts = re.split(r"^(?=### )", rest.partition("\n## ")[0], flags=re.MULTILINE)
    said = [part.strip() for part in parts if part.partition("\n")[2].strip()]
    if not said:
        raise SystemExit(f'nothing stands under "Unreleased" in {CHANGELOG}: there is nothing to release')
    return "\n\n".join(said)


def carry_out(release: Release) -> None:
    """Commit and tag only after the packages of exactly these files were built and checked."""
    (ROOT / VERSIONED).write_text(release.code, encoding="utf-8")
    (ROOT / CHANGELOG).write_text(release.changelog, encoding="utf-8")
    try:
        packages = built(release)
    except SystemExit:
        git("checkout", "--", str(VERSIONED), str(CHANGELOG))
        raise
    (ROOT / release.notes_file).write_text(release.notes, encoding="utf-8")
    git("commit", "--quiet", "--message", f"Release {release.version}", str(VERSIONED), str(CHANGELOG))
    git("tag", "--annotate", release.tag, "--message", f"Equipoise {release.version}")
    print(f"{release.version}: tag {release.tag}, {', '.join(path.name for path in packages)}, {release.notes_file}")
    print(f"nothing was sent; take it back with: git tag -d {release.tag} && git reset --keep HEAD~1")


def built(release: Release) -> list[Path]:
    """Wheel and source distribution of that version, as an index would take them."""
    dist = ROOT / "dist"
    for old in dist.glob("equipoise-*"):
        old.unlink()
    run([sys.executable, "-m", "build", "--no-isolation", "--outdir", str(dist), str(ROOT)])
    packages = sorted(dist.glob(f"equipoise-{release.version}*"))
    if len(packages) != 2:
        raise SystemExit(f"expected a wheel and a source distribution of {release.version}, found {packages}")
    run([sys.executable, "-m", "twine", "check", "--strict", *map(str, packages)])
    return packages


def git(*words: str) -> str:
    return run(["git", "-C", str(ROOT), *words])


def run(words: list[str]) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout.strip()


if __name__ == "__main__":
    main()
