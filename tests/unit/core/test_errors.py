from __future__ import annotations

import inspect

import pytest

from equipoise.core import errors
from equipoise.core.errors import ConfigError, EquipoiseError, Problem, UnknownName


def test_a_message_has_three_parts():
    error = EquipoiseError("it broke at 3", where="round 2", fix="try 4")
    assert str(error) == "it broke at 3\n  where: round 2\n  next:  try 4"
    assert (error.what, error.where, error.fix) == ("it broke at 3", "round 2", "try 4")


def test_parts_that_are_not_there_take_no_line():
    assert str(EquipoiseError("it broke")) == "it broke"
    assert str(EquipoiseError("it broke", fix="mend it")) == "it broke\n  next:  mend it"


def test_one_problem_is_one_line():
    assert str(ConfigError("nothing to do")) == "nothing to do"
    assert str(ConfigError([Problem("a.b", "too small")])) == "a.b: too small"
    assert str(ConfigError([Problem("data", "data 'x' is not known")])) == "data 'x' is not known"  # not twice


def test_every_problem_is_listed():
    problems = [Problem("a.b", "too small"), Problem("c", "unknown"), Problem("", "and more")]
    error = ConfigError(problems, where="x.yaml", fix="read on")
    assert error.problems == problems
    assert str(error).splitlines() == [
        "3 problems with the configuration:",
        "  - a.b: too small",
        "  - c: unknown",
        "  - and more",
        "  where: x.yaml",
        "  next:  read on",
    ]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("ConfigError", 2),
        ("UnknownName", 2),
        ("DataError", 2),
        ("PartitionError", 2),
        ("ClientError", 1),
        ("NonFinite", 1),
        ("EngineError", 1),
        ("MissingExtra", 2),
        ("StoreError", 1),
        ("NoSuchRun", 2),
        ("WrongStore", 2),
    ],
)
def test_exit_code_says_whether_the_request_or_the_run_was_wrong(name, code):
    kind = getattr(errors, name)
    assert issubclass(kind, EquipoiseError)
    assert kind("what").exit_code == code


def test_the_tree_in_the_docstring_is_the_tree():
    classes = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, EquipoiseError)]
    assert all(kind.__name__ in (errors.__doc__ or "") for kind in classes)
    assert issubclass(UnknownName, ConfigError)
    assert issubclass(errors.NonFinite, errors.ClientError)
    assert issubclass(errors.MissingExtra, errors.EngineError)
    assert issubclass(errors.NoSuchRun, errors.StoreError)
