"""Where a registered thing was registered, and whether it has the required signature."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

from equipoise.core.errors import EquipoiseError, PluginError

MAIN, REGISTRY = "__main__", "equipoise.core.registry"
CELLS = "equipoise_cells_"
"""Prefix of the module names of cells that are run again in another process."""


@dataclass(frozen=True)
class Origin:
    """The line that registered a thing: the module, its file, and the line there."""

    module: str
    file: str
    line: int

    @property
    def root(self) -> str:
        """The top-level package, or the module itself."""
        return self.module.partition(".")[0]

    @property
    def is_cell(self) -> bool:
        """Whether it is code of a notebook or a script, also when run again in another process."""
        return self.module == MAIN or self.module.startswith(CELLS)

    def __str__(self) -> str:
        who = "this notebook or script" if self.module == MAIN else self.root
        return f"{who} ({self.file}, line {self.line})"


def origin(module: str) -> Origin:
    """The registering call: the nearest frame of that module, otherwise the nearest outside the registry."""
    frame: FrameType | None = sys._getframe(1)
    calls = []
    while frame is not None:
        if frame.f_globals.get("__name__") != REGISTRY:
            calls.append(frame)
        frame = frame.f_back
    own = next((call for call in calls if call.f_globals.get("__name__") == module), calls[0])
    while own.f_globals.get("__name__") == MAIN and own.f_back and own.f_back.f_globals is own.f_globals:
        own = own.f_back  # a cell that calls its own function: the statement is what counts
    return Origin(str(own.f_globals.get("__name__", module)), own.f_code.co_filename, own.f_lineno)


def require_shape(what: str, thing: Any, takes: Sequence[str], at: Origin) -> None:
    """Refuse what cannot be called with these arguments, in this order."""
    wanted = f"({', '.join(takes)})"
    if not callable(thing):
        raise PluginError(
            f"{what} is not a function: expected one that takes {wanted}, found {type(thing).__name__}",
            where=str(at),
            fix=f"register a function that takes {wanted}",
        )
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):  # some built-in callables have no signature
        return
    try:
        signature.bind(*takes)
    except TypeError as error:
        found = f"{getattr(thing, '__name__', type(thing).__name__)}{signature}"
        said = f"{what} has the wrong signature: expected {wanted}, found {found}: {error}"
        raise PluginError(said, where=str(at), fix=f"let it take {wanted}, by position") from error


def located(what: str, place: str, takes: Sequence[str], at: Origin) -> Any:
    """The object at `module:name`, checked."""
    module, _, name = place.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except AttributeError as error:
        said = f"{what} is declared at {place}, and there is no '{name}' in {module}"
        raise PluginError(said, where=str(at), fix="correct the place, or write the function") from error
    except (Exception, SystemExit) as error:
        raise failure(what, error) from error
    require_shape(what, found, takes, at)
    return found


def failure(what: str, error: BaseException) -> PluginError:
    """The error for code that could not be imported: what went wrong, and in which line."""
    if isinstance(error, PluginError):
        return error
    if isinstance(error, EquipoiseError):
        return PluginError(
            f"{what} cannot be loaded: {error.what}", where=error.where or place_of(error), fix=error.fix
        )
    said = f"{what} cannot be loaded: {type(error).__name__}: {error}"
    return PluginError(said, where=place_of(error), fix="correct that line; everything else goes on working without it")


def place_of(error: BaseException) -> str:
    """The file and line in which it was raised."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}, line {error.lineno}"
    place, traceback = "", error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not file.startswith("<frozen"):
            place = f"{file}, line {traceback.tb_lineno}"
        traceback = traceback.tb_next
    return place
