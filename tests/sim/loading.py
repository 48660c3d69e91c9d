"""Makes the device known to torch, with the settings of the environment.

SIM_DEVICES=2            how many; 0 for none
SIM_MEMORY=0             bytes per device; 0 for no limit
SIM_LACKS=float64,...    types that the devices do not support
SIM_LOSE=1:500,...       device 1 is lost after 500 operations
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

from .library import build

AUTOLOAD = Path(__file__).with_name("autoload")


def register() -> ModuleType:
    """Add `torch.sim`, once per process: torch cannot forget a device."""
    import torch

    if hasattr(torch, "sim"):
        return torch.sim
    library = build()
    torch.utils.rename_privateuse1_backend("sim")
    torch.ops.load_library(library)
    from . import torch_sim

    torch._register_device_module("sim", torch_sim)
    torch.utils.generate_methods_for_privateuse1_backend()
    configure()
    return torch_sim


def configure() -> None:
    """Apply the settings of the environment; a wrong one raises."""
    import torch

    ops = torch.ops.sim_device
    ops.set_device_count(_number("SIM_DEVICES", os.environ.get("SIM_DEVICES") or "2"))
    memory = _number("SIM_MEMORY", os.environ.get("SIM_MEMORY") or "0")
    for device in range(ops.device_count()):
        ops.limit(device, memory)
    for name in filter(None, os.environ.get("SIM_LACKS", "").split(",")):
        dtype = getattr(torch, name, None)
        if not isinstance(dtype, torch.dtype):
            raise ValueError(f"SIM_LACKS: {name!r} is not a dtype of torch; write for example SIM_LACKS=float64")
        ops.set_missing(dtype, True)
    for pair in filter(None, os.environ.get("SIM_LOSE", "").split(",")):
        device, _, after = pair.partition(":")
        ops.lose(_number("SIM_LOSE", device), _number("SIM_LOSE", after))


def _number(variable: str, text: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"{variable}: {text!r} is not a whole number")
    return int(text)


def load() -> ModuleType:
    """`torch.sim`, for this process.

    Autograd starts one thread per device at the first backward() of a process, and none later: a device that is loaded
    afterwards cannot be trained on. So call this early, for example while pytest collects.
    """
    import torch

    sim = register()
    if sim.device_count() and not os.environ.get("SIM_LOSE"):
        nothing = torch.empty(0, device="sim:0", requires_grad=True)
        try:
            torch.autograd.grad(nothing, nothing, torch.empty_like(nothing))  # starts the threads, and no operation
        except RuntimeError as error:
            raise RuntimeError("sim was loaded after the first backward() of this process: load it earlier") from error
    return sim


def environment(
    *, devices: int = 2, memory: int = 0, lacks: Sequence[str] = (), lose: Mapping[int, int] | None = None
) -> dict[str, str]:
    """Variables with which a child process, and its children, know the device as soon as they import torch.

    Compiles the library if it is missing, so that no child has to.
    """
    build()
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, (str(AUTOLOAD), os.environ.get("PYTHONPATH")))),
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "1",
        "SIM_DEVICES": str(devices),
        "SIM_MEMORY": str(memory),
        "SIM_LACKS": ",".join(lacks),
        "SIM_LOSE": ",".join(f"{device}:{after}" for device, after in (lose or {}).items()),
    }
