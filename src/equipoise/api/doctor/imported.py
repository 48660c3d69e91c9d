"""What has to be imported to be known: packages, torch's devices, plugins, data sets. Runs as a process of its own.

    python -P -m equipoise.api.doctor.imported

A damaged package can end Python without an exception. So this process says on its output what it begins before it
begins it, one JSON document a line; what the process died of is the last thing that has no end.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import TextIO

from equipoise.api.doctor.checkup import Checkup

MODULES = {
    "torch": "torch", "numpy": "numpy", "scipy": "scipy", "scikit-learn": "sklearn", "pydantic": "pydantic",
    "PyYAML": "yaml", "typer": "typer", "rich": "rich", "SQLAlchemy": "sqlalchemy", "safetensors": "safetensors",
    "polars": "polars", "altair": "altair", "vl-convert-python": "vl_convert", "Jinja2": "jinja2", "Pillow": "PIL",
    "packaging": "packaging",
}  # fmt: skip
"""The required packages, and what each is imported as."""
REINSTALL = "pip install --force-reinstall '{name}'"


def package(name: str) -> Iterator[Checkup]:
    """Nothing where it can be imported: that it is there is said elsewhere."""
    try:
        import_module(MODULES[name])
    except Exception as error:  # a damaged package may raise anything, and the doctor must live to tell it
        says = f"cannot be imported: {type(error).__name__}: {error}"
        yield Checkup("packages", name, "broken", says, REINSTALL.format(name=name))


def devices() -> Iterator[Checkup]:
    """The build of torch, its threads, and every device that it reports."""
    import torch

    from equipoise.core.device import Device
    from equipoise.core.device import devices as known
    from equipoise.core.machine import cores, memory

    build = f"built for CUDA {torch.version.cuda}" if torch.version.cuda else "built for the CPU"
    threads = f"{cores()} cores, threads of torch: {torch.get_num_threads()}, {memory() / 2**30:.1f} GiB of memory"
    yield Checkup("devices", "torch", "ok", f"{torch.__version__}, {build}")
    for name in known():
        device = Device(name)
        about = threads if device.is_cpu else f"{device.description}, {device.memory / 2**30:.1f} GiB"
        if device.is_there():
            yield Checkup("devices", name, "ok", about)
        else:
            yield Checkup(
                "devices", name, "broken", f"{about}; it does not compute", "look at its driver, or restart it"
            )


def plugins() -> Iterator[Checkup]:
    """Every installed plugin, and whether it loads."""
    from equipoise.core.plugins import installed, offered

    broken = {str(each.plugin): each for each in installed()}
    for plugin in offered().values():
        found = broken.get(str(plugin))
        if found is None:
            yield Checkup("plugins", str(plugin), "ok", "loads")
        else:
            fix = found.error.fix or f"pip install --upgrade {plugin.package or plugin.name}, or uninstall it"
            yield Checkup("plugins", str(plugin), "broken", f"cannot be loaded: {found.error.what}", fix)


def datasets() -> Iterator[Checkup]:
    """The data folder, and which sets are in it."""
    from equipoise.data.source import FOLDER_VARIABLE, data_folder
    from equipoise.kind.check import overview

    folder = data_folder(None)
    if folder is None:
        says = f"{FOLDER_VARIABLE} is not set: embedded and own data only"
        fix = f"export {FOLDER_VARIABLE}=FOLDER, then `equipoise data fetch NAME`"
        yield Checkup("data", FOLDER_VARIABLE, "note", says, fix)
        return
    if not folder.is_dir():
        says, fix = f"names {folder}, which is no folder", f"make that folder, or unset {FOLDER_VARIABLE}"
        yield Checkup("data", FOLDER_VARIABLE, "broken", says, fix)
        return
    sets = overview(None)
    there = [each["name"] for each in sets if each["found"] and each["where"] != "embedded"]
    yield Checkup("data", FOLDER_VARIABLE, "ok", f"{folder}: {', '.join(there) or 'none of the known sets'}")
    for each in sets:
        if each["found"] is False and each["where"]:
            yield Checkup("data", each["name"], "note", each["where"], f"equipoise data fetch {each['name']}")


Look = Callable[[], Iterable[Checkup]]


def looks() -> dict[str, Look]:
    """Everything that this process looks at, by the name under which its death would be reported."""
    packages: dict[str, Look] = {name: lambda name=name: package(name) for name in MODULES}  # type: ignore[misc]
    return {**packages, "devices": devices, "plugins": plugins, "data sets": datasets}


def report(look: Look, name: str) -> list[Checkup]:
    try:
        return list(look())
    except Exception as error:  # what it needs is damaged: that is what it found
        says = f"could not be looked at: {type(error).__name__}: {error}"
        return [
            Checkup("devices" if name == "devices" else "data", name, "broken", says, "look at what is broken above")
        ]


def main() -> None:
    """What packages and plugins print goes to stderr, so that stdout holds our lines only."""
    out: TextIO = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    for name, look in looks().items():
        print(json.dumps({"begins": name}), file=out, flush=True)
        print(
            json.dumps({"ends": name, "found": [each.to_json() for each in report(look, name)]}), file=out, flush=True
        )


if __name__ == "__main__":
    main()
