"""Settings of a backbone that the user brings: which function makes it, and which file holds its weights.

    model.factory = MODULE:FUNCTION or FILE.py:FUNCTION        model.weights = FILE.safetensors

Relative paths start from the file of settings that names them, otherwise from the working folder. The code is recorded
like a plugin, the weights by their SHA-256: a run that is resumed or repeated refuses others. Paths are not part of a
configuration's hash, contents are.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationInfo, field_validator

from equipoise.config.blocks import ModelOptions
from equipoise.core.contents import content_hash
from equipoise.core.errors import ConfigError, DataError, Problem
from equipoise.core.loading import Plugin, load

CHANNELS = (1, 3)
WEIGHTS = "model.weights"
SAFE = ".safetensors"
CONVERT = (
    "import torch; from safetensors.torch import save_file",
    "save_file({k: v.contiguous() for k, v in torch.load('OLD', weights_only=True).items()}, 'NEW')",
)
"""Two lines of Python that convert a pickled state dict."""


class BackboneOptions(ModelOptions):
    name: str = "backbone"
    factory: str | None = Field(
        None, description="the function that makes the network: MODULE:FUNCTION or FILE.py:FUNCTION"
    )
    weights: str | None = Field(None, description="its state dict, a .safetensors file; never unpickled, never trained")
    arguments: dict[str, Any] = Field({}, description="keyword arguments of that function, as model.arguments.width=2")
    layer: str | None = Field(
        None, description="the module whose output is the features, as in avgpool; null: what the network returns"
    )
    resize: int | None = Field(None, ge=1, description="height and width of the images that it gets; null: as they are")
    mean: list[float] | None = Field(None, description="of [0, 1] pixels, as it was trained; null: the data's own")
    std: list[float] | None = Field(None, description="likewise, the deviation")
    sha256: str | None = Field(None, description="hash of the weights; filled in, and other weights are refused")

    @field_validator("std")
    @classmethod
    def _beside_the_mean(cls, value: list[float] | None, info: ValidationInfo) -> list[float] | None:
        mean = info.data.get("mean")
        if value is None and mean is None:
            return None
        if not value or not mean or len(value) != len(mean) or len(value) not in CHANNELS or min(value) <= 0:
            raise ValueError("mean and std belong together: one number each or three, and deviations above 0")
        return value

    def identity(self) -> dict[str, Any]:
        """Without places; the code's content is hashed as a plugin's."""
        return {**self.model_dump(exclude={"weights"}), "factory": self.source[1]}

    @property
    def source(self) -> tuple[str, str]:
        """The module or file, and the function in it."""
        place, _, function = str(self.factory).rpartition(":")
        if self.factory is None or not place or not function.isidentifier():
            said = "was not named" if self.factory is None else f"expected MODULE:FUNCTION, got {self.factory!r}"
            fix = "model.factory=FILE.py:FUNCTION, a function that returns a torch.nn.Module"
            raise ConfigError([Problem("model.factory", said)], fix=fix)
        return place, function

    def code(self) -> list[Plugin]:
        """The factory's module, loaded."""
        place, _ = self.source
        if not place.endswith(".py"):
            return [load(Plugin(name=place))]
        path = Path(place).expanduser().resolve()
        return [load(Plugin(name=path.stem, path=str(path)))]

    def completed(self) -> Self:
        """With absolute paths, and the hash of the weights, which is taken once."""
        place, function = self.source
        code = str(Path(place).expanduser().resolve()) if place.endswith(".py") else place
        path = self.weights_path
        known = {"weights": str(path), "sha256": self.sha256 or file_hash(path)}
        return self.model_copy(update={"factory": f"{code}:{function}", **known})

    @property
    def weights_path(self) -> Path:
        if self.weights is None:
            fix = f"save the state dict of your network with safetensors.torch.save_file, then {WEIGHTS}=FILE{SAFE}"
            raise ConfigError([Problem(WEIGHTS, "was not named")], fix=fix)
        path = Path(self.weights).expanduser().resolve()
        if path.suffix != SAFE:
            what = f"{path.name} is not a {SAFE} file; other formats hold Python objects, which are never unpickled"
            lines = "\n".join(line.replace("OLD", path.name).replace("NEW", path.stem + SAFE) for line in CONVERT)
            raise DataError(what, where=WEIGHTS, fix=f"if you trust its source, convert it in Python:\n{lines}")
        return path

    def require_same(self) -> None:
        """Refuse weights with another hash than recorded."""
        found = file_hash(self.weights_path)
        if found != self.sha256:
            what = f"the weights {self.weights_path.name} are not what they were: their hash is {found[:12]}, and"
            fix = "bring the old file back, or start a new run; in a file of settings, take out model.sha256"
            raise ConfigError(f"{what} {str(self.sha256)[:12]} was asked for", where=str(self.weights_path), fix=fix)


def file_hash(path: Path) -> str:
    """SHA-256 of a file; read again only if it changed."""
    try:
        about = path.stat()
    except OSError as error:
        what = f"the weights {path.name} cannot be read ({error.strerror})"
        raise DataError(what, where=str(path), fix=f"check {WEIGHTS}, or bring the file back") from error
    return _hashed(path, about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=8)
def _hashed(path: Path, changed: int, size: int) -> str:
    return content_hash(path)
