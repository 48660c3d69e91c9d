"""`import equipoise as eq`: light, complete, and no function hides the package of the same name."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import equipoise as eq
from equipoise.core import errors

HEAVY = {"torch", "pydantic", "polars", "numpy", "altair", "sqlalchemy", "typer", "rich"}


def in_a_fresh_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_importing_it_loads_nothing_heavy() -> None:
    code = f"import sys, equipoise as eq; print(*({HEAVY!r} & set(sys.modules)))"
    assert in_a_fresh_process(code) == ""


def test_asking_what_there_is_needs_no_torch() -> None:
    code = "import sys, equipoise as eq; [getattr(eq, name) for name in eq.__all__]; eq.METHODS.names();"
    assert in_a_fresh_process(f"{code} print('torch' in sys.modules)") == "False"


def test_a_function_stays_callable_when_the_package_of_its_name_is_imported() -> None:
    code = """
import equipoise as eq
import equipoise.run.session, equipoise.report.table as table, equipoise.partition.divide
from equipoise.diagnose import examine
from equipoise.run import grid
assert all(callable(each) for each in (eq.run, eq.report, eq.partition, eq.diagnose))
assert eq.run.session.start is equipoise.run.session.start
print(eq.report.table is table, eq.run.__name__, grid.__name__, examine.__name__)
"""
    assert in_a_fresh_process(code) == "True run equipoise.run.grid equipoise.diagnose.examine"


def test_every_name_is_there_and_documented() -> None:
    for name in eq.__all__:
        assert getattr(eq, name) is not None
        assert name in dir(eq)
        if name.islower() and name != "__version__":
            assert inspect.getdoc(getattr(eq, name)), name
    with pytest.raises(AttributeError, match="no attribute 'fusee'"):
        _ = eq.fusee  # type: ignore[attr-defined]


def test_every_error_class_is_a_name_of_the_package() -> None:
    kinds = {kind.__name__ for kind in vars(errors).values() if inspect.isclass(kind) and issubclass(kind, Exception)}
    assert kinds <= set(eq.__all__)


def test_the_signature_of_run_is_that_of_the_function() -> None:
    parameters = inspect.signature(eq.run).parameters
    assert list(parameters) == ["source", "settings", "store", "progress", "tensorboard", "more"]
    assert "Raises:" in (eq.run.__doc__ or "")
