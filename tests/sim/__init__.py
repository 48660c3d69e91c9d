"""A simulated accelerator: torch.device("sim"), for tests on machines without a GPU.

    sim = load()                                  in this process, before its first backward(); sim is torch.sim
    subprocess.run(..., env=os.environ | environment(lose={1: 500}))       in a child process that imports torch

sim.cpp says what is simulated. Nothing here imports torch at the top: torch itself imports this package while it is
being imported, if `environment` asked for it.
"""

from .library import NoCompiler, build
from .loading import environment, load, register

__all__ = ["NoCompiler", "build", "environment", "load", "register"]
