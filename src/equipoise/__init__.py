"""Federated learning that keeps its balance, and explains itself when it loses it.

    import equipoise as eq

    run = eq.run("fafi", data="digits", alpha=0.05, seed=1)
    run.metrics()                     a table: step, round, client, name, value
    eq.compare([run, eq.run("fedavg")])
    eq.diagnose(run)
    eq.report([run], "report.html")

Nothing is loaded before it is asked for: `import equipoise` takes no torch, no pydantic and no polars.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from equipoise.api.choose import open_run, runs
    from equipoise.api.compare import ComparisonTable, compare
    from equipoise.api.diagnose import Diagnosis, diagnose, diagnose_all
    from equipoise.api.export import export
    from equipoise.api.fuse import FusedRuns, fuse
    from equipoise.api.handle import RunHandle
    from equipoise.api.partition import PartitionView, partition
    from equipoise.api.report import report
    from equipoise.api.search import SearchHandle, search
    from equipoise.api.sweep import SweepHandle, sweep
    from equipoise.api.trackers import import_runs, send
    from equipoise.api.train import resume, run
    from equipoise.config.schema import Config
    from equipoise.core.errors import (
        ClientError,
        ConfigError,
        DamagedBlob,
        DataError,
        DeviceLost,
        EngineError,
        EquipoiseError,
        Halted,
        MissingExtra,
        NonFinite,
        NoSuchRun,
        PartitionError,
        PluginError,
        PluginFailed,
        StoppedOnRequest,
        StoreError,
        TrackerError,
        UnknownName,
        WrongStore,
    )
    from equipoise.core.registry import (
        AGGREGATES,
        BALANCES,
        DATASETS,
        ENGINES,
        KINDS,
        METHODS,
        MODELS,
        PREDICTS,
        SPLITTERS,
        TERMS,
    )
    from equipoise.diagnose.finding import Finding, Verdict
    from equipoise.diagnose.rule import RULES

HOMES = {
    "api.choose": "open_run runs",
    "api.compare": "ComparisonTable compare",
    "api.diagnose": "Diagnosis diagnose diagnose_all",
    "api.export": "export",
    "api.fuse": "FusedRuns fuse",
    "api.handle": "RunHandle",
    "api.partition": "PartitionView partition",
    "api.report": "report",
    "api.search": "SearchHandle search",
    "api.sweep": "SweepHandle sweep",
    "api.trackers": "import_runs send",
    "api.train": "resume run",
    "config.schema": "Config",
    "core.errors": "ClientError ConfigError DamagedBlob DataError DeviceLost EngineError EquipoiseError Halted"
    " MissingExtra NonFinite NoSuchRun PartitionError PluginError PluginFailed StoppedOnRequest StoreError TrackerError"
    " UnknownName WrongStore",
    "core.registry": "AGGREGATES BALANCES DATASETS ENGINES KINDS METHODS MODELS PREDICTS SPLITTERS TERMS",
    "diagnose.finding": "Finding Verdict",
    "diagnose.rule": "RULES",
}
"""Where the names of this package are defined."""
_HOME = {name: f"equipoise.{home}" for home, names in HOMES.items() for name in names.split()}
_ROOMS = {"run", "partition", "diagnose", "report"}
"""Functions that share their name with a package of ours."""

__all__ = [
    "AGGREGATES", "BALANCES", "DATASETS", "ENGINES", "KINDS", "METHODS", "MODELS", "PREDICTS", "RULES", "SPLITTERS",
    "TERMS", "ClientError", "ComparisonTable", "Config", "ConfigError", "DamagedBlob", "DataError", "DeviceLost",
    "Diagnosis", "EngineError", "EquipoiseError", "Finding", "FusedRuns", "Halted", "MissingExtra", "NoSuchRun",
    "NonFinite", "PartitionError", "PartitionView", "PluginError", "PluginFailed", "RunHandle", "SearchHandle",
    "StoppedOnRequest", "StoreError", "SweepHandle", "TrackerError", "UnknownName", "Verdict", "WrongStore",
    "__version__", "compare", "diagnose", "diagnose_all", "export", "fuse", "import_runs", "open_run", "partition",
    "report", "resume", "run", "runs", "search", "send", "sweep",
]  # fmt: skip


class _Door:
    """A function that shares its name with a package: calling it calls the function, its attributes are the package's.

    So `eq.run(…)`, `import equipoise.run.session as session` and `equipoise.run.session` all work.
    """

    def __init__(self, function: Any, room: str) -> None:
        self._function, self._room = function, room
        self.__wrapped__, self.__doc__ = function, function.__doc__
        self.__name__, self.__qualname__, self.__module__ = (
            function.__name__,
            function.__qualname__,
            function.__module__,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._room), name)

    def __repr__(self) -> str:
        return repr(self._function)


class _Package(ModuleType):
    """The import system binds a package to its parent when it is first imported; the function of that name stays."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _ROOMS and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'equipoise' has no attribute '{name}'")
    found = getattr(import_module(_HOME[name]), name)
    value = _Door(found, f"equipoise.{name}") if name in _ROOMS else found
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
