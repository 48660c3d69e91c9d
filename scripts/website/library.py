"""Pages of the library, drawn from its docstrings by mkdocstrings: one entry per public name, where it is defined."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable
from pathlib import Path

import equipoise
from equipoise import testing
from equipoise.core.errors import EquipoiseError
from equipoise.core.registry import Registry

GROUPS = {
    "Train": "run resume sweep",
    "Look": "runs open_run RunHandle SweepHandle fuse FusedRuns partition PartitionView Config",
    "Compare": "compare ComparisonTable",
    "Explain": "diagnose diagnose_all Diagnosis Verdict Finding",
    "Show others": "report export",
}
"""Names by what they are for; what is in no group comes after them, then registries and errors."""
CONTRACT = {
    "A method": "method.answers.Method method.answers.Exchange method.answers.Teacher",
    "A λ policy": "balance.policy.Balance core.values.Moment core.values.Losses core.values.Weighed",
    "A term of the loss": "objective.compose.View",
    "A merge and a prediction": "core.values.ClientUpdate server.merge.ServerState",
    "A model and a data set": "models.classifier.Classifier core.values.Dataset core.values.Samples",
    "A kind of data": "kind.record.Kind",
    "A rule": "diagnose.rule.Rule diagnose.rule.Limit diagnose.recording.Recording",
    "Registration": "core.registry.Registry",
}
"""What plugins are made of: [write a plugin](../howto/write-a-plugin.md) says what each is for."""


def write_library(folder: Path) -> None:
    """The pages of the section, into the folder of pages."""
    (folder / "api").mkdir(exist_ok=True)
    for name, text in (("index", of_the_package()), ("testing", of_the_tests()), ("plugins", of_plugins())):
        (folder / "api" / f"{name}.md").write_text(text, encoding="utf-8")


def of_the_package() -> str:
    grouped = {title: names.split() for title, names in GROUPS.items()}
    known = {name for names in grouped.values() for name in names}
    others = [name for name in equipoise.__all__ if name not in known and not name.startswith("__")]
    values = {name: getattr(equipoise, name) for name in others}
    registries = [name for name, value in values.items() if isinstance(value, Registry)]
    errors = [name for name, value in values.items() if inspect.isclass(value) and issubclass(value, EquipoiseError)]
    grouped["More"] = [name for name in others if name not in {*registries, *errors, "RULES"}]
    grouped["Errors"] = errors
    parts = [
        section(title, (entry(f"eq.{name}", place_of(name)) for name in names)) for title, names in grouped.items()
    ]
    listed = ", ".join(f"`eq.{name}`" for name in [*registries, "RULES"])
    return (
        "# import equipoise as eq\n\nThe functions of the library and what they return, from its docstrings. "
        "[The library](../reference/api.md) has the same as tables; [in a notebook](../tutorials/in-a-notebook.md) is "
        "a first tour.\n\n" + "".join(parts) + f"## Registries\n\n{listed}: what can be chosen by name. "
        "[What plugins are made of](plugins.md) describes them.\n"
    )


def place_of(name: str) -> str:
    """Where a public name is defined: `equipoise.api.train.run`."""
    (home,) = [home for home, names in equipoise.HOMES.items() if name in names.split()]
    return f"equipoise.{home}.{name}"


def of_the_tests() -> str:
    entries = [entry(name, f"{getattr(testing, name).__module__}.{name}") for name in testing.__all__]
    return f"# equipoise.testing\n\n{paragraphs(testing)}\n\n" + "".join(entries)


def of_plugins() -> str:
    parts = [
        section(title, (entry(path.rpartition(".")[2], f"equipoise.{path}") for path in paths.split()))
        for title, paths in CONTRACT.items()
    ]
    return (
        "# What plugins are made of\n\nThe records and registries that a plugin meets, from their docstrings. [Write a "
        "plugin](../howto/write-a-plugin.md) says how to begin.\n\n" + "".join(parts)
    )


def section(title: str, entries: Iterable[str]) -> str:
    text = "".join(entries)
    return f"## {title}\n\n{text}" if text else ""


def entry(heading: str, path: str) -> str:
    """The directive for one name; an unknown path is an error here, not a gap in the page."""
    module, _, name = path.rpartition(".")
    getattr(importlib.import_module(module), name)
    return f"::: {path}\n    options:\n      heading: {heading}\n      toc_label: {heading}\n\n"


def paragraphs(module: object) -> str:
    """A docstring as Markdown: what is indented in it is code."""
    return inspect.getdoc(module) or ""
