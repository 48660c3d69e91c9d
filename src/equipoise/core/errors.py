"""Every error the product raises on purpose.

    EquipoiseError
    ├── ConfigError          the request is invalid; lists every problem with its key path
    │   ├── UnknownName      an unregistered name, with the nearest one that exists
    │   └── PluginError      third-party code that cannot be imported, clashes, or has the wrong signature
    ├── DataError            missing, truncated or misaligned files
    ├── PartitionError       overlap, gap, client below the minimum
    ├── ClientError          a client failed: round, client, epoch, step
    │   └── NonFinite        which term, which step, what came before it
    ├── PluginFailed         third-party code raised an error while a run was going on
    ├── EngineError          a worker or transport failed
    │   ├── MissingExtra     an optional dependency that is not installed
    │   └── DeviceLost       the device on which clients train does not answer any more
    ├── Halted               a guard ended the run
    ├── StoppedOnRequest     somebody asked the run to stop, and it did at its checkpoint
    └── StoreError           locked, read-only, full
        ├── NoSuchRun        a run id that is not in the store
        ├── DamagedBlob      a file of a checkpoint is missing or not what was written
        └── WrongStore       not a store, or one written by a newer version

A message has three parts: what happened with its values, where, and what to do next.
`exit_code` is 2 when the request was wrong and 1 when a run failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class EquipoiseError(Exception):
    exit_code = 1

    def __init__(self, what: str, *, where: str = "", fix: str = "") -> None:
        super().__init__(what, where, fix)
        self.what, self.where, self.fix = what, where, fix

    def __str__(self) -> str:
        where = f"\n  where: {self.where}" if self.where else ""
        fix = f"\n  next:  {self.fix}" if self.fix else ""
        return f"{self.what}{where}{fix}"


class Problem(NamedTuple):
    """One thing wrong with a request: the key path it concerns, and a sentence."""

    path: str
    message: str

    def __str__(self) -> str:
        says_it_itself = self.message.startswith(f"{self.path} '")
        return f"{self.path}: {self.message}" if self.path and not says_it_itself else self.message


class ConfigError(EquipoiseError):
    exit_code = 2

    def __init__(self, problems: str | Sequence[Problem], *, where: str = "", fix: str = "") -> None:
        self.problems = [Problem("", problems)] if isinstance(problems, str) else list(problems)
        lines = [str(problem) for problem in self.problems]
        many = f"{len(lines)} problems with the configuration:\n" + "\n".join(f"  - {line}" for line in lines)
        super().__init__(lines[0] if len(lines) == 1 else many, where=where, fix=fix)


class UnknownName(ConfigError):
    pass


class PluginError(ConfigError):
    pass


class DataError(EquipoiseError):
    exit_code = 2


class PartitionError(EquipoiseError):
    exit_code = 2


class ClientError(EquipoiseError):
    pass


class NonFinite(ClientError):
    pass


class PluginFailed(EquipoiseError):
    pass


class EngineError(EquipoiseError):
    pass


class MissingExtra(EngineError):
    exit_code = 2


class DeviceLost(EngineError):
    pass


class Halted(EquipoiseError):
    pass


class StoppedOnRequest(EquipoiseError):
    exit_code = 130  # as after Ctrl-C


class StoreError(EquipoiseError):
    pass


class NoSuchRun(StoreError):
    exit_code = 2


class DamagedBlob(StoreError):
    pass


class WrongStore(StoreError):
    exit_code = 2
