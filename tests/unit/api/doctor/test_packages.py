"""Requirements and extras as the doctor tells them."""

from __future__ import annotations

import tomllib

import pytest
from packaging.requirements import Requirement

from equipoise.api.doctor.imported import MODULES
from equipoise.api.doctor.packages import EXTRAS, FOR_DEVELOPERS, RequiredPackage, extra_checkup
from tests.docs.documents import ROOT, read

PROJECT = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]
THERE = RequiredPackage("flwr", ">=1.41,<1.42", "1.41.0", True)
OTHER = RequiredPackage("flwr", ">=1.41,<1.42", "1.42.1", False)
MISSING = RequiredPackage("httpx", ">=0.28", None, False)


def test_every_required_package_is_imported() -> None:
    assert set(MODULES) == {Requirement(text).name for text in PROJECT["dependencies"]}


def test_every_extra_says_what_it_is_for() -> None:
    assert set(EXTRAS) == set(PROJECT["optional-dependencies"]) - {FOR_DEVELOPERS}


@pytest.mark.parametrize(
    ("packages", "state", "said"),
    [
        ([THERE], "ok", "flwr 1.41.0"),
        ([THERE, MISSING], "note", "missing: httpx"),
        ([OTHER, MISSING], "note", "missing: httpx"),
        ([OTHER], "broken", "flwr 1.42.1, but needs >=1.41,<1.42"),
    ],
)
def test_an_extra_is_broken_only_if_it_is_there_and_does_not_fit(
    packages: list[RequiredPackage], state: str, said: str
) -> None:
    checkup = extra_checkup("flower", packages)
    assert (checkup.state, checkup.says.partition(";")[0]) == (state, said)
    assert checkup.fix == ("" if state == "ok" else "pip install 'equipoise[flower]'")
