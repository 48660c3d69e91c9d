"""Requirements and extras of the installed package beside the versions that are there. Nothing is imported."""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import equipoise
from equipoise.api.doctor.checkup import Checkup

NAME = "equipoise"
FOR_DEVELOPERS = "dev"
EXTRAS = {
    "ray": "clients on a Ray cluster: engine=ray",
    "flower": "clients on real machines: engine=flower, `equipoise federation`, `equipoise join`",
    "postgres": "a store in PostgreSQL: --store postgresql://…",
    "serve": "the live dashboard: `equipoise serve`",
    "track": "results in TensorBoard, MLflow, Weights & Biases",
    "search": "a search for settings: `equipoise sweep --search optuna`",
    "docs": "the documentation as a site: `make site`",
    "features": "item features from text and images: `equipoise features`",
    "pandas": "tables as pandas frames, and pandas frames to diagnose",
    "dp": "accounting of differential privacy",
    "onnx": "models as ONNX files: `equipoise export --to onnx`",
}
"""What each extra is for."""


@dataclass(frozen=True)
class RequiredPackage:
    """A package that is asked for, with the version that is there; None if it is not."""

    name: str
    bounds: str
    version: str | None
    fits: bool

    @property
    def requirement(self) -> str:
        return f"{self.name}{self.bounds}"


def wanted(extra: str = "") -> list[RequiredPackage]:
    """What the installed package requires: without an extra, or what that extra adds."""
    from packaging.requirements import Requirement

    found = [Requirement(text) for text in metadata.requires(NAME) or []]
    return [
        _looked_up(each.name, str(each.specifier))
        for each in found
        if (each.marker is None or each.marker.evaluate({"extra": extra})) and (not extra or each.marker is not None)
    ]


def _looked_up(name: str, bounds: str) -> RequiredPackage:
    from packaging.specifiers import SpecifierSet

    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return RequiredPackage(name, bounds, None, False)
    return RequiredPackage(name, bounds, version, SpecifierSet(bounds).contains(version, prereleases=True))


def python_checkups() -> list[Checkup]:
    """Python, the system, and which Equipoise this is."""
    here = Path(equipoise.__file__).parent
    version = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {sys.executable}"
    return [
        Checkup("python", "python", "ok", version),
        Checkup("python", NAME, "ok", f"{equipoise.__version__}, {here}"),
    ]


def required_checkups() -> list[Checkup]:
    """Every package that is always needed: is it there, in a version that fits?"""
    try:
        return [_required(each) for each in wanted()]
    except metadata.PackageNotFoundError:
        says = "this is a source tree that is not installed, so its requirements are not known; they were imported only"
        return [Checkup("packages", "requirements", "note", says, "pip install -e . in its folder")]


def _required(package: RequiredPackage) -> Checkup:
    fix = f"pip install '{package.requirement}'"
    if package.version is None:
        return Checkup("packages", package.name, "broken", "not installed", fix)
    if not package.fits:
        return Checkup("packages", package.name, "broken", f"{package.version}, but needs {package.bounds}", fix)
    return Checkup("packages", package.name, "ok", package.version)


def extra_checkups() -> list[Checkup]:
    """Every extra: which of its packages are there, and how to get the others."""
    try:
        names = metadata.metadata(NAME).get_all("Provides-Extra") or []
    except metadata.PackageNotFoundError:
        return []
    return [extra_checkup(name, wanted(name)) for name in names if name != FOR_DEVELOPERS]


def extra_checkup(name: str, packages: Sequence[RequiredPackage]) -> Checkup:
    """Broken only if the extra is there as a whole and a version does not fit: what is not asked for is a note."""
    fix = f"pip install '{NAME}[{name}]'"
    missing = [each.name for each in packages if each.version is None]
    other = [
        f"{each.name} {each.version}, but needs {each.bounds}" for each in packages if each.version and not each.fits
    ]
    purpose = f"; for {EXTRAS[name]}" if name in EXTRAS else ""
    if missing:
        return Checkup("extras", name, "note", f"missing: {', '.join(missing)}{purpose}", fix)
    if other:
        return Checkup("extras", name, "broken", "; ".join(other) + purpose, fix)
    return Checkup("extras", name, "ok", ", ".join(f"{each.name} {each.version}" for each in packages))
