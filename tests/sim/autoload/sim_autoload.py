"""Found through the entry point beside it when this folder is on PYTHONPATH: torch calls `load` when it is imported."""

import importlib.util
import sys
from pathlib import Path


def load() -> None:
    """Load the package above under a name of its own: a child process does not know `tests`."""
    folder = Path(__file__).resolve().parents[1]
    places = [str(folder)]
    spec = importlib.util.spec_from_file_location(
        "simulated_device", folder / "__init__.py", submodule_search_locations=places
    )
    package = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = package
    spec.loader.exec_module(package)
    package.register()
